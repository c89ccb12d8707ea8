# SPDX-License-Identifier: GPL-2.0-only
"""Prints checks as TAP."""
import sys

SHOWN = 20          # lines of what is wrong


class Tap:
    def __init__(self, checks):
        self.done = self.failed = 0
        print(f"1..{checks}", flush=True)

    def check(self, wrong, what):
        """Prints a check. wrong: a line for each error."""
        self.done += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.done} - {what}")
        for line in wrong[:SHOWN]:
            print(f"# {line}")
        if len(wrong) > SHOWN:
            print(f"# and {len(wrong) - SHOWN} more")
        sys.stdout.flush()
