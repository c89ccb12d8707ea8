# SPDX-License-Identifier: GPL-2.0-only
"""Programs in the emulator, observed by a plugin (plugin.h)."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
# The plugin writes to file 200. The shell adds variables with the folder's name,
# whose length would move the program's stack.
SCRIPT = 'exec 200>&1 > /dev/null; unset PWD OLDPWD; exec "$@"'


def feed(plugin, command, environment, folder, reader):
    """Feeds the plugin's output about the command to @reader. Returns the reader's output,
    or '' if either fails.

    plugin: its name and arguments, as "loads.so,most=100".
    """
    process = subprocess.Popen(reader, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    traced = subprocess.run(
        ["bash", "-c", SCRIPT, "bash",
         "qemu-x86_64", "-plugin", f"{TOP}/build/{plugin}", *command],
        stdout=process.stdin, env=environment, cwd=folder, check=False)
    process.stdin.close()
    said = process.stdout.read()
    return said if process.wait() == traced.returncode == 0 else ""
