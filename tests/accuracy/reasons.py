# SPDX-License-Identifier: GPL-2.0-only
"""Why the oracle and callgrind may differ about a loop: rules, not a list.

Each can be checked from the code or from the runs. A difference that no rule
explains is a failure.
"""
import elf

REASONS = {
    "layout": "a jump came back from another object; callgrind has that "
              "elsewhere, and farther away than a loop may be long",
    "varies": "two runs under hwprof do not agree themselves",
}


def of(program, obj, head, exact, runs):
    """None, or one of REASONS.

    exact: tail, back edges and entries as callgrind counts them; runs: the
    same as the oracle has them, of each run; None: there is no such loop.
    """
    if any(run and not elf.Sections(obj).has(run[0]) for run in runs):
        return "layout"
    if any(run != runs[0] for run in runs):
        return "varies"
    return None
