# SPDX-License-Identifier: GPL-2.0-only
"""What the instructions of an object are, as objdump disassembles them."""
import functools
import os
import re
import subprocess

PREFIXES = {"bnd", "notrack", "lock", "rep", "repz", "repnz", "data16", "addr32",
            "cs", "ds", "es", "fs", "gs", "ss"}


def at(path, address):
    """"jump", "call", "ret", "syscall", "rep" or, of all others, None."""
    if path == "???":       # callgrind's name for stubs of PLTs: they jump
        return "jump"
    return of(path).get(address)


@functools.lru_cache(maxsize=None)
def of(path):
    """Address -> kind, of the instructions that have one."""
    found = {}
    if not path or not os.path.isfile(path):
        return found
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        address, _, rest = line.partition(":\t")
        if not rest or not re.fullmatch(r"\s*[0-9a-f]+", address):
            continue
        kind = kind_of(rest.split())
        if kind:
            found[int(address, 16)] = kind
    return found


def kind_of(words):
    prefixes = []
    while words and words[0].split(",")[0] in PREFIXES:
        prefixes.append(words.pop(0))
    if not words:
        return None
    name = words[0].split(",")[0]
    if name.startswith("j") or name.startswith("loop"):
        return "jump"
    if name.startswith("call"):
        return "call"
    if name.startswith("ret"):
        return "ret"
    if name.startswith("syscall"):
        return "syscall"
    if any(prefix.startswith("rep") for prefix in prefixes):
        return "rep"
    return None
