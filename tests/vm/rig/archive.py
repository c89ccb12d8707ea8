# SPDX-License-Identifier: GPL-2.0-only
"""The guest's file system: a cpio archive (newc) that the kernel unpacks.

Archives can be joined end to end.  A path has the same name in the guest as
on the host unless it is given another one.
"""

import os
import stat


class Archive:
    def __init__(self, root=""):
        """root: a directory of the host whose files are there without it."""
        self._root = root
        self._entries = {}      # guest path: (mode, host file or content, device)

    def __contains__(self, path):
        return path in self._entries

    def __iter__(self):
        return iter(self._entries)

    def _put(self, path, mode, content=b"", device=(0, 0)):
        path = os.path.normpath(path)
        if path == "/":
            return
        parent = os.path.dirname(path)
        if parent not in self._entries:
            self._put(parent, stat.S_IFDIR | 0o755)
        self._entries[path] = (mode, content, device)

    def directory(self, path, mode=0o755):
        self._put(path, stat.S_IFDIR | mode)

    def link(self, path, target):
        self._put(path, stat.S_IFLNK | 0o777, target.encode())

    def text(self, path, content, mode=0o644):
        self._put(path, stat.S_IFREG | mode, content.encode())

    def device(self, path, mode, major, minor):
        self._put(path, stat.S_IFCHR | mode, device=(major, minor))

    def file(self, host, path=None):
        """Add one file of the host; of a symbolic link, also what it leads to."""
        if path is None:
            host = real_place(host)
            path = self._inside(host)
            if path in self._entries:
                return
            if os.path.islink(host):
                target = os.readlink(host)
                self.link(path, target)
                self.file(os.path.join(os.path.dirname(host), target))
                return
        # Mode bits matter: a set-user-ID program must stay one.
        self._put(path, os.stat(host).st_mode, host)

    def tree(self, host, path=None):
        """Add a directory of the host and everything in it."""
        top = path or self._inside(real_place(host))
        for folder, _, names in os.walk(host):
            inside = os.path.normpath(
                os.path.join(top, os.path.relpath(folder, host)))
            self._put(inside, os.stat(folder).st_mode)
            for name in names:
                source = os.path.join(folder, name)
                if os.path.islink(source):
                    self.link(os.path.join(inside, name), os.readlink(source))
                elif os.path.isfile(source):
                    self.file(source, os.path.join(inside, name))
            # A link to a directory is listed among the directories.
            for name in os.listdir(folder):
                source = os.path.join(folder, name)
                if os.path.islink(source) and os.path.isdir(source):
                    self.link(os.path.join(inside, name), os.readlink(source))

    def _inside(self, host):
        below = self._root and host.startswith(self._root + "/")
        return host.removeprefix(self._root) if below else host

    def size(self):
        return sum(os.path.getsize(content) if isinstance(content, str)
                   else len(content) for _, content, _ in self._entries.values())

    def write(self, output):
        for number, (path, entry) in enumerate(self._entries.items(), 1):
            mode, content, device = entry
            time = 0
            if isinstance(content, str):
                # Python compiles again what is not as old as it remembers.
                time = int(os.stat(content).st_mtime)
                with open(content, "rb") as source:
                    content = source.read()
            _record(output, number, path, mode, time, content, device)
        _record(output, 0, "/TRAILER!!!", 0, 0, b"", (0, 0))


def real_place(path):
    """The path with its directory resolved: /bin/sh is /usr/bin/sh."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _record(output, number, path, mode, time, content, device):
    name = path.lstrip("/").encode() + b"\0"
    fields = (number, mode, 0, 0, 1, time, len(content), 0, 0, *device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    for part in (header + name, content):
        output.write(part)
        output.write(b"\0" * (-len(part) % 4))
