# SPDX-License-Identifier: GPL-2.0-only
"""Exit statuses of a run that are not the command's own."""

USAGE = 2
TIMEOUT = 124   # as timeout(1)
GUEST = 125     # the kernel reported something, or the machine failed


class RigError(Exception):
    """One clear sentence for the user, and the exit status of the runner."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status
