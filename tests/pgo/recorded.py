# SPDX-License-Identifier: GPL-2.0-only
"""Records programs in VMs, by bursts and by branch records."""
import shlex

import boot
from subjects import OUT, Failed

WINDOW = 32         # branches, of a burst and of a CPU's records
COUNTS = (20000, 120000)
# The machine of each source. Time is instructions for bursts, so that their number
# does not depend on the load.
MACHINES = {
    "bursts": ["--pmu", "none", "--icount", "--smp", "1"],
    "records": ["--pmu", "lbr"],
}


def counts(one):
    """Returns the numbers of branches that are recorded of a program."""
    return [branches for branches in COUNTS if branches < one.taken]


def event(one, source, branches):
    """Returns hwprof record's options for so many branches of a program."""
    if source == "bursts":
        period = boot.NS_PER_INSTRUCTION * one.instructions * WINDOW // branches
        return f"-e edges,step,burst={WINDOW},memory_mib=64 -c {period}"
    return f"-e edges,lbr,memory_mib=64 -c {one.taken * WINDOW // branches}"


def line(one, source, branches):
    """Returns a line of shell that makes a recording."""
    program = one.program
    command, stdin = program.command(program.base, "train")
    variables = shlex.join(f"{name}={value}" for name, value in
                           program.environment.items())
    out = f"/out/{program.recording(source, branches)}"
    return (f"{f'export {variables}; ' * bool(variables)}"
            f"hwprof record -q -m 2048 -o {out}.data "
            f"{event(one, source, branches)} -- "
            f"{shlex.join(map(str, command))} < {stdin} > {out}.output")


def files(program):
    """Returns what it needs in the guest."""
    (binary, *arguments), stdin = program.command(program.base, "train")
    read = {word for word in (*arguments, stdin)
            if str(word).startswith("/") and (OUT / word).is_file()}
    return {binary, *read, *program.reads}


def record_from(source, measured):
    lines = [(one.program.name, line(one, source, branches))
             for one in measured for branches in counts(one)]
    vm = boot.start(OUT, lines, set().union(*(files(one.program)
                                              for one in measured)),
                    *MACHINES[source], "--timeout", "3000", first=[boot.UNLIMITED])
    if vm.wait():
        raise Failed(f"{source}: recording in the VM failed")
    for one in measured:
        for branches in counts(one):
            name = one.program.recording(source, branches)
            if (OUT / f"{name}.output").read_text() != one.expected["train"]:
                raise Failed(f"{name} does other things in the VM")


def record(measured):
    """Makes the recordings of programs, each source's in one boot."""
    (OUT / "in").mkdir(exist_ok=True)
    for source in MACHINES:
        record_from(source, measured)
