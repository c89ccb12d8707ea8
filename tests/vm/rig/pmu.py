# SPDX-License-Identifier: GPL-2.0-only
"""What --pmu says, as properties of QEMU's CPU; see qemu/patches."""

# The kernel knows a PMU by the CPU's model: this is a Skylake's, whatever the
# instructions of the CPU are.
_LBR = ("family=6,model=94,stepping=3,pmu=on,pdcm=on,full-width-write=on,"
        "lbr-fmt=5")
_ERRORS = ("lost-pmi", "skid", "mispredict")

# No counter for the watchdog. And no lower sampling rate for an interrupt that
# takes long: here it always does.
KERNEL_ARGUMENTS = "nmi_watchdog=0 sysctl.kernel.perf_cpu_time_max_percent=0"

# By the model, too, the C library prefers other copies: back to the default's.
C_LIBRARY = ("GLIBC_TUNABLES=glibc.cpu.hwcaps=Fast_Unaligned_Load,"
             "Fast_Unaligned_Copy,Prefer_PMINUB_for_stringop")


def properties(text):
    """'' for none; ValueError says what is wrong."""
    kind, *errors = text.split(",")
    if kind not in ("none", "lbr"):
        raise ValueError(f"{kind!r} is no PMU: none and lbr are allowed")
    if kind == "none" and errors:
        raise ValueError("without a PMU it makes no errors: give lbr")
    return ",".join([_LBR, *map(_error, errors)]) if kind == "lbr" else ""


def _error(text):
    name, _, number = text.partition("=")
    if name not in _ERRORS:
        raise ValueError(f"{name!r} is no error of the PMU: "
                         f"{', '.join(_ERRORS)} are allowed")
    if not (number.isascii() and number.isdigit() and 0 < int(number) < 1 << 31):
        raise ValueError(f"{name} needs a number, 1 or more: {name}=10")
    return f"pmu-{name}={int(number)}"
