# SPDX-License-Identifier: GPL-2.0-only
"""Reasons why the oracle and callgrind may differ about a loop: rules, not a list.

Each can be checked from the code or from the runs. A difference that no rule explains
is a failure.
"""
import disasm
import elf

REASONS = {
    "layout": "the farthest jump back comes from another object (the loader, "
              "to _fini), which callgrind has mapped elsewhere",
    "threads": "it or its function takes a lock or waits for another thread, "
               "and valgrind runs one thread at a time",
    "varies": "two runs under hwprof do not agree themselves; said only of a "
              "program with threads",
}


def of(program, obj, head, exact, runs):
    """Returns one of REASONS, or None.

    exact: tail, back edges and entries that callgrind counts; runs: the same from the
    oracle, for each run; None: there is no such loop.
    """
    if any(run and not elf.Sections(obj).has(run[0]) for run in runs):
        return "layout"
    if not program.threads:
        return None
    tail = max(counts[0] for counts in (exact, *runs) if counts)
    if disasm.of(obj).waits(head, tail):
        return "threads"
    if any(run != runs[0] for run in runs):
        return "varies"
    return None
