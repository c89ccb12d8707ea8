# SPDX-License-Identifier: GPL-2.0-only
"""What a program needs to run: its libraries, loader and interpreter."""

import os
import shutil
import subprocess

from rig.error import GUEST, RigError


# The guest's, so that a word means the same there.
PATH = "/usr/local/bin:/usr/bin:/usr/sbin"


def find(word):
    """The file that the guest's shell would run for this word, or None."""
    path = shutil.which(word, path=PATH)
    if path is None or os.path.isdir(path):
        return None
    return os.path.abspath(path)


def needed(files):
    """The files that these programs need besides themselves."""
    interpreters = [name for file in files for name in _interpreters(file)]
    return interpreters + libraries(filter(is_binary, [*files, *interpreters]))


def is_binary(file):
    return os.path.isfile(file) and _start(file).startswith(b"\x7fELF")


def _start(file):
    with open(file, "rb") as program:
        return program.read(256)


def _interpreters(script):
    """`#! /usr/bin/env python3` needs both env and python3."""
    start = _start(script)
    if not start.startswith(b"#!"):
        return []
    words = start[2:].split(b"\n")[0].decode(errors="replace").split()
    if words[:1] == ["/usr/bin/env"]:
        words = words[:2]
    else:
        words = words[:1]
    found = [find(word) for word in words]
    if not found or None in found:
        raise RigError(GUEST, f"{script} wants the interpreter "
                       f"{' '.join(words) or '(none)'}, which is not installed")
    return found


def libraries(binaries):
    """The shared libraries and loaders of ELF files."""
    binaries = list(binaries)
    if not binaries:
        return []
    # It fails for static programs, which need nothing, and says so per file.
    output = subprocess.run(["ldd", *binaries], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            env={**os.environ, "LC_ALL": "C"}).stdout
    found = []
    for line in output.splitlines():
        if not line.startswith("\t"):
            continue
        if "not found" in line:
            raise RigError(GUEST, "a program needs the library "
                           f"{line.split()[0]}, which is not installed")
        found += [word for word in line.split() if word.startswith("/")]
    return list(dict.fromkeys(found))
