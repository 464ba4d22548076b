#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make bench`: what DMA mappings cost on each path, counted in instructions, against the kernel's own SWIOTLB.

An emulated guest whose clock counts instructions does fixed work with interrupts off, so that the figures are
the same in every run, whatever else the host does. Where KVM works, the same calls are timed there too. With
CHECK=1 nothing is shown but whether the guarded figures are within their limits.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parents[1] / part) for part in ("", "compare")]

# pylint: disable=wrong-import-position
import goals
import limits
import memory
import page
import virtual_time
from lib import accel, build, child, image, kernels, qemu
from lib.failure import Failure
from lib.paths import OUT
from lib.stage import stage
from lib.vm import CommandFailed, GuestLost
from machine import DISK_MIB, Machine, POOL_MIB
from report import write_json

# Configuration -> path, fill, what is measured.
ALL = ("calls", "lists", "live", "filled", "parallel", "ring")
CONFIGURATIONS = {
    "off": ("off", "auto", ("ring",)),
    "platform": ("platform", "auto", ("calls", "ring")),
    "direct": ("direct", "auto", ("calls", "lists", "ring")),
    "swiotlb": ("swiotlb", "auto", ALL),
    "bounce none": ("bounce", "none", ALL),
    "bounce zero": ("bounce", "zero", ALL),
    "bounce preserve": ("bounce", "preserve", ("calls", "lists", "ring")),
}
TIMED_CONFIGURATIONS = ("direct", "swiotlb", "bounce none", "bounce zero", "bounce preserve")
# A clock is not exact: more rounds than where instructions are counted.
TIMED_REPEATS = 16
DISK_CONFIGURATIONS = ("off", "platform", "direct", "swiotlb", "bounce zero")


def main():
    child.exit_on_sigterm()
    if os.environ.get("CHECK"):
        os.execv(Path(__file__).with_name("test_bench.py"), ["test_bench.py"])
    out = OUT / "bench"
    out.mkdir(parents=True, exist_ok=True)
    kernel = kernels.wanted()
    modules = build.build(kernel)
    results = count_instructions(kernel, modules, out)
    with stage("dd and netperf in virtual time"):
        throughput = virtual_time.measure(kernel, modules, out / "serial-throughput.log")
    print_results(kernel, results, throughput)
    times = {}
    if accel.choose(os.environ.get("ACCEL") or "auto", kernel) == "kvm":
        times = measure_time(kernel, modules, out, "kvm")
        print_times(times)
    document = as_json(kernel, results, throughput, times)
    write_json(out / "report.json", document)
    page.write(out / "report.html", document)
    print()
    for what, name in (("all figures", "report.json"), ("as a page", "report.html")):
        print(f"{what:16} {os.path.relpath(out / name)}")


def count_instructions(kernel, modules, out):
    """{configuration: {what: Figure}}, "flags" of the CPU, and "memory" in percent of the pool."""
    results = {}
    with image.image(DISK_MIB) as disk:
        with stage(f"counting instructions on {kernel.release}, one CPU"), \
                Machine(kernel, modules, disk, serial_log=out / "serial.log") as machine:
            for name in CONFIGURATIONS:
                results[name] = measure(machine, name)
            machine.put_on("off")
            results["cpu"] = by_what(machine.measure("cpu"))
            results["flags"] = machine.cpu_flags()
            results["memory"] = 100 * memory.of_pool(machine) / (POOL_MIB << 20)
            complaints = machine.vm.kernel_complaints()
            if complaints:
                raise Failure("\n".join(["the guest's kernel complained:", *complaints]))
        with stage("the same on two CPUs"), \
                Machine(kernel, modules, disk, cpus=2, serial_log=out / "serial-2.log") as machine:
            results["two CPUs"] = measure_parts(machine, "bounce", "none", ("calls", "parallel"))
            results["two CPUs, swiotlb"] = measure_parts(machine, "swiotlb", "auto", ("parallel",))
    return results


