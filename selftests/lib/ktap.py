# SPDX-License-Identifier: GPL-2.0
"""Prints the results of a test program in KTAP (Documentation/dev-tools/ktap.rst).

    t = ktap.Suite("attach_contract")
    with t.case("blk direct"):
        t.check(state == "attached", f"state is {state}, want attached")
    t.finish()
"""

import contextlib
import sys
import traceback

from . import child
from .failure import Failure
from .vm import CommandFailed, GuestLost

class Skip(Exception):
    """Raised in a case that cannot be tried here; the text says why."""


class CheckFailed(Exception):
    """What was not as it must be."""


# Exceptions that tell all in their text: where they were raised adds nothing.
SELF_EXPLAINING = (CheckFailed, CommandFailed, GuestLost, Failure)


class Suite:
    def __init__(self, name):
        child.exit_on_sigterm()
        self.passed = self.failed = self.skipped = 0
        say("KTAP version 1")
        say(f"# {name}")

    @contextlib.contextmanager
    def case(self, name):
        """Runs one case; whatever it raises is its result, and the program goes on."""
        try:
            yield
        except Skip as reason:
            self.skipped += 1
            self._result("ok", f"{name} # SKIP {reason}")
        except Exception as error:      # pylint: disable=broad-except
            self.failed += 1
            explain(error)
            self._result("not ok", name)
        else:
            self.passed += 1
            self._result("ok", name)

    def check(self, condition, what):
        if not condition:
            raise CheckFailed(what)

    def finish(self):
        """Prints plan and totals, and ends the program: 1 when a case failed or there was none."""
        count = self.passed + self.failed + self.skipped
        say(f"1..{count}")
        say(f"# Totals: pass:{self.passed} fail:{self.failed} xfail:0 xpass:0 skip:{self.skipped} error:0")
        sys.exit(1 if self.failed or not count else 0)

    def _result(self, verdict, rest):
        say(f"{verdict} {self.passed + self.failed + self.skipped} {rest}")


def explain(error):
    if isinstance(error, SELF_EXPLAINING):
        text = str(error)
    else:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    for line in text.splitlines():
        say(f"# {line}")


def say(line):
    print(line, flush=True)
