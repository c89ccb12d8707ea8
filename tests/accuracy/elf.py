# SPDX-License-Identifier: GPL-2.0-only
"""Finds the code of an object in its own addresses."""
import bisect
import functools
import re
import subprocess


@functools.lru_cache(maxsize=None)
def _readelf(option, path):
    return subprocess.run(["readelf", option, path], check=True,
                          capture_output=True, text=True).stdout.splitlines()


class Sections:
    """All executable sections, or the one of this name."""

    def __init__(self, path, name=None):
        self.ranges = []
        for line in _readelf("-SW", path):
            words = line.partition("]")[2].split()
            if (len(words) > 6 and "X" in words[6] and
                    name in (None, words[0])):
                start, size = int(words[2], 16), int(words[4], 16)
                self.ranges.append((start, start + size))

    def has(self, address):
        return any(start <= address < end for start, end in self.ranges)


def bias(path, offset):
    """Returns address less file offset for the segment that is mapped from offset."""
    for line in _readelf("-lW", path):
        words = line.split()
        if words[:1] == ["LOAD"] and int(words[1], 16) & ~0xfff == offset:
            return int(words[2], 16) - int(words[1], 16)
    return 0


@functools.lru_cache(maxsize=None)
def _functions(path):
    """Returns the functions that unwinders know, also in stripped objects: sorted (start,
    end).
    """
    ranges = [re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
              for line in _readelf("--debug-dump=frames", path) if "pc=" in line]
    return sorted((int(r.group(1), 16), int(r.group(2), 16)) for r in ranges if r)


def function(path, address):
    """Returns (start, end) of the function around the address, or just the address itself."""
    functions = _functions(path)
    at = bisect.bisect(functions, (address, float("inf"))) - 1
    if at >= 0 and address < functions[at][1]:
        return functions[at]
    return address, address + 1
