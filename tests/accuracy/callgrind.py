# SPDX-License-Identifier: GPL-2.0-only
"""Exact loops of one object from a callgrind profile.

The profile must come from
    valgrind --tool=callgrind --dump-instr=yes --dump-line=no
             --collect-jumps=yes --skip-plt=no --compress-strings=no
             --compress-pos=no
which counts how often each instruction ran and each jump was taken, with
addresses as objdump shows them. Callgrind takes a jump to another function for
a call; the instruction at its source tells what it was (see kinds.py).
"""
from collections import defaultdict


class Profile:
    """What ran in each object.

    runs[object][address]: how often the instruction was executed.
    edges[object][(source object, source, target)]: how often control went from
    source to target, which is in object, by a jump or call.
    """

    def __init__(self):
        self.runs = defaultdict(lambda: defaultdict(int))
        self.edges = defaultdict(lambda: defaultdict(int))


def read(path):
    """Parses a callgrind.out file."""
    profile = Profile()
    here = None             # object of the cost lines
    there = None            # object of the next call's or jump's target
    edge = None             # (object, count, target): its source comes next
    cost = False            # the line after calls= has an inclusive cost
    with open(path) as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("0x"):
                address = int(line.split()[0], 16)
                if edge:
                    target_object, count, target = edge
                    profile.edges[target_object][
                        here, address, target] += count
                    edge = there = None
                else:
                    profile.runs[here][address] += int(line.split()[1])
            elif line.startswith("ob="):
                here = line[3:]
            elif line.startswith(("cob=", "job=")):
                there = line[4:]
            elif line.startswith(("calls=", "jump=", "jcnd=")):
                count, target = line.split("=")[1].split()[:2]
                edge = (there or here, int(count.split("/")[0]),
                        int(target, 16))
    return profile


class Loop:
    def __init__(self, head):
        self.head = head
        self.tail = head
        self.back_edges = 0
        self.entries = 0


OUTSIDE = -1                # a source in another object


def loops(profile, obj, kind_at, span=1 << 20):
    """The loops of obj by head: docs/definitions.md, from counts alone.

    kind_at(object, address): what the instruction is, as kinds.py has it.
    """
    runs = profile.runs[obj]
    jumps = []              # (source, target, count), targets in obj
    arrived = defaultdict(int)      # by a jump or call, not by falling
    called = defaultdict(int)
    for (source_object, source, target), count in profile.edges[obj].items():
        arrived[target] += count
        if kind_at(source_object, source) == "jump":
            jumps.append((source if source_object == obj else OUTSIDE,
                          target, count))
        else:
            called[target] += count

    found = {}
    for source, target, count in jumps:
        if count and target <= source <= target + span:
            loop = found.setdefault(target, Loop(target))
            loop.tail = max(loop.tail, source)
            loop.back_edges += count
    for loop in found.values():
        fallen = runs[loop.head] - arrived[loop.head]
        loop.entries = fallen + called[loop.head] + sum(
            count for source, target, count in jumps
            if loop.head <= target <= loop.tail
            and not loop.head <= source <= loop.tail)
    return found
