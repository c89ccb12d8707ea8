# SPDX-License-Identifier: GPL-2.0-only
"""The emulated machine: a QEMU process and the channels it talks through."""

import socket
import subprocess
import threading

# The same kernel on every boot and no time lost: no random layout, no
# mitigations against a CPU that is not there.  A kernel that oopses ends the run
# at once.
_KERNEL_ARGUMENTS = "nokaslr mitigations=off audit=0 oops=panic panic=-1"

# Time is the number of instructions: two boots are the same to the byte.
_ICOUNT = ["-icount", "shift=1,sleep=off", "-rtc", "clock=vm,base=2020-01-01",
           "-seed", "1"]

PORTS = ("stdout", "stderr", "status", "out")
FORWARDS = 3    # the device has eight ports, and the first one is a console


class Machine:
    def __init__(self, qemu, options, kernel, initrd, log):
        """options: arch, cpu, pmu, smp, mem (MiB), icount, append,
        forward."""
        self._pumps = []
        self._host_ends = {}
        arch = options.arch
        arguments = [f"console={arch.console}", _KERNEL_ARGUMENTS,
                     arch.kernel_arguments, options.pmu.kernel,
                     "norandmaps" if options.icount else "", options.append]
        command = [
            qemu, "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-machine", arch.machine, "-accel", "tcg",
            "-cpu", ",".join(filter(None, [options.cpu, options.pmu.cpu])),
            "-m", f"{options.mem}M",
            # Sockets, not cores: a kernel without ACPI finds only these.
            "-smp", f"{options.smp},sockets={options.smp},cores=1,threads=1",
            "-kernel", kernel, "-initrd", initrd,
            "-append", " ".join(filter(None, arguments)),
            "-chardev", f"file,id=log,path={log.replace(',', ',,')}",
            "-serial", "chardev:log",
            # Without ioeventfd the device acts when the guest tells it to, not
            # when another thread of the host gets to it.
            "-device", "virtio-serial-pci,max_ports=8,ioeventfd=off",
            *(_ICOUNT if options.icount else []),
        ]
        guest_ends = []
        forwards = [f"forward{number}" for number in range(len(options.forward))]
        for number, name in enumerate([*PORTS, *forwards], 1):
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

    def channel(self, port):
        """The host's end of the port, a socket."""
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
