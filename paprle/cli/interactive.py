"""Signals and keys of attended verbs."""

from __future__ import annotations

import os
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def end_softly() -> Iterator[None]:
    """Exit with cleanup at the first signal; ignore later ones."""

    def leave(number: int, _frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    before = {number: signal.signal(number, leave) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keys_at_once() -> Iterator[list[int]]:
    """Set the terminal to single keys; yield its descriptor, if any."""
    fd = sys.stdin.fileno() if sys.stdin is not None else -1
    if fd < 0 or not os.isatty(fd):
        yield []
        return
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield [fd]
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
