# SPDX-License-Identifier: GPL-2.0-only
"""Runs programs in the VM, all in one boot."""
import pathlib
import shlex
import subprocess
import sys

import programs

TOP = pathlib.Path(__file__).resolve().parents[2]

# On a machine with --icount; see tests/bench/icount.h.
NS_PER_INSTRUCTION = 2

# The kernel accepts no rate once its own limit is off.
UNLIMITED = """echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent"""


def start(out, lines, files, *options, first=(), kernel="6.12"):
    """Starts a boot. Returns the process of the VM, which ends with 0 if all lines do.

    lines: of shell, as (name of the program, line), in the folder /in, which is out/in
    here. Files that they write to /out are then in out. first: lines before them.
    files: to be there. options: the VM's.
    """
    script = ["cd /in", *first, "status=0"]
    script += [f"({line}) || {{ echo {name}: status $? >&2; status=1; }}"
               for name, line in lines]
    (out / "in/all.sh").write_text("\n".join([*script, "exit $status", ""]))
    return subprocess.Popen(
        [TOP / "tests/vm/vm", "--kernel", kernel, "--mem", "3G", "--timeout",
         "900", *options, "--out", out, "--file", f"{out}/in:/in",
         *(word for file in sorted(files, key=str) for word in ("--file", file)),
         "--", "sh", "/in/all.sh"], stdout=sys.stderr, cwd=TOP)


def run(out, chosen, commands, files, options):
    """Runs programs that are sampled; ends the test if that fails. commands: of a
    program, lines of shell.
    """
    files = {*files, *(program.command[0] for program in chosen)}
    lines = [(program.name, command) for program in chosen
             for command in commands(program)]
    vm = start(out, lines, files, *options, first=[UNLIMITED])
    if vm.wait():
        print("Bail out! Recording in the VM failed")
        sys.exit(1)


# --- programs that are fully stepped ------------------------------------------

def stepped(program, name, events, variables=None, output="/dev/null", pages=2048):
    """Returns a line of shell that records the program to /out/name."""
    if variables is None:
        variables = [f"{k}={v}" for k, v in program.environment().items()]
    words = [word for event in events for word in ("-e", event)]
    return (f'env -i {shlex.join(variables)} "$(command -v hwprof)" record -q '
            f"-m {pages} -o /out/{name} {shlex.join(words)} "
            f"-- {shlex.join(program.command)} > {output}")


def record(tap, out, chosen, events, *options):
    """Records each program once, in one boot, and checks that this works."""
    vm = start(out, [(program.name, stepped(program, program.name, events))
                     for program in chosen],
               {program.command[0] for program in chosen}, *options)
    tap.check(["a program or the guest failed"] * bool(vm.wait()), "recorded")


class Judge:
    """A test that compares recordings with exact counts, by the program exact_NAME."""

    def __init__(self, name, text):
        self.out = TOP / f"build/accuracy-{name}"
        self.program = f"build/exact_{name}"
        self.chosen = programs.parse(programs.parser(f"{name} [PROGRAM...]",
                                                     text)).chosen

    def prepare(self):
        """Writes the inputs, and builds what the test needs."""
        (self.out / "in").mkdir(parents=True, exist_ok=True)
        programs.write(self.out / "in")
        subprocess.run(["make", "-s", "build/hwprof", "build/6.12/hwprof.ko",
                        self.program], check=True, cwd=TOP)

    def judge(self, program, *options):
        """Returns what is wrong with a recording, and the last line that is said."""
        done = subprocess.run([TOP / self.program, *options, self.out / program.name],
                              stdout=subprocess.PIPE, text=True)
        *wrong, said = done.stdout.splitlines() or ["no result"]
        return wrong or ["failed"] * bool(done.returncode), said

    def check(self, tap, program):
        wrong, said = self.judge(program)
        tap.check(wrong, f"{program.name}: {said}")
