# SPDX-License-Identifier: GPL-2.0-only
"""Runs callgrind, and computes exact loops of one object from its profile.

The profile tells how often each instruction ran and each jump was taken, with addresses
as objdump shows them. Callgrind differs from the processor in some points. The
instruction at the source of a jump shows which applies (see disasm.py):

  A jump to another function is a call to it.
  Code outside .text (PLT, .init, .fini) belongs to the object ???, at the
  address to which it was mapped.
  A repeated string instruction is a loop of jumps to itself.
  longjmp is a return to nowhere: it only shows where it lands.
"""
import subprocess
from collections import Counter, defaultdict

import disasm
import elf

UNKNOWN = "???"
VALGRIND = ("valgrind", "--tool=callgrind", "--dump-instr=yes",
            "--dump-line=no", "--collect-jumps=yes", "--skip-plt=no",
            "--compress-strings=no", "--compress-pos=no")


def run(program, command, folder, name, *options, **variables):
    """Returns the command's output in folder/in; its profile is folder/name.callgrind."""
    return subprocess.run(
        [*VALGRIND, *options, f"--callgrind-out-file={folder}/{name}.callgrind",
         *command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, cwd=folder / "in",
        env={**program.environment(), **variables}).stdout


def environment(program, folder, **variables):
    """Returns the program's environment under callgrind, which adds to it, in order."""
    text = run(program, ["/usr/bin/env", "-0"], folder, "env", **variables)
    return text.decode().split("\0")[:-1]


def preloaded(variables):
    """Returns the files that this environment makes the program load."""
    return {variable.partition("=")[2] for variable in variables
            if variable.startswith("LD_PRELOAD=")}


class Profile:
    """The execution counts of each object.

    runs[object][address]: how often the instruction was executed. edges[object][source
    object, source, target]: how often control went from source to target, which is in
    object, by a jump or call.
    """

    def __init__(self):
        self.runs = defaultdict(Counter)
        self.edges = defaultdict(Counter)


def read(path):
    """Parses a callgrind.out file."""
    profile = Profile()
    here = None             # object of the cost lines
    there = None            # object of the next call's or jump's target
    edge = None             # (object, count, target): its source comes next
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


def give_back(profile, obj):
    """Moves counts of code of obj from the object ??? to obj, at the addresses of obj.

    The place where obj was mapped follows from a direct call or jump of its own: its
    actual target, less the target in the instruction.
    """
    bases = {target - disasm.of(obj).target(source)
             for where, source, target in profile.edges[UNKNOWN]
             if where == obj and disasm.of(obj).target(source) is not None}
    if not bases:
        return
    base, = bases
    place = elf.Sections(obj)

    def own(where, address):
        if where == UNKNOWN and place.has(address - base):
            return obj, address - base
        return where, address

    moved = Profile()
    for where, runs in profile.runs.items():
        for address, count in runs.items():
            where_now, address = own(where, address)
            moved.runs[where_now][address] += count
    for where, edges in profile.edges.items():
        for (source_object, source, target), count in edges.items():
            where_now, target = own(where, target)
            moved.edges[where_now][
                *own(source_object, source), target] += count
    profile.runs, profile.edges = moved.runs, moved.edges


class Loop:
    def __init__(self, head):
        self.head = head
        self.tail = head
        self.back_edges = 0
        self.entries = 0

    def has(self, address):
        return address is not None and self.head <= address <= self.tail


def loops(profile, obj, span=1 << 20):
    """Returns the loops of obj by head: docs/definitions.md, from counts alone."""
    give_back(profile, obj)
    runs = Counter(profile.runs[obj])
    jumps = []              # (source or None: elsewhere, target, count)
    arrived = Counter()     # by a jump or call, not by falling
    called = Counter()
    for (where, source, target), count in profile.edges[obj].items():
        kind = disasm.kind(where, source)
        if kind == "rep":
            runs[target] -= count
            continue
        arrived[target] += count
        if kind == "call":
            called[target] += count
        elif kind == "jump":
            jumps.append((source if where == obj else None, target, count))
    for landing, call in disasm.of(obj).landings.items():
        count = runs[landing] - runs[call] - arrived[landing]
        if count > 0:
            arrived[landing] += count
            jumps.append((None, landing, count))

    found = {}
    for source, target, count in jumps:
        if source is not None and target <= source <= target + span and count:
            loop = found.setdefault(target, Loop(target))
            loop.tail = max(loop.tail, source)
            loop.back_edges += count
    for loop in found.values():
        fallen = runs[loop.head] - arrived[loop.head]
        loop.entries = fallen + called[loop.head] + sum(
            count for source, target, count in jumps
            if loop.has(target) and not loop.has(source))
    return found
