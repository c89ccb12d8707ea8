# SPDX-License-Identifier: GPL-2.0-only
"""The profiled programs: Debian's, of different kinds, with small inputs.

Each does the same in each run, independent of clocks, random numbers and addresses.
"""
import argparse
import os
import random
from dataclasses import dataclass

LIBRARIES = "/usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class Program:
    name: str
    kind: str
    command: list
    libraries: tuple = ()   # its own: compared as the program itself is
    threads: bool = False   # which of them does what is left to chance
    variables: tuple = ()   # besides those of all

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/",
                **dict(self.variables)}

    def objects(self):
        """Returns the objects by the names of the kernel and callgrind: without symbolic
        links.
        """
        return [os.path.realpath(file) for file in (
            self.command[0], *(f"{LIBRARIES}/{name}" for name in self.libraries))]


# Random hash seeds, and code chosen for the CPU, would differ between here and
# the VM, so they are fixed. Threads may bind a symbol twice, unless all are
# bound before there are threads. Which thread of pigz takes a block, and whose
# memory it takes, is random, so there is only one block.
PROGRAMS = {program.name: program for program in (
    Program("bzip2", "compressor", ["/usr/bin/bzip2", "-c", "text"],
            ("libbz2.so.1.0",)),
    Program("perl", "interpreter", ["/usr/bin/perl", "words.pl", "text"],
            variables=(("PERL_HASH_SEED", "0"), ("PERL_PERTURB_KEYS", "0"))),
    # By default, the buffer depends on how much memory is free.
    Program("sort", "sorter",
            ["/usr/bin/sort", "--parallel=1", "-S", "2M", "lines"]),
    Program("cjpeg", "image coder", ["/usr/bin/cjpeg", "image.ppm"],
            ("libjpeg.so.62",), variables=(("JSIMD_FORCENONE", "1"),)),
    Program("cmark", "parser", ["/usr/bin/cmark", "page.md"]),
    Program("sqlite3", "database shell",
            ["/usr/bin/sqlite3", "-init", "join.sql", ":memory:", ".quit"],
            ("libsqlite3.so.0",)),
    Program("lzip", "C++", ["/usr/bin/lzip", "-c", "short"]),
    Program("pigz", "threads",
            ["/usr/bin/pigz", "-1", "-p", "2", "-n", "-c", "long"],
            threads=True, variables=(("LD_BIND_NOW", "1"),)),
)}

FILES = {
    "words.pl": """
my %count;
while (<>) { $count{lc $1}++ while /([a-z]+)/gi; }
print "$_ $count{$_}\\n" for sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
""",
    "join.sql": """
create table a(x integer primary key, y integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
  insert into a select i, i * 7919 % 151 from n;
select count(*), sum(b.y) from a join a as b on a.y = b.x where b.y % 3 = 1;
select y, group_concat(x) from a group by y having count(*) > 3 order by y desc;
""",
}


def parser(usage, text, recorded=False):
    """Returns a parser of a test's arguments. text: the test's own, of which the first
    line is left out. recorded: whether it can judge an earlier run.
    """
    made = argparse.ArgumentParser(
        usage=usage, description=text.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    if recorded:
        made.add_argument("--recorded", action="store_true",
                          help="judge what the last run recorded")
    return made


def parse(made, known=None, arguments=None):
    """Returns the options. `programs` are the names that were given; `chosen` are these
    programs, or all that are known.
    """
    known = known or PROGRAMS
    made.add_argument("programs", nargs="*", metavar="PROGRAM",
                      help=f"default: all, {' '.join(known)}")
    options = made.parse_args(arguments)
    for name in options.programs:
        if name not in known:
            made.error(f"there is no program {name}; "
                       f"there are {', '.join(known)}")
    options.chosen = [known[name] for name in options.programs or known]
    return options


def write(folder, times=1):
    """Writes inputs, the same every time; all but the shell's are so many times as long."""
    draw = random.Random(1)
    words = "the of loop branch trip count entry head tail of a in is".split()

    def text(size):
        parts, length = [], 0
        while length < size:
            parts += draw.choice(words), draw.choice(" \n  ,")
            length += len(parts[-2]) + 1
        return "".join(parts)

    def markdown(count):
        forms = ("# %s\n", "- %s\n", "*%s*, **%s**\n", "> %s\n", "[%s](/%s)\n",
                 "    %s\n", "%s `%s`\n\n", "%s &amp; %s\n")
        for _ in range(count):
            form = draw.choice(forms)
            yield form % tuple(draw.choice(words) for _ in range(form.count("%")))

    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "text").write_text(text(5000 * times))
    (folder / "short").write_text(text(3000 * times))
    (folder / "long").write_text(text(80000 * times))
    (folder / "page.md").write_text("".join(markdown(600 * times)))
    (folder / "lines").write_text("".join(
        f"{draw.randrange(10**6)}\n" for _ in range(3000 * times)))
    pixels = bytes(draw.randrange(256) for _ in range(160 * 160 * times * 3))
    (folder / "image.ppm").write_bytes(b"P6 160 %d 255\n" % (160 * times) + pixels)


def write_long(folder, times):
    """Writes the same inputs; also the shell's is so many times as long."""
    write(folder, times)
    (folder / "join.sql").write_text(
        FILES["join.sql"].replace("i < 200", f"i < {200 * times}"))
