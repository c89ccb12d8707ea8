#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Connections go through vm --forward: both of its ends are tried on this machine,
with a terminal in place of the virtio console. Exit status 1: some failed.

usage: forward-test.py RELAY"""
import concurrent.futures
import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
import tty

sys.dont_write_bytecode = True
from rig.error import RigError      # noqa: E402
from rig.forward import Forward     # noqa: E402

BYTES = os.urandom(1 << 20)
HASTY, SILENT, LONG, ENDLESS, DEAF = b"h", b"s", b"l", b"e", b"d"


def start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answer(client):
    """A server: what it does is up to the first byte."""
    with client, contextlib.suppress(OSError):
        wish = client.recv(1)
        while wish == ENDLESS:
            client.sendall(BYTES)
        if wish == LONG:
            client.sendall(BYTES)
        elif wish == SILENT:
            client.recv(1)
        elif wish == DEAF:
            time.sleep(1000)
        elif wish != HASTY:
            client.sendall(wish + client.recv(100))


def serve(listener):
    while True:
        client, _ = listener.accept()
        start(answer, client)


def connect_ends(relay, forward, target):
    """A terminal passes bytes between this end and the guest's."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    ours, theirs = socket.socketpair()

    def guest_to_host():
        while data := os.read(master, 4096):
            theirs.sendall(data)

    def host_to_guest():
        while data := theirs.recv(4096):
            while data:
                data = data[os.write(master, data):]

    start(guest_to_host)
    start(host_to_guest)
    forward.serve(ours)
    return subprocess.Popen([relay, os.ttyname(slave), str(target)])


def ask(port, wish):
    """All that the server says."""
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(wish)
        said = b""
        while data := server.recv(1 << 16):
            said += data
        return said


def flood(port):
    """Sends to a server that reads nothing."""
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(DEAF)
            while True:
                server.sendall(BYTES)


def wait_for_ready(port):
    for _ in range(600):
        with contextlib.suppress(ConnectionRefusedError):
            return ask(port, HASTY)
        time.sleep(0.1)
    raise TimeoutError("the relay is not ready")


def check_all(port):
    with concurrent.futures.ThreadPoolExecutor(100) as clients:
        words = [b"word %d" % number for number in range(1000)]
        assert list(clients.map(lambda word: ask(port, word), words)) == words
        assert set(clients.map(lambda _: ask(port, LONG), range(8))) == {BYTES}
    # Links whose client leaves, also in the middle of an answer, become free.
    for wish in 50 * [SILENT, LONG, ENDLESS]:
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(wish)
    # Ends that read nothing do not hold up the others for ever.
    start(flood, port)
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(ENDLESS)
        time.sleep(1)
        assert ask(port, b"word") == b"word"


def main():
    signal.alarm(300)       # what hangs has failed
    listener = socket.create_server(("127.0.0.1", 0))
    start(serve, listener)
    port, unserved = free_port(), free_port()
    relays = [connect_ends(sys.argv[1], Forward(port), listener.getsockname()[1])]
    wait_for_ready(port)
    try:
        Forward(port)
        return "a port that is taken can be forwarded"
    except RigError:
        pass
    check_all(port)
    port = free_port()
    relays.append(connect_ends(sys.argv[1], Forward(port), unserved))
    if wait_for_ready(port):
        return "a server that is not there answers"
    for relay in relays:
        relay.kill()
        relay.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
