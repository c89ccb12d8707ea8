# SPDX-License-Identifier: GPL-2.0-only
"""Files of the guest: a base that is the same for every run, and the run's."""

import contextlib
import glob
import hashlib
import os
import shlex
import tempfile

from rig.archive import Archive
from rig.error import USAGE, RigError
from rig.programs import is_binary

_RIG = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BUSYBOX = "/usr/lib/busybox/busybox"
_FOLDERS = ("/proc", "/sys", "/dev", "/run", "/out", "/root", "/mnt",
            "/usr/local/bin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64")
_TEXTS = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n"
                   "user:x:1000:1000:user:/home/user:/bin/sh\n"
                   "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost hwprof\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


def kernel_image(folder):
    """Unpacked, it starts faster; a bzImage is allowed as well."""
    for name in ("vmlinux", "Image", "vmlinuz"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def base_archive(cache, programs, other_perf):
    """The cached archive with busybox, perf and the init script.

    other_perf: a directory that ../perf has made, or None for the host's perf.
    """
    busybox = programs.required("busybox", "busybox-static")
    init = os.path.join(_RIG, "guest", "init")
    perf = _other_perf_files(other_perf) if other_perf else _perf_files(programs)
    made_from = "".join(f"{file} {os.stat(file).st_mtime_ns}\n" for file in
                        [*perf, busybox, init, __file__])
    key = hashlib.sha256(made_from.encode()).hexdigest()[:16]
    path = os.path.join(cache, f"base-{key}.cpio")
    if os.path.exists(path):
        os.utime(path)      # it is in use
    else:
        _write_base(path, perf, busybox, init, programs)
    return path


def _perf_files(programs):
    """The host's perf and what it needs: {file: its path in the guest, or None}."""
    perf = programs.required("perf", "linux-perf")
    return dict.fromkeys([perf, *programs.needed([perf])])


def _other_perf_files(folder):
    """A perf that has libraries and a loader of its own.

    The loader is called perf in the guest, since a process has the name of the
    file that was executed.
    """
    libraries = glob.glob(os.path.join(glob.escape(folder), "lib", "*"))
    loader = os.path.join(folder, "lib", "ld-linux-x86-64.so.2")
    return {os.path.join(_RIG, "guest", "perf"): "/usr/bin/perf",
            os.path.join(folder, "perf"): "/opt/perf/program",
            **{file: f"/opt/perf/lib/{os.path.basename(file)}"
               for file in sorted(libraries)},
            loader: "/opt/perf/perf"}


def _write_base(path, perf, busybox, init, programs):
    archive = Archive(programs.root)
    for folder in _FOLDERS:
        archive.directory(folder)
    archive.directory("/tmp", 0o1777)
    archive.directory("/home/user")
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        archive.link(f"/{name}", f"usr/{name}")
    for name, text in _TEXTS.items():
        archive.text(name, text)
    archive.device("/dev/console", 0o600, 5, 1)
    archive.device("/dev/null", 0o666, 1, 3)
    archive.file(busybox, _BUSYBOX)
    # This machine's can be run, and has the same.
    for applet in os.popen("busybox --list"):
        if applet.strip() != "busybox":
            archive.link(f"/usr/lib/busybox/{applet.strip()}", "busybox")
    archive.file(init, "/init")
    for file, inside in perf.items():
        archive.file(file, inside)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path),
                                     delete=False) as output:
        archive.write(output)
    os.rename(output.name, path)
    _forget_old(os.path.dirname(path))


def _forget_old(cache):
    """A base is soon replaced when the rig or its packages change; there is one
    for each architecture, and for each checkout. Two runs may do this at once."""
    bases = glob.glob(os.path.join(glob.escape(cache), "base-*"))
    with contextlib.suppress(FileNotFoundError):
        for base in sorted(bases, key=os.path.getmtime)[:-8]:
            os.unlink(base)


def run_archive(programs, command, kernel, module, files, tool, relay, options):
    """Returns what this run adds: the command, its programs, the files, the modules.

    options: out, forward, and pmu.variable, which is NAME=VALUE for the command's
    environment, or ''.
    """
    archive = Archive(programs.root)
    for host, guest in files:
        _add(archive, programs, host, guest)
    for word in command:
        program = programs.find(word)
        if word == "perf" and options.perf:
            continue    # the base has it
        if program:
            _add(archive, programs, program, None)
    if tool:
        _add(archive, programs, tool, "/usr/local/bin/hwprof")
    if relay:
        _add(archive, programs, relay, "/rig/relay")
    if module:
        archive.file(module, "/rig/module.ko")
    _defaults(archive)
    _add_kernel_modules(archive, kernel)
    working = os.getcwd()
    archive.directory(working)
    archive.text("/rig/settings", "".join(
        f"{name}={shlex.quote(value)}\n" for name, value in {
            "module_file": "/rig/module.ko" if module else "",
            "module_name": module_name(module),
            "want_out": "yes" if options.out else "",
            "forward": " ".join(str(port) for _, port in options.forward),
            "core_pattern": "core",
        }.items()))
    archive.text("/rig/command", f"cd {shlex.quote(working)}\n"
                 + (f"export {shlex.quote(options.pmu.variable)}\n"
                    if options.pmu.variable else "") +
                 f"exec {shlex.join(command)}\n")
    return archive


def module_name(module):
    name = os.path.basename(module or "")
    return name.removesuffix(".ko").replace("-", "_")


def _add(archive, programs, host, guest):
    """A file or directory, and what the programs in it need."""
    if guest:
        guest = os.path.normpath(os.path.join(os.getcwd(), guest))
    if os.path.isdir(host):
        archive.tree(host, guest)
        need = programs.libraries(_binaries(host))
    elif os.path.exists(host):
        archive.file(host, guest)
        need = programs.needed([host])
    else:
        raise RigError(USAGE, f"there is no file {host}")
    for file in need:
        archive.file(file)


def _binaries(folder):
    files = [os.path.join(place, name) for place, _, names in os.walk(folder)
             for name in names]
    return [file for file in files if is_binary(file)]


def _defaults(archive):
    """The guest's own, unless the run brings Debian's."""
    for name in ("/usr/bin/sh", "/usr/bin/env", "/usr/bin/false"):
        if name not in archive:
            archive.link(name, _BUSYBOX)


def _add_kernel_modules(archive, kernel):
    folder = os.path.join(kernel, "modules")
    for name in os.listdir(folder):
        archive.file(os.path.join(folder, name), f"/rig/modules/{name}")
