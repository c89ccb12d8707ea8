#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""values.py [OPTION...]: nanoseconds per load of the value engine and of a hash
table, on the loads of real programs (bench/values.c has the OPTIONs)."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "accuracy"))

import loads                # noqa: E402
import traced               # noqa: E402

MOST = 2_000_000

loads.write()
for name in loads.COMMANDS:
    print(loads.feed(name, MOST, [traced.TOP / "build/bench/values",
                                  *sys.argv[1:], name]), end="", flush=True)
