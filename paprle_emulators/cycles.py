"""Loop of an emulator: cycles in real time, bus or ports and orders between them."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import FrameType
from typing import Any, Protocol

from paprle_emulators.command_line import say
from paprle_emulators.pace import Pace

_SHORTEST_WAIT = 5e-5  # [s] chosen: also of a late cycle, so that clients are served
_CHUNK = 65_536  # [bytes]


class TakesOrders(Protocol):
    """Faults of a device."""

    def apply(self, now_ns: int, order: Mapping[str, Any], /) -> None:
        """Execute ``{"fault": NAME, …}``; ValueError if invalid."""


class NotesOrders(Protocol):
    """Journal of a device."""

    def write_fault(self, stamp_ns: int, order: str) -> None:
        """Write an order."""


class CycleLoop(ABC):
    """Base of loops; ``run`` calls the hooks.

    The data of the selector's files are called by ``_listen``.
    """

    def __init__(
        self,
        pace: Pace,
        selector: selectors.BaseSelector,
        faults: TakesOrders,
        journal: NotesOrders,
    ) -> None:
        self._pace, self._selector = pace, selector
        self._obeying, self._noting = faults, journal
        self._must_end, self._rest = False, b""

    @abstractmethod
    def _listen(self, timeout: float) -> None:
        """Serve readable files, waiting [s] at most."""

    @abstractmethod
    def _cycle(self, now_ns: int, n_skipped: int) -> None:
        """Advance by a cycle, and clocks by skipped ones."""

    def _is_held(self, late_ns: int) -> bool:  # noqa: ARG002 - time passes
        """Return whether a due cycle waits, as no real device does."""
        return False

    def _follow_order(self) -> None:  # noqa: B027 - a bus has nothing to follow
        """Act on an order at once."""

    def run(self) -> None:
        """Run until a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        # a file, or /dev/null, cannot be waited for, and has nothing to order
        with contextlib.suppress(PermissionError, ValueError):
            self._selector.register(sys.stdin, selectors.EVENT_READ, self._take_orders)
        pace = self._pace
        pace.start(time.monotonic_ns())
        while not self._must_end:
            wait = (pace.next_ns - time.monotonic_ns()) * 1e-9
            self._listen(max(wait, _SHORTEST_WAIT))
            now = time.monotonic_ns()
            late = now - pace.next_ns
            if late >= 0 and not self._is_held(late):
                self._cycle(now, pace.begin(now))

    def obey(self, line: str) -> None:
        """Execute an order, and print its answer."""
        now = time.monotonic_ns()
        try:
            order = json.loads(line)
            if not isinstance(order, dict):
                raise ValueError(f"expected a JSON object, got {line!r}")
            self._obeying.apply(now, order)
        except ValueError as err:
            say(json.dumps({"ok": False, "error": str(err)}))
            return
        self._follow_order()
        self._noting.write_fault(now, line)
        say(json.dumps({"ok": True, "done": order["fault"], "stamp_ns": now}))

    def _take_orders(self) -> None:
        data = os.read(sys.stdin.fileno(), _CHUNK)
        if not data:
            self._selector.unregister(sys.stdin)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self.obey(line.decode(errors="replace"))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True
