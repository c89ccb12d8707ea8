# SPDX-License-Identifier: GPL-2.0-only
"""Branch records of a recording, checked against the programs' disassembly."""
import collections
import functools
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "accuracy"))

import disasm               # noqa: E402  pylint: disable=wrong-import-position
import elf                  # noqa: E402  pylint: disable=wrong-import-position

MMAP = re.compile(r"MMAP2? -?\d+/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) "
                  r"@ (0x[0-9a-f]+|0) .*: r-xp (/\S+)")
USER = 1 << 47
ALWAYS = {"jmp", "call", "ret"}     # the next instruction is not the next one


@dataclass(frozen=True)
class Entry:
    source: int
    target: int
    mispredicted: bool
    cycles: int


@dataclass(frozen=True)
class Instruction:
    kind: str               # "jcc", "jmp", "call", "ret", "far", "" is another
    indirect: bool
    target: int | None
    following: int          # its address


@functools.lru_cache(maxsize=None)
def code(path):
    """Address: instruction."""
    listing = list(disasm.disassembly(path))
    following = [address for address, _ in listing[1:]] + [0]
    return {address: instruction(words, after)
            for (address, words), after in zip(listing, following)}


def instruction(words, following):
    name, _, operands = disasm.parts(words)
    if re.match("jmp|call|ret", name):
        kind = re.match("jmp|call|ret", name).group()
    elif re.match("j|loop", name):
        kind = "jcc"
    elif re.match("syscall|sysret|int|iret|hlt", name):
        kind = "far"
    else:
        return Instruction("", False, None, following)
    direct = operands and re.fullmatch("[0-9a-f]+", operands[0])
    return Instruction(kind, kind in ("jmp", "call") and not direct,
                       int(operands[0], 16) if direct else None, following)


class Recording:
    """Samples are (ip, [Entry, newest first])."""

    def __init__(self, path):
        self.maps = []
        self.samples = []
        text = subprocess.run(
            ["perf", "script", "-i", path, "-F", "ip,brstack",
             "--show-mmap-events"],
            check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            found = MMAP.search(line)
            if found:
                start, size, offset = (int(n, 16) for n in found.groups()[:3])
                self.maps.append((start, start + size, offset, found[4]))
            elif re.match(r"\s*[0-9a-f]+( |$)", line):
                ip, *entries = line.split()
                self.samples.append((int(ip, 16), [entry(e) for e in entries]))

    def entries(self):
        return [entry for _, stack in self.samples for entry in stack]

    def place(self, address):
        """Object and address in it, or (None, address)."""
        for start, end, offset, path in reversed(self.maps):
            if start <= address < end and pathlib.Path(path).is_file():
                return path, address - start + offset + elf.bias(path, offset)
        return None, address

    def instruction(self, address):
        """None: it is in no object that there is, as the vdso."""
        path, inside = self.place(address)
        return code(path).get(inside, Instruction("?", False, None, 0)) if path else None

    def straight(self, start, end):
        """How many instructions from start to end, both included; 0: something
        between never goes on to the next one. None: nothing is known there."""
        path, at = self.place(start)
        other, last = self.place(end)
        if path is None or other is None:
            return None
        number = 1
        while path == other and number < 10000:
            if at == last:
                return number
            here = code(path).get(at)
            if not here or here.kind in ALWAYS or here.following <= at:
                break
            at = here.following
            number += 1
        return 0

    def check(self):
        """Counter of what was found; what is wrong, a line for each."""
        found, wrong = collections.Counter(), []
        for ip, stack in self.samples:
            for new, old in zip(stack, stack[1:] + [None]):
                self.check_entry(new, found, wrong)
                if old:
                    self.check_line(old, new, found, wrong)
            if stack and self.straight(stack[0].target, ip) == 0:
                wrong.append(f"ip {ip:#x} is not behind {stack[0].target:#x}")
        return found, wrong

    def check_entry(self, new, found, wrong):
        found["entries"] += 1
        if new.source >= USER or not new.source:    # came from the kernel
            found["kernel"] += 1
            return
        here = self.instruction(new.source)
        if here is None:
            found["elsewhere"] += 1
            return
        found[here.kind] += 1
        path, target = self.place(new.target)
        if here.kind in ("", "?"):
            wrong.append(f"{new.source:#x} is no branch")
        elif here.target is not None and path and here.target != target:
            wrong.append(f"{new.source:#x} goes to {here.target:#x}, "
                         f"not to {target:#x}")

    def check_line(self, old, new, found, wrong):
        if new.source >= USER or not new.source:
            return
        number = self.straight(old.target, new.source)
        if number is None:
            return
        if number == 0:
            wrong.append(f"no straight line from {old.target:#x} to {new.source:#x}")
        elif number > new.cycles:
            # There was a fault or an interrupt, and the kernel's perf has left
            # out the record of the return from it.
            found["cut"] += 1
        elif number < new.cycles:
            wrong.append(f"{number} instructions from {old.target:#x} to "
                         f"{new.source:#x}, but {new.cycles} cycles")
        else:
            found["lines"] += 1


def entry(text):
    source, target, predicted, _, _, cycles, *_ = text.split("/")
    return Entry(int(source, 16), int(target, 16), predicted == "M",
                 int(cycles) if cycles.isdigit() else 0)
