#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that each side of a difference equals the report of its own recording. usage:
sides.py HWPROF WHAT BEFORE AFTER The recordings must have nothing in common. Prints
what is wrong, or nothing.
"""
import json
import subprocess
import sys

# The arrays of a difference, and the corresponding ones of a report.
ARRAYS = {
    "loops": {"changes": "loops"},
    "calls": {"changes": "pairs", "methods": "methods"},
    "paths": {"changes": "paths", "procedures": "procedures"},
}


def report(*arguments):
    text = subprocess.run(arguments, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def in_order(things):
    return sorted(json.dumps(thing, sort_keys=True) for thing in things)


def main():
    hwprof, what, *files = sys.argv[1:]
    diff = report(hwprof, "report", what, "--json", "--diff", *files)
    if list(diff) != list(ARRAYS[what]):
        print(f"arrays are {list(diff)}")
    for side, file in zip(("before", "after"), files):
        one = report(hwprof, "report", what, "--json", file)
        for array, of_one in ARRAYS[what].items():
            found = [change[side] for change in diff[array] if change[side]]
            if not found or in_order(found) != in_order(one[of_one]):
                print(f"{array}, {side}: {found}, not {one[of_one]}")


main()
