# SPDX-License-Identifier: GPL-2.0-only
"""The programs whose loads are tested, and their loads from the emulator."""
import pathlib
import subprocess
import sys

import programs
import traced

# Each suite has its own folder, since several run at a time.
INPUTS = traced.TOP / f"build/accuracy-{pathlib.Path(sys.argv[0]).name}"
TIMES = 8                   # as long as the other tests' inputs

COMPILER = sorted(pathlib.Path("/usr/lib/gcc/x86_64-linux-gnu").glob("*/cc1"))[0]
COMMANDS = {
    "gzip": ["/usr/bin/gzip", "-c", "long"],
    "bzip2": ["/usr/bin/bzip2", "-c", "text"],
    "xz": ["/usr/bin/xz", "-T1", "-c", "text"],
    "sort": programs.PROGRAMS["sort"].command,
    "perl": programs.PROGRAMS["perl"].command,
    "sqlite3": ["/usr/bin/sqlite3", "-init", "joins.sql", ":memory:", ".quit"],
    "python3": ["/usr/bin/python3", "-S", "-c",
                "import json; print(len(json.dumps([str(i * i % 7) + 'x' "
                "for i in range(20000)])))"],
    "cc1": [str(COMPILER), "-quiet", "-O2", "unit.c", "-o", "/dev/stdout"],
}


def parse(usage, text, arguments):
    """Returns the names of the programs that the arguments choose."""
    parser = programs.parser(usage, text)
    return (programs.parse(parser, COMMANDS, arguments).programs or
            list(COMMANDS))


def write():
    """Writes the inputs, and builds the plugin that records loads."""
    subprocess.run(["make", "-s", "build/loads.so"], check=True,
                   cwd=traced.TOP)
    INPUTS.mkdir(parents=True, exist_ok=True)
    programs.write(INPUTS, TIMES)
    (INPUTS / "joins.sql").write_text(
        programs.FILES["join.sql"].replace("i < 200", "i < 4000") +
        "select count(distinct y), avg(x) from a where x % 7 < 3;")
    # Input of a compiler: many functions of different kinds.
    (INPUTS / "unit.c").write_text("".join(f"""
struct s{i} {{ int a, b[{i % 7 + 1}]; struct s{i} *next; }};
int f{i}(struct s{i} *s, int n)
{{
	int i, sum = {i};
	for (i = 0; i < n && s; i++, s = s->next) {{
		if (s->a % {i + 2} == {i % 3}) sum += s->b[i % {i % 7 + 1}] * n;
		else sum ^= s->a << {i % 5};
		switch (sum & 3) {{ case 0: sum--; case 2: sum *= {i + 3}; }}
	}}
	return sum;
}}
""" for i in range(60)))


def environment(name):
    program = programs.PROGRAMS.get(name)
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/",
            "PYTHONHASHSEED": "0", **dict(program.variables if program else ())}


def feed(name, most, command):
    """Gives the command the program's loads, so many at most; its output, or ''."""
    return traced.feed(f"loads.so,most={most}", COMMANDS[name],
                       environment(name), INPUTS, command)
