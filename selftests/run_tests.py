#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs test programs, each an executable that prints KTAP, and sums up.

A program given after --once runs once; one given after --each-kernel runs for every line in KVER ("6.1 6.12"), which it
finds in its own KVER. Where KVER does not say otherwise, one given after --debug-kernel runs on the debug kernel, too;
with DEBUG set, those of --each-kernel run there instead.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from lib import accel, child, kernels
from lib.failure import Failure
from lib.paths import OUT

DEFAULT_LINES = "6.1 6.12"
PROGRAM_DEADLINE = 600
# The debug kernel takes several times as long for everything.
DEBUG_DEADLINE = 3600
# How long a program has to clean up after it was told to end.
CLEANUP_DEADLINE = 20

# Cases of a subtest are indented, and stand before its own result.
CASE = re.compile(r"( *)(not )?ok \d+ ?-? ?(.*?)(?: # SKIP ?(.*))?$")
PLAN = re.compile(r"1\.\.(\d+)(?: # SKIP ?(.*))?$")


class Job(NamedTuple):
    program: Path
    line: str           # the kernel line; empty for a program that runs once

    def name(self):
        return f"{self.line} {self.program.parent.name}/{self.program.stem}".strip()

    def log(self):
        return OUT / "test" / (self.line or "once") / f"{self.program.stem}.ktap"

    def deadline(self):
        return DEBUG_DEADLINE if self.line == kernels.DEBUG_LINE else PROGRAM_DEADLINE


class Results:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, outcome, text):
        setattr(self, outcome, getattr(self, outcome) + 1)
        if outcome == "failed":
            self.failures.append(text)


class Run:
    """One run of one program: its output is saved, and each case is told as it ends."""

    def __init__(self, job, results):
        self.job = job
        self.results = results
        self.cases = 0
        self.plan = None
        self.failed = False
        self.open = []          # (indent, outcome) of what no result has summed up yet
        self.diagnostics = []
        self.since = time.monotonic()

    def execute(self, process):
        self.job.log().parent.mkdir(parents=True, exist_ok=True)
        with open(self.job.log(), "w", encoding="utf-8") as log:
            for text in process.stdout:
                log.write(text)
                log.flush()
                self.take(text.rstrip("\n"))
        status = process.wait()
        if self.plan is None or self.plan != self.cases:
            self.tell("failed", f"ended early, status {status}: last words: {self.last_words()}")
        elif status and not self.failed:
            self.tell("failed", f"status {status} although no case failed")

    def take(self, text):
        case, plan = CASE.match(text), PLAN.match(text)
        if case:
            self.take_case(*case.groups())
        elif plan:
            # a program may print several documents, one after the other: each KUnit module is one
            self.plan = (self.plan or 0) + int(plan.group(1))
            if self.plan == 0:
                self.tell("skipped", f"all: {plan.group(2)}")
        else:
            self.diagnostics.append(text)

    def take_case(self, indent, negation, name, skip_reason):
        """Counts a case; the result of a subtest only sums up the cases indented below it."""
        depth = len(indent)
        outcome = "skipped" if skip_reason is not None else "failed" if negation else "passed"
        below = []
        while self.open and self.open[-1][0] > depth:
            below.append(self.open.pop()[1])
        self.open.append((depth, outcome))
        if not depth:
            self.cases += 1
        if not below or outcome == "failed" and "failed" not in below:
            self.tell(outcome, {"passed": name, "skipped": f"{name}: {skip_reason}",
                                "failed": "\n".join([name, *self.diagnostics])}[outcome])
        self.diagnostics.clear()

    def tell(self, outcome, text):
        text = f"{self.job.name()}: {text}"
        self.results.add(outcome, text)
        self.failed |= outcome == "failed"
        elapsed = time.monotonic() - self.since
        self.since = time.monotonic()
        print(f"{outcome:7} {elapsed:6.1f} s  {text}", flush=True)

    def last_words(self):
        return "\n".join(self.diagnostics[-15:]) or "none"


class Runner:
    def __init__(self, environment):
        self.environment = environment
        self.results = Results()
        self.running = set()

    def run_all(self, jobs, parallel):
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            runs = [pool.submit(self.run_one, job) for job in jobs]
            try:
                for run in runs:
                    run.result()
            except BaseException:
                for run in runs:
                    run.cancel()
                for process in list(self.running):
                    process.terminate()
                raise

    def run_one(self, job):
        # `timeout` first asks the program to end, so that it can end its guests and remove its files.
        argv = ["timeout", f"--kill-after={CLEANUP_DEADLINE}", str(job.deadline()), str(job.program)]
        process = child.spawn(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace", env={**self.environment, "KVER": job.line})
        self.running.add(process)
        try:
            Run(job, self.results).execute(process)
        finally:
            self.running.discard(process)
            child.stop(process)


def all_jobs(arguments):
    lines = [kernels.DEBUG_LINE] if os.environ.get("DEBUG") else (os.environ.get("KVER") or DEFAULT_LINES).split()
    # What takes longest comes first, so that nothing long is left when all others are done.
    programs = [] if os.environ.get("KVER") else [(kernels.DEBUG_LINE, program) for program in arguments.debug_kernel]
    programs += [("", program) for program in arguments.once]
    programs += [(line, program) for line in lines for program in arguments.each_kernel]
    return [Job(program.resolve(), line) for line, program in dict.fromkeys(programs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--once", nargs="*", type=Path, default=[])
    parser.add_argument("--each-kernel", nargs="*", type=Path, default=[])
    parser.add_argument("--debug-kernel", nargs="*", type=Path, default=[])
    arguments = parser.parse_args()
    child.exit_on_sigterm()
    jobs = all_jobs(arguments)
    environment = dict(os.environ)
    # What takes long or is asked of all of them is done once, before any program's deadline begins.
    made = [kernels.kernel(line) for line in dict.fromkeys(job.line for job in jobs if job.line)]
    if made:
        environment["ACCEL"] = accel.choose(os.environ.get("ACCEL") or "auto", made[0])
    runner = Runner(environment)
    runner.run_all(jobs, int(os.environ.get("JOBS") or os.cpu_count()))
    results = runner.results
    if results.failures:
        print("\n".join(["", "failed:", *results.failures]))
    print(f"{results.passed} passed, {results.failed} failed, {results.skipped} skipped")
    sys.exit(1 if results.failed or not results.passed else 0)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
