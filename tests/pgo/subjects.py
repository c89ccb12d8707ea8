# SPDX-License-Identifier: GPL-2.0-only
"""The programs that are optimised: Debian's sources, built by clang 16."""
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = TOP / "tests/pgo"
OUT = TOP / "build/pgo"
LINK = ["-no-pie", "-fuse-ld=lld", "-Wl,-q", "-Wl,--build-id=sha1"]
FLAGS = ["-O2", "-g", "-gdwarf-4", "-fdebug-info-for-profiling", "-w",
         "-fno-pie"]
INPUTS = ("train", "other")


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(word) for word in command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          errors="replace", text=True, **options)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}: "
                     f"{done.stderr.strip()[-300:]}")
    return done.stdout


class Program:
    """A program of some C files. inputs: for each, arguments and standard input.
    reads: files and folders that it reads beside.
    """
    environment = {}

    def __init__(self, name, sources, flags, inputs, reads=()):
        self.name, self.sources, self.flags, self.inputs, self.reads = \
            name, sources, flags, inputs, reads

    @property
    def base(self):
        """Names the program as the compiler makes it without a profile."""
        return f"{self.name}.base"

    def build(self, out, *flags):
        """Its objects are built one by one, two at a time."""
        (OUT / f"{out}.o").mkdir(exist_ok=True)
        objects = [OUT / f"{out}.o" / f"{source.stem}.o"
                   for source in self.sources]
        waiting = list(zip(self.sources, objects))
        while waiting:
            now, waiting = waiting[:2], waiting[2:]
            jobs = [subprocess.Popen(
                ["clang-16", *FLAGS, *self.flags, *flags, "-c", source, "-o",
                 target]) for source, target in now]
            if any([job.wait() for job in jobs]):
                raise Failed(f"{self.name} cannot be built")
        run("clang-16", *LINK, "-o", OUT / out, *objects, "-lm", "-ldl",
            "-lpthread")

    def command(self, binary, which):
        """Returns the program on an input: arguments, and what it reads."""
        arguments, stdin = self.inputs[which]
        return [OUT / binary, *arguments], stdin or "/dev/null"

    def recording(self, source, branches):
        """Names the recording of so many branches from a source."""
        return f"{self.name}.{source.replace(' ', '-')}.{branches}"


class Python(Program):
    """CPython, of which the interpreter alone is built, by its own makefile."""

    def __init__(self, sources):
        home = OUT / "python.home"
        super().__init__("python", [], [], {
            which: (["-S", HERE / f"inputs/{which}.py"], None)
            for which in INPUTS}, [home / "lib/python3.11"])
        self.sources = sources
        self.environment = {"PYTHONHOME": str(home), "PYTHONHASHSEED": "0",
                            "PYTHONDONTWRITEBYTECODE": "1"}

    def build(self, out, *flags):
        folder, home = OUT / f"{out}.o", OUT / "python.home/lib/python3.11"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.sources, folder, symlinks=True)
        # Its start needs these modules, which are written in Python.
        for module in "encodings", "codecs.py", "io.py", "abc.py", "os.py":
            run("mkdir", "-p", home)
            run("cp", "-rT", self.sources / "Lib" / module, home / module)
        run("make", "-C", folder, "-j2", "python", "CC=clang-16",
            f"OPT={' '.join([*FLAGS, *flags])}", f"LINKCC=clang-16 {' '.join(LINK)}")
        shutil.copy2(folder / "python", OUT / out)
        shutil.rmtree(folder)


def headers():
    """Returns those of the C library and the kernel, which tcc reads."""
    top = pathlib.Path("/usr/include")
    there = top / "x86_64-linux-gnu"
    return [*top.glob("*.h"), top / "linux", top / "asm-generic",
            *(there / name for name in ("asm", "bits", "gnu", "sys"))]


def find(sources):
    """Returns the programs by their names. sources: what the script of this name
    prints.
    """
    lua = sources / "lua5.4/src"
    sqlite, tcc = sources / "sqlite3", sources / "tcc"
    # Debian's build makes this header of lua's.
    (OUT / "include").mkdir(parents=True, exist_ok=True)
    (OUT / "include/lua5.4-deb-multiarch.h").write_text(
        '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
    tcc_flags = [f"-B{tcc}", f"-I{tcc}/include", f"-I{OUT}/include",
                 "-I/usr/include/x86_64-linux-gnu", "-nostdlib", "-c", "-o",
                 OUT / "tcc.out"]
    return {program.name: program for program in (
        Program(
            "sqlite3", [sqlite / "sqlite3.c", sqlite / "shell.c"],
            [f"-I{sqlite}", "-DSQLITE_THREADSAFE=0",
             "-DSQLITE_OMIT_LOAD_EXTENSION"],
            {which: ([":memory:"], HERE / f"inputs/{which}.sql")
             for which in INPUTS}),
        Program(
            "lua", sorted(set(lua.glob("*.c")) - {lua / "luac.c"}),
            ["-DLUA_USE_POSIX", f"-I{OUT}/include"],
            {which: ([HERE / f"inputs/{which}.lua"], None)
             for which in INPUTS}),
        Program(
            "tcc", [tcc / "tcc.c"], [f"-I{tcc}", "-DONE_SOURCE=1"],
            {"train": ([*tcc_flags, lua / "lvm.c"], None),
             "other": ([*tcc_flags, tcc / "tccpp.c"], None)},
            [tcc, lua, OUT / "include", *headers()]),
        Python(sources / "python3.11"),
    )}
