# SPDX-License-Identifier: GPL-2.0-only
"""The profiled programs: Debian's, of different kinds, with small inputs."""
import random

# name: (kind, command, objects of its own, files the guest needs beside them)
PROGRAMS = {
    "bzip2": ("compressor", ["/usr/bin/bzip2", "-c", "text"],
              ["/usr/bin/bzip2", "libbz2.so"], []),
    "perl": ("interpreter", ["/usr/bin/perl", "words.pl", "text"],
             ["/usr/bin/perl"], []),
    "sort": ("sorter", ["/usr/bin/sort", "lines"], ["/usr/bin/sort"], []),
    "cjpeg": ("image coder", ["/usr/bin/cjpeg", "image.ppm"],
              ["/usr/bin/cjpeg", "libjpeg.so"], []),
    "jq": ("parser", ["/usr/bin/jq", "-c", "map(.n * 2)", "list.json"],
           ["/usr/bin/jq", "libjq.so"], []),
    "sqlite3": ("database shell",
                ["/usr/bin/sqlite3", "-init", "join.sql", ":memory:", ".quit"],
                ["/usr/bin/sqlite3", "libsqlite3.so"], []),
    "re2c": ("C++", ["/usr/bin/re2c", "-o", "/dev/null", "lexer.re"],
             ["/usr/bin/re2c"], []),
    "pigz": ("threads", ["/usr/bin/pigz", "-p", "2", "-n", "-c", "long"],
             ["/usr/bin/pigz"], []),
}

# The same here and there, so that both run the same code.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/", "JSIMD_FORCENONE": "1",
    "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0",
}

FILES = {
    "words.pl": """
my %count;
while (<>) { $count{lc $1}++ while /([a-z]+)/gi; }
print "$_ $count{$_}\\n" for sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
""",
    "join.sql": """
create table a(x integer primary key, y integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
  insert into a select i, i * 7919 % 151 from n;
select count(*), sum(b.y) from a join a as b on a.y = b.x where b.y % 3 = 1;
""",
    "lexer.re": """
int lex(const char *YYCURSOR) {
/*!re2c
  re2c:define:YYCTYPE = char; re2c:yyfill:enable = 0;
  [a-z]+      { return 1; }
  [0-9]+ "." [0-9]* | "." [0-9]+ { return 2; }
  "if" | "else" { return 3; }
  *           { return 0; }
*/
}
""",
}


def write(folder):
    """Inputs, the same every time."""
    draw = random.Random(1)
    words = "the of loop branch trip count entry head tail of a in is".split()

    def text(size):
        out = ""
        while len(out) < size:
            out += draw.choice(words) + draw.choice(" \n  ,")
        return out

    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "text").write_text(text(4000))
    (folder / "long").write_text(text(40000))
    (folder / "lines").write_text("".join(
        f"{draw.randrange(10**6)}\n" for _ in range(1000)))
    (folder / "list.json").write_text(
        "[" + ",".join(f'{{"n":{i},"s":"x{i}"}}' for i in range(20)) + "]")
    pixels = bytes(draw.randrange(256) for _ in range(32 * 32 * 3))
    (folder / "image.ppm").write_bytes(b"P6 32 32 255\n" + pixels)
