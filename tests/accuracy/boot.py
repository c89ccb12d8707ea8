# SPDX-License-Identifier: GPL-2.0-only
"""Runs programs in the VM, all in one boot."""
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]

# The kernel accepts no rate once its own limit is off.
UNLIMITED = """echo 25 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 1000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent"""


def run(out, chosen, commands, files, options):
    """
    commands: of a program, lines of shell, to be run in /in, which is out/in here;
    what they write to /out is then in out. files: to be there. options: the VM's.
    """
    script = ["cd /in", UNLIMITED, "status=0"]
    for program in chosen:
        script += [f"({command}) || {{ echo {program.name}: status $? >&2; "
                   "status=1; }" for command in commands(program)]
    (out / "in/all.sh").write_text("\n".join([*script, "exit $status", ""]))
    files = sorted({*files, *(program.command[0] for program in chosen)}, key=str)
    subprocess.run(
        [TOP / "tests/vm/vm", "--kernel", "6.12", *options, "--mem", "3G",
         "--timeout", "900", "--out", out, "--file", f"{out}/in:/in",
         *(word for file in files for word in ("--file", file)),
         "--", "sh", "/in/all.sh"], stdout=sys.stderr, cwd=TOP, check=True)
