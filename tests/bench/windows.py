#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares trip counts from windows of real programs' branches with the
oracle's counts of all branches. Prints two lines for each program: one with
recorded kinds of branches, one with inferred kinds. A line has the loops that
were entered 100 times or more, their share, the mean and the signed error of
their trip counts, weighted by share, and the share of loops that do not exist.

usage, in the project's folder: windows.py STREAM..."""

import json
import os
import subprocess
import sys
import tempfile

STACKS, DISTANCE, ENTRIES = "20000", "100", 100


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def compare(exact, loops):
    count = share = error = signed = false = 0
    for loop in loops:
        truth = exact.get(int(loop["head"], 16))
        if not truth:
            false += loop["share"]
        elif loop["entries_seen"] >= ENTRIES and truth["entries"]:
            trip = 1 + truth["back_edges"] / truth["entries"]
            count += 1
            share += loop["share"]
            error += loop["share"] * abs(loop["trip"] / trip - 1)
            signed += loop["share"] * (loop["trip"] / trip - 1)
    share = share or 1e-9
    return (f"{count:4d} loops {share:5.2f}  error {error / share:6.2%}"
            f"  signed {signed / share:+6.2%}  false {false:6.2%}")


def main():
    with tempfile.TemporaryDirectory() as work:
        recording = os.path.join(work, "recording")
        for stream in sys.argv[1:]:
            exact = json.loads(run("build/oracle", stream))["loops"]
            exact = {loop["head"]: loop for loop in exact}
            for types in ["types"], []:
                run("build/bench/cut", recording, stream, STACKS, DISTANCE,
                    *types)
                loops = json.loads(run("build/hwprof", "replay", "--json",
                                       recording))["loops"]
                print(f"{os.path.basename(stream):8} "
                      f"{'recorded' if types else 'inferred'} "
                      f"{compare(exact, loops)}", flush=True)


if __name__ == "__main__":
    main()
