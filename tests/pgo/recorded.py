# SPDX-License-Identifier: GPL-2.0-only
"""Records programs in a VM, by bursts and by branch records."""
import shlex

import boot
from subjects import OUT, Failed

WINDOW = 32         # branches, of a burst and of a CPU's records
COUNTS = (20000, 120000)
NS_PER_INSTRUCTION = 2
# The machine of each source. Time is instructions, so that the number of bursts
# does not depend on the load.
MACHINES = {
    "bursts": ["--pmu", "none", "--icount", "--smp", "1"],
    "records": ["--pmu", "lbr"],
}


def event(source, branches, size):
    """Returns hwprof record's options for so many branches of a program. size: how
    many branches it takes, and instructions.
    """
    taken, instructions = size
    if source == "bursts":
        period = NS_PER_INSTRUCTION * instructions * WINDOW // branches
        return f"-e edges,step,burst={WINDOW},memory_mib=64 -c {period}"
    return f"-e edges,lbr,memory_mib=64 -c {taken * WINDOW // branches}"


def name_of(program, source, branches):
    return f"{program.name}.{source}.{branches}"


def line(program, source, branches, size):
    """Returns a line of shell."""
    command, stdin = program.command(program.base, "train")
    variables = shlex.join(f"{name}={value}" for name, value in
                           program.environment.items())
    name = name_of(program, source, branches)
    return (f"{f'export {variables}; ' * bool(variables)}"
            f"hwprof record -q -m 2048 -o /out/{name}.data "
            f"{event(source, branches, size)} -- "
            f"{shlex.join(map(str, command))} < {stdin} > /out/{name}.output")


def record(measured):
    """Makes the recordings, each source's in one boot. measured: of program,
    (branches, instructions) and output.
    """
    (OUT / "in").mkdir(exist_ok=True)
    for source, machine in MACHINES.items():
        files = {OUT / program.base for program, *_ in measured}
        for program, *_ in measured:
            files |= {program.command(program.base, "train")[1], *program.reads,
                      *(word for word in program.inputs["train"][0]
                        if str(word).startswith("/") and word.is_file())}
        lines = [(program.name, line(program, source, branches, size))
                 for program, size, _ in measured for branches in COUNTS
                 if branches < size[0]]
        vm = boot.start(OUT, lines, files - {"/dev/null"}, *machine, "--timeout",
                        "3000", first=[boot.UNLIMITED])
        if vm.wait():
            raise Failed(f"{source}: recording in the VM failed")
        for program, size, expected in measured:
            for branches in COUNTS:
                output = OUT / f"{name_of(program, source, branches)}.output"
                if branches < size[0] and output.read_text() != expected:
                    raise Failed(f"{output.name} differs")
