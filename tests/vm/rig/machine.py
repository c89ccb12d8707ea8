# SPDX-License-Identifier: GPL-2.0-only
"""The emulated machine: a QEMU process and the channels it talks through."""

import socket
import subprocess
import threading

from rig import pmu

# What Debian's programs need (x86-64-v2) without AVX: the C library then picks
# the same functions here as under valgrind, and the emulation is faster.
DEFAULT_CPU = "Nehalem"

# The same kernel on every boot and no time lost: no random layout, no
# mitigations against a CPU that is not there, a time source that needs no exit
# to the emulator.  A kernel that oopses ends the run at once.
_KERNEL_ARGUMENTS = ("console=ttyS0 nokaslr mitigations=off tsc=reliable"
                     " no_timer_check audit=0 oops=panic panic=-1")

# Time is the number of instructions: two boots are the same to the byte.
_ICOUNT = ["-icount", "shift=1,sleep=off", "-rtc", "clock=vm,base=2020-01-01",
           "-seed", "1"]

PORTS = ("stdout", "stderr", "status", "out")


class Machine:
    def __init__(self, qemu, options, kernel, initrd, log):
        """options: cpu, pmu, smp, mem (MiB), icount, append."""
        self._pumps = []
        self._host_ends = {}
        arguments = _KERNEL_ARGUMENTS
        if options.icount:
            arguments += " norandmaps"
        if options.pmu:
            arguments += f" {pmu.KERNEL_ARGUMENTS}"
        command = [
            qemu, "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-machine", "pc", "-accel", "tcg",
            "-cpu", ",".join(filter(None, [options.cpu, options.pmu])),
            "-m", f"{options.mem}M",
            # Sockets, not cores: a kernel without ACPI finds only these.
            "-smp", f"{options.smp},sockets={options.smp},cores=1,threads=1",
            "-kernel", kernel, "-initrd", initrd,
            "-append", f"{arguments} {options.append}".strip(),
            "-chardev", f"file,id=log,path={log.replace(',', ',,')}",
            "-serial", "chardev:log",
            # Without ioeventfd the device acts when the guest tells it to, not
            # when another thread of the host gets to it.
            "-device", "virtio-serial-pci,max_ports=8,ioeventfd=off",
            *(_ICOUNT if options.icount else []),
        ]
        guest_ends = []
        for number, name in enumerate(PORTS, 1):
            ours, theirs = socket.socketpair()
            self._host_ends[name] = ours
            guest_ends.append(theirs)
            command += ["-chardev", f"socket,id={name},fd={theirs.fileno()}",
                        "-device", f"virtserialport,nr={number},chardev={name}"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, pass_fds=[end.fileno() for end in guest_ends])
        for end in guest_ends:
            end.close()

    def pump(self, port, take):
        """Give take() whatever comes from a port, until the machine stops."""
        def run():
            while data := self._host_ends[port].recv(1 << 16):
                take(data)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._pumps.append(thread)

    def reader(self, port):
        """A file descriptor from which a child process can read the port."""
        return self._host_ends[port]

    def wait(self, timeout):
        """QEMU's complaint ('' is none), or None if the time was over first."""
        try:
            _, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.kill()
            for thread in self._pumps:
                thread.join()
        return errors.decode(errors="replace").strip()

    def kill(self):
        self._process.kill()
        self._process.wait()
