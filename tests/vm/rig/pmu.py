# SPDX-License-Identifier: GPL-2.0-only
"""Meanings of --pmu: properties of QEMU's CPU (see qemu/patches), and the rest."""

from typing import NamedTuple


class Pmu(NamedTuple):
    cpu: str = ""           # properties of QEMU's CPU
    kernel: str = ""        # arguments
    variable: str = ""      # NAME=VALUE in the command's environment


# The kernel knows a PMU by the CPU's model: this is a Skylake's, whatever the
# instructions of the CPU are.
_LBR = ("family=6,model=94,stepping=3,pmu=on,pdcm=on,full-width-write=on,"
        "lbr-fmt=5")
_ERRORS = ("lost-pmi", "skid", "mispredict")

# No counter for the watchdog. And no lower sampling rate for an interrupt that
# takes long: here it always does.
_KERNEL = "nmi_watchdog=0 sysctl.kernel.perf_cpu_time_max_percent=0"

# By the model, too, the C library prefers other copies: back to the default's.
C_LIBRARY = ("GLIBC_TUNABLES=glibc.cpu.hwcaps=Fast_Unaligned_Load,"
              "Fast_Unaligned_Copy,Prefer_PMINUB_for_stringop")

_KINDS = {
    "x86-64": {"none": Pmu(), "lbr": Pmu(_LBR, _KERNEL, C_LIBRARY)},
    "arm64": {"none": Pmu("pmu=off"), "v3": Pmu("", _KERNEL)},
}


def find(arch, text):
    """The Pmu of an architecture; ValueError says what is wrong."""
    kind, *errors = text.split(",")
    kinds = _KINDS[arch]
    if kind not in kinds:
        raise ValueError(f"{kind!r} is no PMU of {arch}: "
                         f"{' and '.join(kinds)} are allowed")
    if kind != "lbr" and errors:
        raise ValueError("only an LBR's PMU makes errors: give lbr")
    found = kinds[kind]
    return found._replace(cpu=",".join([found.cpu, *map(_error, errors)]))


def _error(text):
    name, _, number = text.partition("=")
    if name not in _ERRORS:
        raise ValueError(f"{name!r} is no error of the PMU: "
                         f"{', '.join(_ERRORS)} are allowed")
    if not (number.isascii() and number.isdigit() and 0 < int(number) < 1 << 31):
        raise ValueError(f"{name} needs a number, 1 or more: {name}=10")
    return f"pmu-{name}={int(number)}"
