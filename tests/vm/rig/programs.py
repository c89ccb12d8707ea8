# SPDX-License-Identifier: GPL-2.0-only
"""What a program needs to run: its libraries, loader and interpreter."""

import os
import shutil
import subprocess

from rig.error import GUEST, RigError


def find(word):
    """The file that the shell would run for this word, or None."""
    path = shutil.which(word)
    if path is None or os.path.isdir(path):
        return None
    return os.path.abspath(path)


def needed(files):
    """The files that these files need besides themselves."""
    found = []
    binaries = []
    for file in files:
        with open(file, "rb") as program:
            start = program.read(256)
        if start.startswith(b"\x7fELF"):
            binaries.append(file)
        elif start.startswith(b"#!"):
            interpreters = _interpreters(file, start)
            found += interpreters
            binaries += interpreters
    return found + _libraries(binaries)


def _interpreters(script, start):
    """`#! /usr/bin/env python3` needs both env and python3."""
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


def _libraries(binaries):
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