def measure_time(kernel, modules, out, accelerator):
    """{configuration: {what: nanoseconds for each call}}, on one CPU."""
    times = {}
    log = out / "serial-time.log"
    with image.image(DISK_MIB) as disk, stage(f"timing the same calls, {accelerator}"), \
            Machine(kernel, modules, disk, accel=accelerator, counts=False, serial_log=log) as machine:
        for name in TIMED_CONFIGURATIONS:
            machine.put_on(*CONFIGURATIONS[name][:2])
            times[name] = by_what(machine.measure("calls", TIMED_REPEATS))
        ns = 1e6 / int(machine.cpu_flags()["khz"])
    return {name: {what: figure.each() * ns for what, figure in part.items()} for name, part in times.items()}


def print_times(times):
    """A call that cannot be made, as those that are too large for SWIOTLB, has no time."""
    print("\nnanoseconds for each call, one CPU, interrupts off\n")
    print(f"{'':36}" + "".join(f"{name:>17}" for name in times))
    for what in times["bounce none"]:
        print(f"{what:36}" + "".join(f"{part[what]:17.0f}" if what in part else f"{'':17}" for part in times.values()))


def measure(machine, name):
    path, fill, runs = CONFIGURATIONS[name]
    figures = measure_parts(machine, path, fill, runs)
    if name in DISK_CONFIGURATIONS:
        figures.update(by_what(machine.measure_disk()))
    return figures


def measure_parts(machine, path, fill, runs):
    machine.put_on(path, fill)
    figures = {}
    for run in runs:
        figures.update(by_what(machine.measure(run)))
    return figures


def by_what(figures):
    return {figure.what: figure for figure in figures}


def print_results(kernel, results, throughput):
    print(f"\n{kernel.release}, instructions for each call, one CPU, pools of {POOL_MIB} MiB\n")
    print(f"{'':52}{'ours':>9}{'peer':>9}  {'ratio':>6}  {'goal':>6}")
    for row in goals.rows(results):
        print(table_line(row))
    print()
    print(virtual_time.table(throughput))
    print()
    print(routines(results))


def table_line(row):
    peer = f"{number(row.peer)}  {row.ratio():6.3f}" if row.peer else f"{'':9}  {'':6}"
    goal = "" if row.goal == float("inf") else f"{row.goal:6g}  {'met' if row.met() else 'MISSED'}"
    return f"{row.what:52}{number(row.ours)}{peer}  {goal:14}  {row.peer_is}".rstrip()


def number(value):
    return f"{value:9.0f}" if value >= 10 else f"{value:9.3f}"


def routines(results):
    """Which copy and which clear the kernel chose, as far as that shows."""
    flags = " ".join(f"{name}={value}" for name, value in results["flags"].items() if name != "khz")
    cpu = results["cpu"]
    each = {name: cpu[f"{name} size=4096"].each() / 4096 for name in ("copy", "clear", "clear_page")}
    costs = ", ".join(f"{name} {value:.3f}" for name, value in each.items())
    return (f"CPU: {flags}. Instructions a byte: {costs}. One that repeats (rep movsb, rep stosb) counts once for each "
            "repetition here.")


def as_json(kernel, results, throughput, times):
    figures = {name: {what: figure._asdict() for what, figure in part.items()}
               for name, part in results.items() if name not in ("flags", "memory")}
    table = [{**row._asdict(), "goal": None if row.goal == float("inf") else row.goal, "met": row.met(),
              "ratio": row.ratio()} for row in goals.rows(results)]
    return {"when": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "kernel": kernel.release, "qemu": qemu_version(),
            "pool_mib": POOL_MIB, "cpu_flags": results["flags"], "memory_percent": results["memory"],
            "table": table, "figures": figures, "throughput": throughput, "nanoseconds": times,
            "guarded": limits.LIMITS}


def qemu_version():
    return subprocess.run([qemu.binary(), "--version"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.splitlines()[0]


if __name__ == "__main__":
    try:
        main()
    except (Failure, GuestLost, CommandFailed, OSError) as failure:
        sys.exit(f"make bench: {failure}")
    except KeyboardInterrupt:
        sys.exit("\nmake bench: interrupted")
