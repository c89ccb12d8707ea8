# SPDX-License-Identifier: GPL-2.0-only
"""What the instructions of an object are, as objdump disassembles them."""
import functools
import os
import re
import subprocess
from dataclasses import dataclass

PREFIXES = {"bnd", "notrack", "lock", "rep", "repz", "repnz", "data16", "addr32",
            "cs", "ds", "es", "fs", "gs", "ss"}
SETJMP = re.compile(r"<(__sig|_)?setjmp[@>]")


@dataclass(frozen=True)
class Instruction:
    kind: str               # "jump", "call", "ret", "syscall", "rep"
    target: int | None      # of a direct jump or call
    setjmp: bool            # it calls setjmp


class Code:
    """Of one object, the instructions that are not all the others.

    landings: where longjmp goes to: the address behind a call of setjmp, and
    that of the call.
    """

    def __init__(self, path):
        self.special = {}
        self.landings = {}
        call = None
        for address, words, line in disassembly(path):
            if call is not None:
                self.landings[address] = call
            found = instruction(words, line)
            call = address if found and found.setjmp else None
            if found:
                self.special[address] = found

    def kind(self, address):
        found = self.special.get(address)
        return found and found.kind

    def target(self, address):
        found = self.special.get(address)
        return found and found.target


@functools.lru_cache(maxsize=None)
def of(path):
    return Code(path)


def kind(path, address):
    """Of an instruction of any object; what is of none is a stub of a PLT."""
    return of(path).kind(address) if os.path.isfile(path) else "jump"


def disassembly(path):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        address, _, rest = line.partition(":\t")
        if rest and re.fullmatch(r"\s*[0-9a-f]+", address):
            yield int(address, 16), rest.split(), line


def instruction(words, line):
    name, prefixes, operand = parts(words)
    if re.match("j|loop", name):
        kind = "jump"
    elif re.match("call|ret|syscall", name):
        kind = re.match("call|ret|syscall", name).group()
    elif any(prefix.startswith("rep") for prefix in prefixes):
        kind = "rep"
    else:
        return None
    direct = re.fullmatch("[0-9a-f]+", operand)
    return Instruction(kind, int(operand, 16) if direct else None,
                       kind == "call" and bool(SETJMP.search(line)))


def parts(words):
    """Name, prefixes, first operand; a hint may follow the name (jne,pn)."""
    words = [word.split(",")[0] for word in words]
    prefixes = []
    while words and words[0] in PREFIXES:
        prefixes.append(words.pop(0))
    return (words + ["", ""])[0], prefixes, (words + ["", ""])[1]
