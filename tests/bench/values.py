#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""values.py PROGRAM [OPTION...]: gives build/bench/PROGRAM (values.c, ranges.c, flat.c),
which has the OPTIONs, the loads of one real program after the other."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "accuracy"))

import loads                # noqa: E402
import traced               # noqa: E402

MOST = 2_000_000

if len(sys.argv) < 2:
    sys.exit("usage: values.py PROGRAM [OPTION...]")

loads.write()
for name in loads.COMMANDS:
    print(loads.feed(name, MOST, [traced.TOP / "build/bench" / sys.argv[1],
                                  *sys.argv[2:], name]), end="", flush=True)
