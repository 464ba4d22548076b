# SPDX-License-Identifier: GPL-2.0
"""One line on the screen for each stage of the work, with the time it took."""

import contextlib
import sys
import time


def note(text):
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def stage(text):
    start = time.monotonic()
    print(f"{text} ... ", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        note(f"failed after {time.monotonic() - start:.1f} s")
        raise
    note(f"{time.monotonic() - start:.1f} s")
