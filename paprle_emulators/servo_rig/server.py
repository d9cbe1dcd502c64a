"""Real-time server of a rig."""

from __future__ import annotations

import heapq
import os
import selectors
import time
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from paprle_emulators.servo_rig.answer import Answer
from paprle_emulators.servo_rig.orders import Orders
from paprle_emulators.servo_rig.terminal import CHUNK, Line

STEP = 0.002  # chosen: of the arms; shorter than a bus's cycle [s]
LONGEST_STEP = 0.005  # chosen: still stable, for a machine that is too busy [s]
MOST_LATE = 0.1  # chosen: what the arms make up for; time lost beyond stays lost [s]


class ServedRig(Protocol):
    """A rig in virtual time; ``now_ns`` in [ns]."""

    now_ns: int

    def answer(
        self, port: str, data: bytes, baud: int | None, ahead: float
    ) -> list[Answer]:
        """Return answers to bytes on a bus."""

    def step(self, dt: float) -> None:
        """Advance dt [s], a small step."""

    def overhear(self, port: str) -> bytes:
        """Return unrequested bytes."""

    def report(self) -> dict[str, object]:
        """Return true state and new events."""


class Server:
    """Serves a rig until stopped."""

    def __init__(
        self,
        rig: ServedRig,
        labels: Mapping[str, str],
        link_dir: Path | None,
        orders: Orders,
    ) -> None:
        self._rig, self._labels = rig, tuple(labels.values())
        self.lines = {port: Line(label, link_dir) for port, label in labels.items()}
        self._orders = orders
        self._wait = selectors.SelectSelector()  # epoll counts in whole milliseconds
        self._due: list[tuple[float, int, str, bytes]] = []
        self._count = 0
        self._stopped = False
        self._start = time.monotonic()
        for port in labels:
            self._watch(port)

    def _watch(self, port: str) -> None:
        self._wait.register(self.lines[port].master, selectors.EVENT_READ, port)

    def describe(self) -> dict[str, object]:
        """Return ports by limb and settings."""
        return {
            "ready": True,
            "ports": self.list_ports(),
            "overrides": self.list_overrides(),
        }

    def rename(self, link: Path) -> None:
        """Name the ports ``link`` or ``link_LABEL``."""
        several = len(self.lines) > 1
        for label, line in zip(self._labels, self.lines.values(), strict=True):
            name = f"{link.name}_{label}" if several else link.name
            line.rename(link.absolute().with_name(name))

    @abstractmethod
    def list_ports(self) -> dict[str, str]:
        """Return each limb's terminal."""

    @abstractmethod
    def list_overrides(self) -> list[str]:
        """Return a session's port settings."""

    def stop(self) -> None:
        """End :meth:`run`; signal-safe."""
        self._stopped = True

    def listen(self, stream: int) -> None:
        """Take orders from a file descriptor."""
        os.set_blocking(stream, False)
        self._wait.register(stream, selectors.EVENT_READ, None)

    def unplug(self, port: str) -> None:
        """Unplug a bus without power loss."""
        line = self.lines[port]
        if line.master >= 0:
            self._wait.unregister(line.master)
            line.unplug()
            self._due = [one for one in self._due if one[2] != port]

    def replug(self, port: str) -> None:
        """Open a new terminal under its link."""
        self.unplug(port)
        self.lines[port].plug()
        self._watch(port)

    def run(self) -> None:
        """Serve until stopped."""
        self._start = time.monotonic() - self._rig.now_ns * 1e-9
        while not self._stopped:
            timeout = max(self._next() - time.monotonic(), 0.0)
            for key, _ in self._wait.select(timeout):
                if key.data is None:
                    self._obey(key.fd)
                else:
                    self._serve(key.data)
            self._send_due(time.monotonic())
            self._catch_up()

    def close(self) -> None:
        """Close all terminals."""
        for line in self.lines.values():
            line.unplug()
        self._wait.close()

    def _next(self) -> float:
        step = self._start + self._rig.now_ns * 1e-9 + STEP
        return min(step, self._due[0][0]) if self._due else step

    def _obey(self, stream: int) -> None:
        data = os.read(stream, CHUNK)
        if not data:
            self._wait.unregister(stream)
        self._orders.feed(data, self)

    def _serve(self, port: str) -> None:
        line = self.lines[port]
        if line.master < 0:
            return
        ahead = min(max(self._find_late(), 0.0), LONGEST_STEP)
        answers = self._rig.answer(port, line.read(), line.baud, ahead)
        delay, ready = 0.0, []
        for one in answers:
            delay += one.delay
            if delay > 0:
                self._count += 1
                at = time.monotonic() + delay
                heapq.heappush(self._due, (at, self._count, port, one.data))
            else:
                ready.append(one.data)
        line.write(b"".join(ready))

    def _send_due(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            _, _, port, data = heapq.heappop(self._due)
            self.lines[port].write(data)

    def _catch_up(self) -> None:
        late = self._find_late()
        if late > MOST_LATE:
            self._start += late - MOST_LATE
        if late >= STEP:
            self._rig.step(min(int(late / STEP) * STEP, LONGEST_STEP))
            self._orders.note(self._rig)
            for port, line in self.lines.items():
                line.write(self._rig.overhear(port))

    def _find_late(self) -> float:
        """Return the delay of the arms, [s]."""
        return time.monotonic() - self._start - self._rig.now_ns * 1e-9
