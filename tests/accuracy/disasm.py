# SPDX-License-Identifier: GPL-2.0-only
"""The instructions of an object, as objdump disassembles them."""
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
    """The special instructions of one object: jumps, calls, returns and the like.

    landings: targets of longjmp. Maps the address behind a call of setjmp to that of
    the call.
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
        """Tells whether code from head to tail waits for a thread, in the function around
        head or in a function that it calls. Only direct calls are followed.
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
    """Returns the kind of an instruction of any object; without an object it is a stub of
    a PLT.
    """
    return of(path).kind(address) if os.path.isfile(path) else "jump"


def disassembly(path):
    """Yields the address of each instruction, and the words behind it."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        address, _, rest = line.partition(":\t")
        if rest and re.fullmatch(r"\s*[0-9a-f]+", address):
            yield int(address, 16), rest.split()


def instruction(words):
    """Returns the special instruction, or None for any other."""
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
    """Returns name, prefixes, operands; a hint may follow the name (jne,pn)."""
    prefixes = []
    while words and words[0].split(",")[0] in PREFIXES:
        prefixes.append(words[0])
        words = words[1:]
    return (words or [""])[0].split(",")[0], prefixes, words[1:]
