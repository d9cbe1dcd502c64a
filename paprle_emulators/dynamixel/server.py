"""Server of a rig on pseudo-terminals, in real time."""

from __future__ import annotations

import contextlib
import heapq
import os
import pty
import selectors
import termios
import time
import tty
from pathlib import Path

from paprle_emulators.dynamixel.orders import Orders
from paprle_emulators.dynamixel.rig import Rig

STEP = 0.002  # chosen: of the arms; shorter than a bus's cycle [s]
LONGEST_STEP = 0.005  # chosen: still stable, for a machine that is too busy [s]
MOST_LATE = 0.1  # chosen: what the arms make up for; time lost beyond stays lost [s]
CHUNK = 4096  # chosen: more than a client writes at once
SPEEDS = {
    getattr(termios, name): int(name[1:])
    for name in dir(termios)
    if name.startswith("B") and name[1:].isdigit()
}


class Line:
    """One pseudo-terminal, optionally with a stable name.

    Attributes:
        master: File descriptor, -1 when unplugged.
    """

    def __init__(self, label: str, link_dir: Path | None) -> None:
        self._link = link_dir / label if link_dir else None
        self.master = self._slave = -1
        self.name = ""
        self.plug()

    def plug(self) -> None:
        """Open a new terminal and link to it."""
        self.unplug()
        self.master, self._slave = pty.openpty()
        # Raw before anyone opens it, or the line echoes; our own end of it stays open,
        # or the master fails as soon as a client closes.
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self._slave)
        if self._link is not None:
            self._link.parent.mkdir(parents=True, exist_ok=True)
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self.name)
            self.name = str(self._link)

    def unplug(self) -> None:
        """Close the terminal."""
        for end in (self.master, self._slave):
            if end >= 0:
                os.close(end)
        self.master = self._slave = -1
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    @property
    def baud(self) -> int | None:
        """Client's baud rate; None when unusual."""
        return SPEEDS.get(termios.tcgetattr(self._slave)[5])

    def read(self) -> bytes:
        """Return received bytes."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self.master, CHUNK)
        return b""

    def write(self, data: bytes) -> None:
        """Send; drop the overflow."""
        if self.master >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self.master, data)


class Server:
    """Serves a rig until stopped.

    Attributes:
        lines: By port.
    """

    def __init__(self, rig: Rig, link_dir: Path | None, orders: Orders) -> None:
        """Open a terminal per bus."""
        self.rig = rig
        labels = label_ports(rig)
        self.lines = {port: Line(labels[port], link_dir) for port in rig.buses}
        self._orders = orders
        self._wait = selectors.SelectSelector()  # epoll counts in whole milliseconds
        self._due: list[tuple[float, int, str, bytes]] = []
        self._count = 0
        self._stopped = False
        self._start = time.monotonic()
        for port in rig.buses:
            self._watch(port)

    def _watch(self, port: str) -> None:
        self._wait.register(self.lines[port].master, selectors.EVENT_READ, port)

    def describe(self) -> dict[str, object]:
        """Return the endpoint: ports by limb and settings."""
        return {
            "ready": True,
            "ports": self._list_ports(),
            "overrides": self.list_overrides(),
        }

    def list_overrides(self) -> list[str]:
        """Return a session's settings for the ports."""
        ports = self._list_ports().items()
        return [f"leader.limbs.{name}.port={port}" for name, port in ports]

    def _list_ports(self) -> dict[str, str]:
        limbs = self.rig.limbs.items()
        return {name: self.lines[limb.spec.port].name for name, limb in limbs}

    def stop(self) -> None:
        """End :meth:`run`; safe in a signal handler."""
        self._stopped = True

    def listen(self, stream: int) -> None:
        """Take orders from a file descriptor."""
        os.set_blocking(stream, False)
        self._wait.register(stream, selectors.EVENT_READ, None)

    def unplug(self, port: str) -> None:
        """Unplug a bus; the servos keep power."""
        line = self.lines[port]
        if line.master >= 0:
            self._wait.unregister(line.master)
            line.unplug()
            self._due = [one for one in self._due if one[2] != port]

    def replug(self, port: str) -> None:
        """Open a new terminal under the same link."""
        self.unplug(port)
        self.lines[port].plug()
        self._watch(port)

    def run(self) -> None:
        """Serve until stopped."""
        self._start = time.monotonic() - self.rig.now_ns * 1e-9
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
        step = self._start + self.rig.now_ns * 1e-9 + STEP
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
        answers = self.rig.answer(port, line.read(), line.baud, ahead)
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
        """Step the arms towards the present, once per turn."""
        late = self._find_late()
        if late > MOST_LATE:
            self._start += late - MOST_LATE
        if late >= STEP:
            self.rig.step(min(int(late / STEP) * STEP, LONGEST_STEP))
            self._orders.note(self.rig)

    def _find_late(self) -> float:
        """Return the delay of the arms, [s]."""
        return time.monotonic() - self._start - self.rig.now_ns * 1e-9


def label_ports(rig: Rig) -> dict[str, str]:
    """Return the joined limb names of each port."""
    names: dict[str, list[str]] = {}
    for name, limb in rig.limbs.items():
        names.setdefault(limb.spec.port, []).append(name)
    return {port: "_".join(limbs) for port, limbs in names.items()}
