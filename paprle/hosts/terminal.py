"""What the operator did at the keyboard: per-kind counters, so that nothing is lost."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import termios
import threading
import tty
from collections.abc import Iterable
from typing import Any

from paprle.contracts.types import Actions

KEYS: dict[str, str] = {
    "\r": "engage",
    "\n": "engage",
    " ": "stop",
    "n": "next_episode",
    "x": "discard",
    "c": "clear",
    "q": "quit",
}
"""Keys of any session; all others go to the leader."""

_SEQUENCE = re.compile(rb"\x1b[\[O][0-9;]*[@-~]|.", re.DOTALL)

HELP = "Enter engage/pause · Space STOP · n next · x discard · c clear a stop · q quit"


class Operator:
    """Reads the terminal in a thread of its own; keys not bound go elsewhere.

    Attributes:
        is_interactive: There is a terminal to read.
    """

    def __init__(self) -> None:
        # an append cannot be interrupted, neither by a thread nor by a signal
        self._pressed: dict[str, list[None]] = {name: [] for name in Actions._fields}
        self._forward_fds: list[int] = []
        self._wake_read, self._wake_write = os.pipe()
        self._thread: threading.Thread | None = None
        self._saved: list[Any] | None = None
        self.is_interactive = sys.stdin is not None and sys.stdin.isatty()

    @property
    def actions(self) -> Actions:
        """What was asked for so far."""
        return Actions(*(len(presses) for presses in self._pressed.values()))

    def forward_to(self, fds: Iterable[int]) -> None:
        """Send keys that are not the session's to these descriptors."""
        self._forward_fds = list(fds)

    def add(self, action: str) -> None:
        """Count an action; safe from any thread and from signal handlers."""
        self._pressed[action].append(None)

    def open(self) -> None:
        """Start reading single keys, if there is a terminal."""
        if not self.is_interactive:
            return
        fd = sys.stdin.fileno()
        self._saved = termios.tcgetattr(fd)
        tty.setcbreak(fd)  # Ctrl-C still makes a signal
        self._thread = threading.Thread(target=self._read_keys, name="keys")
        self._thread.start()

    def close(self) -> None:
        """Stop reading and give the terminal back as it was; may be called twice."""
        if self._thread is not None:
            os.write(self._wake_write, b"x")
            self._thread.join(timeout=1.0)
            self._thread = None
        saved, self._saved = self._saved, None
        if saved is None:
            return
        # TCSANOW: a terminal that was closed or is stopped drains nothing
        with contextlib.suppress(OSError, termios.error):  # gone: nothing to give back
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, saved)

    def _read_keys(self) -> None:
        fd = sys.stdin.fileno()
        while True:
            readable, _, _ = select.select([fd, self._wake_read], [], [])
            if self._wake_read in readable:
                return
            try:
                data = os.read(fd, 64)
            except OSError:
                return  # the terminal was closed, as a SIGHUP has told
            if not data:
                return
            self.take_keys(data)

    def take_keys(self, data: bytes) -> None:
        """Count the session's keys in these bytes and hand the rest to the leaders."""
        rest = bytearray()
        for part in _SEQUENCE.findall(data):
            action = KEYS.get(part.decode(errors="replace"))
            if action is None:
                rest += part  # an arrow or function key stays one sequence
            else:
                self.add(action)
        if rest:
            self._forward(bytes(rest))

    def _forward(self, data: bytes) -> None:
        _, writable, _ = select.select([], self._forward_fds, [], 0)
        for fd in writable:
            try:
                os.write(fd, data)
            except OSError:
                self._forward_fds.remove(fd)  # it is gone, as its pipe has told
