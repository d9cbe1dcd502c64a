"""Stand-in for a maker's SDK: calls wait, and a lost controller's last state stays."""

import socket
import struct
import threading
from contextlib import suppress
from typing import NamedTuple

_STATE = struct.Struct("<4sdHHd6d6d6d")


class SextantError(RuntimeError):
    """Refused or unanswered call."""


class State(NamedTuple):
    time: float
    mode: int
    error: int
    speed: float
    q: tuple
    dq: tuple
    tau: tuple


class Client:
    def __init__(self, host, timeout=0.5):
        self.state, self.is_connected = None, True
        self._calls = socket.create_connection((host, 7700), timeout)
        self._answers = self._calls.makefile("r", encoding="ascii")
        self._states = socket.create_connection((host, 7701), timeout)
        self._states.settimeout(None)  # a silent controller is waited for
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, *words):
        with self._lock:
            try:
                self._calls.sendall((" ".join(map(str, words)) + "\n").encode())
                kind, _, rest = self._answers.readline().strip().partition(" ")
            except (OSError, ValueError) as err:
                self.is_connected = False
                raise SextantError(f"{words[0]}: {err}") from err
        if kind != "OK":
            raise SextantError(f"{words[0]}: {rest or 'connection closed'}")
        return rest

    def close(self):
        for node in (self._calls, self._states):
            with suppress(OSError):
                node.shutdown(socket.SHUT_RDWR)
            node.close()

    def _read(self):
        with suppress(OSError):
            size = _STATE.size
            while len(data := self._states.recv(size, socket.MSG_WAITALL)) == size:
                _, *head = _STATE.unpack(data)
                self.state = State(*head[:4], head[4:10], head[10:16], head[16:])
        self.is_connected = False
