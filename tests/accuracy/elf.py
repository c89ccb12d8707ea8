# SPDX-License-Identifier: GPL-2.0-only
"""Where the code of an object lies in its own addresses."""
import bisect
import functools
import re
import subprocess


@functools.lru_cache(maxsize=None)
def _readelf(option, path):
    return subprocess.run(["readelf", option, path], check=True,
                          capture_output=True, text=True).stdout.splitlines()


class Sections:
    """All that may be executed; or, of that, the one of that name."""

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
    """Address less file offset, of the part that is mapped from offset."""
    for line in _readelf("-lW", path):
        words = line.split()
        if words[:1] == ["LOAD"] and int(words[1], 16) & ~0xfff == offset:
            return int(words[2], 16) - int(words[1], 16)
    return 0


@functools.lru_cache(maxsize=None)
def _functions(path):
    """What unwinders know, of stripped objects as well: (start, end), sorted."""
    ranges = [re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
              for line in _readelf("--debug-dump=frames", path) if "pc=" in line]
    return sorted((int(r.group(1), 16), int(r.group(2), 16)) for r in ranges if r)


def function(path, address):
    """(start, end) of the one around the address; of none: just itself."""
    functions = _functions(path)
    at = bisect.bisect(functions, (address, float("inf"))) - 1
    if at >= 0 and address < functions[at][1]:
        return functions[at]
    return address, address + 1
