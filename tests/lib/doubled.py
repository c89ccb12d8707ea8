#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that a recording, reported together with itself, has all counts doubled. usage:
doubled.py HWPROF RECORDING WHAT [OPTION...] Things of one process appear twice instead,
because the two are not the same process. Prints what is wrong, or nothing.
"""
import json
import subprocess
import sys

# For each report: its array, and the fields that are counts.
COUNTS = {
    "loops": ("loops", ["iterations", "entries_seen", "back_edges_seen"]),
    "ranges": ("ranges", ["least"]),
    "calls": ("pairs", ["least"]),
    "cct": ("contexts", ["calls", "deeper", "branches"]),
    "paths": ("paths", ["count"]),
    "edges": ("branches", ["taken", "passed"]),
    "values": ("loads", ["executions", "seen"]),
}


def report(arguments, files):
    text = subprocess.run(arguments + files, check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)


def counts(rows, fields):
    """Returns the counts of each row, by everything that identifies the row."""
    found = {}
    for row in rows:
        name = json.dumps({key: value for key, value in row.items()
                           if isinstance(value, (str, dict)) or
                           key in ("bits", "depth", "function_offset")},
                          sort_keys=True)
        sums = found.setdefault(name, [0] * len(fields))
        for i, field in enumerate(fields):
            sums[i] += row[field] or 0
    return found


def main():
    hwprof, recording, what = sys.argv[1:4]
    arguments = [hwprof, "report", what, "--json"] + sys.argv[4:]
    array, fields = COUNTS[what]
    one = report(arguments, [recording])
    two = report(arguments, [recording, recording])
    once = counts(one[array], fields)
    twice = counts(two[array], fields)
    if not once:
        print("nothing is reported")
    for name in sorted(set(once) | set(twice)):
        expected = [2 * count for count in once.get(name, [])]
        if twice.get(name) != expected:
            print(f"{name}: {twice.get(name)}, not {expected}")
    shared = sum(row.get("pid") is None for row in one[array])
    if sum(row.get("pid") is None for row in two[array]) != shared:
        print(f"not {shared} entries of all processes")
    for total in ("produced", "delivered", "sessions", "rows"):
        if two["totals"][total] != 2 * one["totals"][total]:
            print(f"{total}: {two['totals'][total]}, "
                  f"not 2 * {one['totals'][total]}")


main()
