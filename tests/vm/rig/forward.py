# SPDX-License-Identifier: GPL-2.0-only
"""Connections to a TCP port of this machine, passed on to one of the guest.

All connections share one port of the virtio console.  Each is a link with a
number.  guest/relay.c is the other end.  Both ends send frames: the link, what
happens to it, and the size of the bytes that follow.  The guest's first frame
says that it is ready.  This end opens a link, each end closes it once, and its
number is free when both have.
"""

import contextlib
import socket
import struct
import threading

from rig.error import USAGE, RigError

_FRAME = struct.Struct("<BBH")
_READY, _OPEN, _DATA, _CLOSE = range(4)
_LINKS = 64
_MOST = 4096

# A client that reads nothing for so long is dropped, since others wait for it.
_PATIENCE = struct.pack("ll", 10, 0)


def _start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


class Forward:
    def __init__(self, port):
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise RigError(USAGE, f"port {port} of this machine cannot be "
                           f"forwarded: {error.strerror}") from error
        self._channel = None
        self._sending = threading.Lock()
        self._clients = {}              # of the links, by number
        self._half_closed = set()       # numbers of links
        self._changing = threading.Lock()
        self._room = threading.Semaphore(_LINKS)

    def serve(self, channel):
        """Pass connections on over this socket, once the guest is ready."""
        self._channel = channel
        _start(self._hear)

    def _hear(self):
        # A machine that is killed may break the channel off.
        with contextlib.suppress(OSError), self._channel.makefile("rb") as frames:
            while len(head := frames.read(_FRAME.size)) == _FRAME.size:
                number, kind, size = _FRAME.unpack(head)
                data = frames.read(size)
                if kind == _READY:
                    self._listener.listen()
                    _start(self._accept)
                elif kind == _DATA:
                    self._give(number, data)
                elif kind == _CLOSE:
                    self._hang_up(number)
                    self._closed(number)

    def _accept(self):
        while True:
            self._room.acquire()
            client, _ = self._listener.accept()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _PATIENCE)
            with self._changing:
                number = min(set(range(_LINKS)) - self._clients.keys())
                self._clients[number] = client
            self._send(number, _OPEN)
            _start(self._pass_on, number, client)

    def _pass_on(self, number, client):
        with contextlib.suppress(OSError):
            while data := client.recv(_MOST):
                self._send(number, _DATA, data)
        self._send(number, _CLOSE)
        self._closed(number)

    def _give(self, number, data):
        try:
            self._clients[number].sendall(data)
        except OSError:
            self._hang_up(number)

    def _hang_up(self, number):
        """The client gets what it was sent; its thread then closes this end."""
        with contextlib.suppress(OSError):
            self._clients[number].shutdown(socket.SHUT_RDWR)

    def _closed(self, number):
        """One end has closed the link."""
        with self._changing:
            if number not in self._half_closed:
                self._half_closed.add(number)
                return
            self._half_closed.remove(number)
            self._clients.pop(number).close()
        self._room.release()

    def _send(self, number, kind, data=b""):
        # A machine that has stopped takes nothing more; the runner ends, too.
        with self._sending, contextlib.suppress(OSError):
            self._channel.sendall(_FRAME.pack(number, kind, len(data)) + data)
