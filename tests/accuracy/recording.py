# SPDX-License-Identifier: GPL-2.0-only
"""A recording: the oracle's loops of its branches, the engine's loops, and the addresses
of the objects.
"""
import json
import pathlib
import re
import subprocess

import elf

ORACLE = pathlib.Path(__file__).resolve().parents[2] / "build/oracle"
COUNTS = ("tail", "back_edges", "entries")
TRIPS = ("executions", "unclosed", "trip_min", "trip_max", "trips")
MMAP = re.compile(r"MMAP2? -?\d+/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) "
                  r"@ (0x[0-9a-f]+|0) .*: r-xp (/\S+)")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def by_place(loops):
    """Returns loops by place. Sessions number address spaces by themselves, but in the
    same order.
    """
    spaces = sorted({loop["space"] for loop in loops})
    return {(spaces.index(loop["space"]), loop["head"]): loop for loop in loops}


class Recording:
    def __init__(self, path):
        self.path = path
        self.totals = json.loads(output(ORACLE, path))
        self.exact = by_place(self.totals.pop("loops"))
        said = json.loads(output(ORACLE, "--engine", path))
        self.engine = by_place(said.pop("loops"))
        self.totals.update(said)

    def evicted(self):
        """Tells whether it evicted loops or branches, for want of room."""
        return self.totals["evicted"] > 0

    def differences(self):
        """Returns a line for each difference between engine and oracle."""
        lines = [f"{what}: {self.totals[what]}"
                 for what in ("missing", "lost") if self.totals[what]]
        for place in sorted(set(self.exact) | set(self.engine)):
            engine, exact = self.engine.get(place), self.exact.get(place)
            if not engine or not exact:
                lines.append(f"{place[1]:#x}: only in "
                             f"{'engine' if engine else 'oracle'}")
                continue
            wrong = [key for key in COUNTS if engine[key] != exact[key]]
            if not same_trips(engine, exact):
                wrong += [key for key in TRIPS if engine[key] != exact[key]]
            if wrong:
                lines.append(f"{place[1]:#x}: " + ", ".join(
                    f"{key} {engine[key]}, oracle {exact[key]}" for key in wrong
                ) + f", tolerance {engine['tolerance']}")
        return lines

    def loops_of(self, obj):
        """Returns (tail, back edges, entries) by head, in the object's addresses."""
        return {loop["head"] - base: (loop["tail"] - base, loop["back_edges"],
                                      loop["entries"])
                for start, end, base in self.mappings(obj)
                for loop in self.exact.values() if start <= loop["head"] < end}

    def mappings(self, obj):
        """Returns (start, end, difference to the object's own addresses)."""
        text = output("perf", "script", "-i", self.path, "--show-mmap-events")
        found = set()
        for *numbers, path in MMAP.findall(text):
            start, size, offset = (int(number, 16) for number in numbers)
            if path == obj:
                found.add((start, start + size,
                           start - offset - elf.bias(path, offset)))
        return found


def same_trips(engine, exact):
    slack = engine["tolerance"]
    if slack:
        return (abs(engine["executions"] - exact["executions"]) <= slack and
                abs(engine["unclosed"] - exact["unclosed"]) <= slack)
    return all(engine[key] == exact[key] for key in TRIPS)
