# SPDX-License-Identifier: GPL-2.0-only
"""Reports of the guest's kernel about itself, found in its log."""

import re
import subprocess

# A program's own fault ("prog[7]: segfault at", "traps: prog[7]") is not a
# report; a line that merely names a bug of the emulated CPU is none.
_REPORT = re.compile(
    r"\bBUG\b|WARNING: (?!Spectre)|\bOops\b|Kernel panic|UBSAN:|KASAN:|KCSAN:"
    r"|Internal error:|ODEBUG:|INFO: (rcu|task |trying to register|possible)|rcu: INFO:"
    r"|[Uu]nable to handle|general protection fault[,:]|double fault"
    r"|possible circular locking|inconsistent lock state"
    r"|suspicious RCU usage|sleeping function called|(?i:(soft|hard) ?lockup)(?!_)"
    r"|list_(add|del) corruption|refcount_t:|kernel stack overflow")
_USER = re.compile(r"traps: |segfault at ")
_RACE = re.compile(r"BUG: KCSAN: ")
_LINES = 60


def _race_of(lines, module):
    """Is a race, with the lines that follow, between code that a module runs?

    The kernel has races of its own. An interrupt may have come in the module's
    code; what it does there is not the module's.
    """
    interrupt = False
    for line in lines:
        if line.endswith("=" * 20):
            return False
        if line.endswith(":") or "BUG: KCSAN" in line:     # a stack begins
            interrupt = False
        interrupt = interrupt or " asm_" in line or " exc_nmi" in line
        if not interrupt and f"[{module}]" in line:
            return True
    return False


def reports(text, module="hwprof"):
    """The first report of a log, with the lines that belong to it, or ''.

    Of the data races that KCSAN reports, those in the module count.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _RACE.search(line) and not _race_of(lines[number:number + _LINES], module):
            continue
        if _REPORT.search(line) and not _USER.search(line):
            report = lines[max(0, number - 2):number + _LINES]
            for count, end in enumerate(report, 1):
                if "end trace" in end or "end Kernel panic" in end:
                    return "\n".join(report[:count])
            return "\n".join(report)
    return ""


def leaks(text, module, file, tools):
    """Blocks of kmemleak's list, which the guest puts in the log, about a module.

    tools: prefix of the names of the binutils that can read it.
    The module is gone by then, and its functions are bare addresses: the guest
    wrote before where it was ("rig: NAME at ADDRESS size BYTES").
    """
    place = re.search(rf"rig: {module} at 0x([0-9a-f]+) size (\d+)", text)
    if not place:
        return ""
    text_start = int(place[1], 16)
    addresses = range(text_start, text_start + int(place[2]))
    found = []
    for block in re.findall(r"^unreferenced object .*\n(?:^ .*\n)*", text, re.M):
        ours = [word for word in re.findall(r"0x([0-9a-f]{16})$", block, re.M)
                if int(word, 16) in addresses]
        for word in ours:
            name = _function(tools, file, int(word, 16) - text_start)
            block = block.replace(f"0x{word}", f"{name} [{module}]")
        if ours:
            found.append(block)
    return "".join(found)


def _function(tools, module, offset):
    """The function, file and line at this offset of a module's code."""
    # The frame is where the call returns to, which may be on the next line.
    output = subprocess.run([f"{tools}addr2line", "-fspe", module, "-j", ".text",
                             hex(offset - 1)], capture_output=True, text=True,
                            check=False).stdout.strip()
    return output or f".text+{offset:#x}"
