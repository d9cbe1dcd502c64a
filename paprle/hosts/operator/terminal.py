"""The operator's keyboard: actions, tasks and notes."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paprle.contracts.operator.actions import OPERATOR_KEYS
from paprle.contracts.types import Actions

_BYTES = {"Enter": "\r\n"}
"""Letters that a terminal sends for a key, where they are not its name."""
KEYS: dict[str, str] = {
    letter: row.name
    for row in OPERATOR_KEYS
    if row.place != "field"
    for letter in _BYTES.get(row.key, row.key)
}
"""Keys of any session; all others go to the leader."""

_SEQUENCE = re.compile(rb"\x1b[\[O][0-9;]*[@-~]|.", re.DOTALL)

_TYPING: dict[bytes, str] = {
    row.key.encode(): row.name for row in OPERATOR_KEYS if row.place == "field"
}
"""Keys that begin a text while nothing moves."""
_LONGEST_TEXT = 200  # chosen: a sentence
_SPACE, _ENTER, _ERASE, _ESCAPE = 0x20, b"\r\n", b"\x7f\b", 0x1B

SPEECH_KEY = "v"
HELP = " · ".join(
    [*(f"{row.cap} {row.help}" for row in OPERATOR_KEYS), f"{SPEECH_KEY} speech"]
)


class Operator:
    """Reads the terminal in a thread; unbound keys are forwarded."""

    def __init__(self) -> None:
        self._may_type: Callable[[], bool] = lambda: False
        self._takers: Mapping[str, Callable[[str], None]] = {}
        self._switches: Mapping[str, Callable[[], None]] = {}
        self.typing = ""
        self._typed: bytearray | None = None
        # an append cannot be interrupted, neither by a thread nor by a signal
        self._pressed: dict[str, list[None]] = {name: [] for name in Actions._fields}
        self._forward_fds: list[int] = []
        self._wake_read, self._wake_write = os.pipe()
        self._thread: threading.Thread | None = None
        self._saved: list[Any] | None = None
        self.is_interactive = sys.stdin is not None and sys.stdin.isatty()

    @property
    def draft(self) -> str | None:
        """The unfinished text; None if there is none."""
        typed = self._typed
        return None if typed is None else typed.decode(errors="ignore")

    @property
    def actions(self) -> Actions:
        """Counters of the requested actions."""
        return Actions(*(len(presses) for presses in self._pressed.values()))

    def let_type(
        self, may_type: Callable[[], bool], takers: Mapping[str, Callable[[str], None]]
    ) -> None:
        """Enable typing while nothing moves."""
        self._may_type, self._takers = may_type, takers

    def let_switch(self, switches: Mapping[str, Callable[[], None]]) -> None:
        """Call these functions at their letters."""
        self._switches = switches

    def forward_to(self, fds: Iterable[int]) -> None:
        """Forward unbound keys to these descriptors."""
        self._forward_fds = list(fds)

    def add(self, action: str) -> None:
        """Count an action; safe from threads and signal handlers."""
        self._pressed[action].append(None)

    def open(self) -> None:
        """Start reading keys, if there is a terminal."""
        if not self.is_interactive:
            return
        fd = sys.stdin.fileno()
        self._saved = termios.tcgetattr(fd)
        tty.setcbreak(fd)  # Ctrl-C still makes a signal
        self._thread = threading.Thread(target=self._read_keys, name="keys")
        self._thread.start()

    def close(self) -> None:
        """Stop and restore the terminal; repeatable."""
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
        """Count the session's keys and forward the rest."""
        rest = bytearray()
        for part in _SEQUENCE.findall(data):
            if self._type(part):
                continue
            letter = part.decode(errors="replace")
            action = KEYS.get(letter)
            if letter in self._switches:
                self._switches[letter]()
            elif action is None:
                rest += part  # an arrow or function key stays one sequence
            else:
                self.add(action)
        if rest:
            self._forward(bytes(rest))

    def _type(self, part: bytes) -> bool:
        if not self._may_type():
            self._typed = None
            return False
        if self._typed is None:
            is_begun = _TYPING.get(part) in self._takers
            if is_begun:
                self.typing, self._typed = _TYPING[part], bytearray()
            return is_begun
        if part in _ENTER:
            self._takers[self.typing](self._typed.decode(errors="ignore").strip())
            self._typed = None
        elif part[0] == _ESCAPE:
            self._typed = None
        elif part in _ERASE:
            self._typed = bytearray(self._typed.decode(errors="ignore")[:-1].encode())
        elif part[0] >= _SPACE and len(self._typed) < _LONGEST_TEXT:
            self._typed += part
        return True

    def _forward(self, data: bytes) -> None:
        _, writable, _ = select.select([], self._forward_fds, [], 0)
        for fd in writable:
            try:
                os.write(fd, data)
            except OSError:
                self._forward_fds.remove(fd)  # it is gone, as its pipe has told
