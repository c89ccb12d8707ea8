# SPDX-License-Identifier: GPL-2.0-only
"""Programs for the guest, and what they need to run: libraries, loader and
interpreter."""

import os
import re
import shutil
import struct
import subprocess

from rig.error import GUEST, USAGE, RigError


# The guest's, so that a word means the same there.
PATH = "/usr/local/bin:/usr/bin:/usr/sbin"


class Programs:
    """The host's own: the guest is a machine like it."""

    root = ""       # what is below it is there without it

    def __init__(self, arch):
        self.arch = arch

    def find(self, word):
        """The file that the guest's shell would run for this word, or None."""
        path = shutil.which(word, path=PATH)
        if path is None or os.path.isdir(path):
            return None
        return os.path.abspath(path)

    def required(self, word, package):
        path = self.find(word)
        if path is None:
            raise RigError(GUEST, f"{word} is not installed: it is in Debian's "
                           f"package {package} (see tests/vm/install)")
        return path

    def needed(self, files):
        """The files that these programs need besides themselves."""
        interpreters = [name for file in files
                        for name in self._interpreters(file)]
        binaries = list(filter(is_binary, [*files, *interpreters]))
        return interpreters + self.libraries(binaries) + self._late(binaries)

    def _late(self, binaries):
        """The libraries that hwprof loads when it first needs them (lib/late.h)."""
        names = {name.decode() for file in binaries if not is_32bit(file)
                 for name in re.findall(rb"\0(lib(?:capstone|pfm)\.so\.\d+)\0",
                                        _content(file))}
        places = (self.root + os.path.join(self.arch.libraries, name)
                  for name in sorted(names))
        return list(filter(os.path.exists, places))

    def _interpreters(self, script):
        """`#! /usr/bin/env python3` needs both env and python3."""
        start = _start(script)
        if not start.startswith(b"#!"):
            return []
        words = start[2:].split(b"\n")[0].decode(errors="replace").split()
        if words[:1] == ["/usr/bin/env"]:
            words = words[:2]
        else:
            words = words[:1]
        found = [self.find(word) for word in words]
        if not found or None in found:
            raise RigError(GUEST, f"{script} wants the interpreter "
                           f"{' '.join(words) or '(none)'}, which is not installed")
        return found

    def libraries(self, binaries):
        """The shared libraries and loaders of ELF files."""
        wide, narrow = [], []
        for file in binaries:
            (narrow if is_32bit(file) else wide).append(file)
        return list(dict.fromkeys(self._listed(wide) +
                                  linked(narrow, library32)))

    def _listed(self, binaries):
        if not binaries:
            return []
        # It fails for static programs, which need nothing, and says so per file.
        output = _output("ldd", *binaries)
        found = []
        for line in output.splitlines():
            if not line.startswith("\t"):
                continue
            if "not found" in line:
                raise _no_library(line.split()[0])
            found += [word for word in line.split() if word.startswith("/")]
        return list(dict.fromkeys(found))


class ForeignPrograms(Programs):
    """Debian's for another architecture, below root; the host cannot run them."""

    def __init__(self, arch, root):
        super().__init__(arch)
        self.root = root

    def find(self, word):
        places = [word]
        if "/" not in word:
            places = [f"{folder}/{word}" for folder in PATH.split(":")]
        for place in places:
            inside = f"{self.root}{os.path.abspath(place)}"
            if os.access(inside, os.X_OK) and not os.path.isdir(inside):
                return inside
        return super().find(word) if "/" in word else None

    def libraries(self, binaries):
        binaries = list(binaries)
        for file in binaries:
            self._check(file)
        found = linked(binaries, self._library)
        for file in found:
            self._check(file)
        return found

    def _library(self, name):
        # The loader's name is a whole path.
        place = self.root + os.path.join(self.arch.libraries, name)
        if not os.path.exists(place):
            raise _no_library(name)
        return place

    def _check(self, file):
        machine, = struct.unpack_from("<H", _start(file), 18)
        if machine != self.arch.elf_machine:
            raise RigError(USAGE, f"{file} is no program of {self.arch.name}")


def is_binary(file):
    return os.path.isfile(file) and _start(file).startswith(b"\x7fELF")


def is_32bit(file):
    return _start(file)[4:5] == b"\x01"


def linked(binaries, place):
    """Returns the libraries that ELF files name which the host cannot run, each
    where place(name) has it."""
    found = {}
    wanted = list(binaries)
    while wanted:
        names = re.findall(r"(?:Shared library: \[|interpreter: )([^]]+)\]",
                           _output("readelf", "-ldW", *wanted))
        wanted = []
        for name in dict.fromkeys(names):
            where = place(name)
            if where not in found:
                found[where] = True
                wanted.append(where)
    return list(found)


def library32(name):
    """ldd would run it, which not each kernel of 64 bits can."""
    for folder in ("/lib/i386-linux-gnu", "/usr/lib/i386-linux-gnu", "/lib32",
                   "/usr/lib32"):
        path = os.path.join(folder, name)       # the loader's is whole
        if os.path.exists(path):
            return path
    raise _no_library(name)


def _start(file):
    with open(file, "rb") as program:
        return program.read(256)


def _content(file):
    with open(file, "rb") as program:
        return program.read()


def _output(*command):
    return subprocess.run(command, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def _no_library(name):
    return RigError(GUEST, f"a program needs the library {name}, which is not "
                    "installed")
