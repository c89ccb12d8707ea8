# SPDX-License-Identifier: GPL-2.0-only
"""What the instructions of an object are, as objdump disassembles them."""
import bisect
import functools
import os
import re
import subprocess
from dataclasses import dataclass

import elf

PREFIXES = {"bnd", "notrack", "lock", "rep", "repz", "repnz", "data16", "addr32",
            "cs", "ds", "es", "fs", "gs", "ss"}
SETJMP = re.compile("(__sig|_)?setjmp@")
WAIT = re.compile("pthread_(cond_wait|cond_timedwait|mutex_lock|mutex_trylock"
                  "|join)@")


@dataclass(frozen=True)
class Instruction:
    kind: str               # "jump", "call", "ret", "syscall", "rep"
    target: int | None      # of a direct jump or call
    symbol: str             # there


class Code:
    """Of one object, the instructions that are not all the others.

    landings: where longjmp goes to: the address behind a call of setjmp, and
    that of the call.
    """

    def __init__(self, path):
        self.path = path
        self.special = {}
        self.landings = {}
        call = None
        for address, words in disassembly(path):
            if call is not None:
                self.landings[address] = call
                call = None
            found = instruction(words)
            if found:
                self.special[address] = found
                if found.kind == "call" and SETJMP.match(found.symbol):
                    call = address
        self.addresses = sorted(self.special)

    def kind(self, address):
        found = self.special.get(address)
        return found and found.kind

    def target(self, address):
        found = self.special.get(address)
        return found and found.target

    def waits(self, head, tail):
        """Is a thread waited for from head to tail, in the function around
        head, or in one called there? Only direct calls are followed.
        """
        if any(WAIT.match(found.symbol) for found in self.between(head, tail)):
            return True
        todo, done = [head], set()
        while todo:
            start, end = elf.function(self.path, todo.pop())
            if start in done:
                continue
            done.add(start)
            for found in self.between(start, end):
                if WAIT.match(found.symbol):
                    return True
                if found.kind == "call" and found.target:
                    todo.append(found.target)
        return False

    def between(self, start, end):
        low = bisect.bisect_left(self.addresses, start)
        high = bisect.bisect_left(self.addresses, end)
        return [self.special[address] for address in self.addresses[low:high]]


@functools.lru_cache(maxsize=None)
def of(path):
    return Code(path)


def kind(path, address):
    """Of an instruction of any object; what is of none is a stub of a PLT."""
    return of(path).kind(address) if os.path.isfile(path) else "jump"


def disassembly(path):
    """Address, and the words behind it, of each instruction."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        address, _, rest = line.partition(":\t")
        if rest and re.fullmatch(r"\s*[0-9a-f]+", address):
            yield int(address, 16), rest.split()


def instruction(words):
    """None: it is as all the others."""
    name, prefixes, operands = parts(words)
    if re.match("j|loop", name):
        kind = "jump"
    elif re.match("call|ret|syscall", name):
        kind = re.match("call|ret|syscall", name).group()
    elif any(prefix.startswith("rep") for prefix in prefixes):
        kind = "rep"
    else:
        return None
    direct = operands and re.fullmatch("[0-9a-f]+", operands[0])
    return Instruction(kind, int(operands[0], 16) if direct else None,
                       operands[1].strip("<>") if len(operands) == 2 else "")


def parts(words):
    """Name, prefixes, operands; a hint may follow the name (jne,pn)."""
    prefixes = []
    while words and words[0].split(",")[0] in PREFIXES:
        prefixes.append(words[0])
        words = words[1:]
    return (words or [""])[0].split(",")[0], prefixes, words[1:]
