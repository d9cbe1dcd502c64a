"""The operator's status line and bell."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from paprle.contracts.kit.text import make_printable
from paprle.hosts.operator.terminal import HELP
from paprle.ipc.ports import split_name

_PERIOD = 0.2  # [s] chosen: faster than this nobody reads
_WIDTH = 79  # chosen: of a terminal that does not say how wide it is
_BELL = "\a"
_DUMB = "dumb"  # spec: terminfo(5), a terminal without capabilities: a program reads it


def print_line(text: str, *, is_error: bool = False) -> None:
    """Write a line; ignore a closed terminal."""
    stream = sys.stderr if is_error else sys.stdout
    text = make_printable(text)
    try:
        stream.write(("\r\x1b[K" if stream.isatty() else "") + text.rstrip() + "\n")
        stream.flush()
    except OSError:
        # what could not be written must not fail again when the process exits
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except ValueError:
        return


class StatusLine:
    """A line rewritten by a thread five times a second."""

    def __init__(
        self,
        compose: Callable[[], str],
        *,
        enabled: bool,
        find_attention: Callable[[], str] | None = None,
    ) -> None:
        """Prepare; ``compose`` is called even if the line is not shown.

        A new reason of ``find_attention`` rings the bell.
        """
        self._compose = compose
        self._find_attention = find_attention
        self._is_terminal = _is_terminal()
        self._enabled = enabled
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last, self._heard = "", ""
        self._lines: deque[str] = deque()

    def open(self) -> None:
        """Start showing."""
        if self._enabled and self._is_terminal:
            print_line(HELP)
        self._thread = threading.Thread(target=self._show, name="status")
        self._thread.start()

    def tell(self, text: str) -> None:
        """Show a persistent line without waiting."""
        self._lines.append(text)

    def close(self) -> None:
        """Print waiting lines and stop; repeatable."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
            self._thread = None
        self._write_told()

    def _write_told(self) -> None:
        if self._lines:
            self._ring()
        while self._lines:
            print_line(self._lines.popleft(), is_error=True)

    def _show(self) -> None:
        try:
            while not self._stop.wait(_PERIOD):
                self._write_told()
                self._listen()
                text = self._compose()
                if self._enabled:
                    self._write(text)
        except (OSError, ValueError):
            return  # the terminal is gone; the session goes on

    def _write(self, text: str) -> None:
        # On a terminal a change that does not fit the line is written too, in full.
        width = find_width() if self._is_terminal else 0
        state = text.split(" ", 1)[0]
        if state != self._last and len(text) > width:
            print_line(text)
        self._last = state
        if self._is_terminal:
            sys.stdout.write("\r\x1b[K" + text[:width])
            sys.stdout.flush()

    def _listen(self) -> None:
        heard = "" if self._find_attention is None else self._find_attention()
        if heard and heard != self._heard:
            self._ring()
        self._heard = heard

    def _ring(self) -> None:
        if self._find_attention is not None and self._is_terminal:
            sys.stdout.write(_BELL)
            sys.stdout.flush()


def shows_words() -> bool:
    """Return whether the line is for a person, and not for a log or a program."""
    return _is_terminal() and os.environ.get("TERM") != _DUMB


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def find_width() -> int:
    """Return the width for rewriting without wrapping."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        columns = 0
    return columns - 1 if columns > 1 else _WIDTH


def sign_line(name: str, text: str) -> str:
    """Return a text, prefixed with its source's instance."""
    _, instance = split_name(name)
    return f"{instance}: {text}" if instance else text
