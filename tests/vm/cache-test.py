#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs that tidy the cache at once do not mind each other. Exit status 1: some
failed."""
import multiprocessing
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from rig import guest       # noqa: E402

BASES, ROUNDS = 1000, 100


def make(folder, name):
    for number in range(BASES):
        (pathlib.Path(folder) / f"base-{name}-{number}").touch()


def tidy(folder):
    for _ in range(ROUNDS):
        guest._forget_old(folder)


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = [multiprocessing.Process(target=make, args=(folder, name))
                for name in "ab"]
        runs += [multiprocessing.Process(target=tidy, args=(folder,))
                 for _ in range(4)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        return any(run.exitcode for run in runs)


if __name__ == "__main__":
    sys.exit(main())
