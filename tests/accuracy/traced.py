# SPDX-License-Identifier: GPL-2.0-only
"""Programs in the emulator, observed by a plugin (plugin.h)."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
# The plugin writes to file 200. The shell adds variables with the folder's name,
# whose length would move the program's stack.
SCRIPT = 'exec 200>&1 > /dev/null; unset PWD OLDPWD; exec "$@"'


def start(plugin, command, environment, folder, output):
    """Starts the command. Returns its process; the plugin writes to @output.

    plugin: its name and arguments, as "loads.so,most=100".
    """
    return subprocess.Popen(
        ["bash", "-c", SCRIPT, "bash",
         "qemu-x86_64", "-plugin", f"{TOP}/build/{plugin}", *command],
        stdout=output, env=environment, cwd=folder)


def feed(plugin, command, environment, folder, reader):
    """Feeds the plugin's output about the command to @reader. Returns the reader's output,
    or '' if either fails.
    """
    process = subprocess.Popen(reader, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    traced = start(plugin, command, environment, folder, process.stdin).wait()
    process.stdin.close()
    said = process.stdout.read()
    return said if process.wait() == traced == 0 else ""
