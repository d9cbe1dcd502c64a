"""Loop of an emulated arm: cycles in real time, ports and orders between them."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import sys
import time
from abc import ABC, abstractmethod
from types import FrameType
from typing import ClassVar

from paprle_emulators.command_line import say
from paprle_emulators.vendor_arm.faults import Faults
from paprle_emulators.vendor_arm.journal import Journal
from paprle_emulators.vendor_arm.pace import Pace
from paprle_emulators.vendor_arm.server import Server

_SHORTEST_WAIT = 5e-5  # [s] chosen: also of a late cycle, so that clients are served
_CHUNK = 65_536  # [bytes]


class Loop(ABC):
    """Base of an emulator; ``run`` calls the hooks.

    Attributes:
        flush_every: Cycles between writings of the journal.
    """

    flush_every: ClassVar[int] = 1

    def __init__(
        self, pace: Pace, server: Server, faults: Faults, journal: Journal
    ) -> None:
        self.server, self.faults, self.journal = server, faults, journal
        self._pace, self._n_cycles = pace, 0
        self._must_end, self._rest = False, b""

    @abstractmethod
    def _step(self, now_ns: int, n_skipped: int) -> None:
        """Advance the arm by a cycle, and its clock by skipped ones."""

    @abstractmethod
    def _note(self, now_ns: int) -> None:
        """Write the arm to the journal, after its reports were sent."""

    def _is_held(self, late_ns: int) -> bool:  # noqa: ARG002 - time passes
        """Return whether a due cycle waits, as no real controller does."""
        return False

    def run(self) -> None:
        """Run until a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        # a file, or /dev/null, cannot be waited for, and has nothing to order
        with contextlib.suppress(PermissionError, ValueError):
            self.server.selector.register(
                sys.stdin, selectors.EVENT_READ, self._take_orders
            )
        pace = self._pace
        pace.start(time.monotonic_ns())
        while not self._must_end:
            wait = (pace.next_ns - time.monotonic_ns()) * 1e-9
            self.server.serve(max(wait, _SHORTEST_WAIT))
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
            self.faults.apply(now, order)
        except ValueError as err:
            say(json.dumps({"ok": False, "error": str(err)}))
            return
        self.server.obey_line()
        self.journal.write_fault(now, line)
        say(json.dumps({"ok": True, "done": order["fault"], "stamp_ns": now}))

    def _cycle(self, now_ns: int, n_skipped: int) -> None:
        if self.faults.stalled > 0.0:
            time.sleep(self.faults.stalled)
            self.faults.stalled = 0.0
        self.faults.pass_time(now_ns)
        self.server.obey_line()
        self._step(now_ns, n_skipped)
        self.server.send()
        self._note(now_ns)
        self._n_cycles += 1
        if self._n_cycles % self.flush_every == 0:
            self.journal.flush()

    def _take_orders(self) -> None:
        data = os.read(sys.stdin.fileno(), _CHUNK)
        if not data:
            self.server.selector.unregister(sys.stdin)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self.obey(line.decode(errors="replace"))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True
