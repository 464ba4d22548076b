# SPDX-License-Identifier: GPL-2.0
"""What a person is told when something outside our code is not as it must be."""


class Failure(Exception):
    """Ends the program with its text as the one line on the screen, no traceback."""
