# SPDX-License-Identifier: GPL-2.0-only
"""Installs the packages of Debian and npm that pages are tested with."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = TOP / "tests/page"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                     pathlib.Path.home() / ".cache") / "hwprof"


def skip(why):
    print(f"1..1\nok 1 - pages in a browser # SKIP {why}")
    sys.exit(0)


def install():
    """Installs all of them; returns the folder of npm's."""
    if subprocess.run([TOP / "tests/vm/install", "build", "page"]).returncode:
        skip("chromium and node-d3 cannot be installed")
    if not shutil.which("npm"):
        subprocess.run([TOP / "tests/vm/install", "npm"])
    if not shutil.which("npm"):
        skip("there is no npm, which brings playwright-core and eslint")
    wanted = (HERE / "package.json").read_bytes()
    folder = CACHE / f"page-{hashlib.sha256(wanted).hexdigest()[:16]}"
    if not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_bytes(wanted)
        if subprocess.run(["npm", "install", "--silent", "--no-audit",
                           "--no-fund"], cwd=folder,
                          stdout=sys.stderr).returncode:
            skip("npm cannot install playwright-core and eslint")
    return folder / "node_modules"


def lint(modules, *paths):
    """Checks scripts. Returns the exit status of eslint."""
    return subprocess.run([modules / ".bin/eslint", "--no-eslintrc", "-c",
                           HERE / "eslint.json", *paths], cwd=TOP,
                          stdout=sys.stderr).returncode


def drive(modules, script, folder, **more):
    """Runs a script that drives the browser. Returns its exit status."""
    return subprocess.run(["node", HERE / script, folder],
                          env={**os.environ, "NODE_PATH": str(modules), **more}
                          ).returncode
