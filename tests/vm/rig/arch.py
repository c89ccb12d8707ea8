# SPDX-License-Identifier: GPL-2.0-only
"""The architectures that a guest can have, and what differs between them."""

import os
from typing import NamedTuple

_TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "kernel", "kernels")


def _kernels(arch):
    """--kernel: what kernel/get and build/ call it, of an architecture's."""
    with open(_TABLE, encoding="ascii") as table:
        lines = [line.split() for line in table if line[0] != "#"]
    return {name.removeprefix(arch + "-"): name
            for name, its, *_ in lines if its == arch}


class Arch(NamedTuple):
    name: str
    kernels: dict           # --kernel: what kernel/get and build/ call it
    foreign: bool           # the guest runs other programs than the host
    elf_machine: int        # e_machine of these
    libraries: str          # Debian's place for them
    qemu: str
    machine: str            # QEMU's -machine,
    cpu: str                # and -cpu, by default
    pmu: str                # --pmu, by default
    console: str
    kernel_arguments: str
    tools: str              # prefix of binutils

    def kernel(self, name):
        """Returns kernel/get's name of it, which will do, too; or None."""
        return self.kernels.get(name,
                                name if name in self.kernels.values() else None)


_X86_64 = Arch(
    name="x86-64",
    kernels=_kernels("x86-64"),
    foreign=False,
    elf_machine=62,
    libraries="/usr/lib/x86_64-linux-gnu",
    qemu="qemu-system-x86_64",
    machine="pc",
    # Debian's programs need no more (x86-64-v2). Without AVX the C library
    # picks the same functions here as under valgrind, and it is faster.
    cpu="Nehalem",
    pmu="none",
    console="ttyS0",
    # A time source that needs no exit to the emulator; what its TSC ticks with
    # need not be found out, which fails on a busy machine.
    kernel_arguments="tsc=reliable tsc_early_khz=1000000 no_timer_check",
    tools="",
)

_ARM64 = Arch(
    name="arm64",
    kernels=_kernels("arm64"),
    foreign=True,
    elf_machine=183,
    libraries="/usr/lib/aarch64-linux-gnu",
    qemu="qemu-system-aarch64",
    machine="virt,gic-version=3",
    # Pointers signed as the architecture says take half the time of a boot.
    cpu="max,pauth-impdef=on",
    pmu="v3",
    console="ttyAMA0",
    # An overflow is an NMI where the kernel can do that: debug's.
    kernel_arguments="irqchip.gicv3_pseudo_nmi=1",
    tools="aarch64-linux-gnu-",
)

ARCHS = {arch.name: arch for arch in (_X86_64, _ARM64)}


def find(name, kernel):
    """The one of that name; or, without one, that has a kernel of that name."""
    if name:
        return ARCHS[name]
    return next((arch for arch in ARCHS.values() if arch.kernel(kernel)), _X86_64)
