"""Restart of dead or hung cameras and pages."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.hosts.operator.silence_timer import Stillness
from paprle.hosts.roles import CAMERA, FRAMES, IfLost
from paprle.hosts.supervisor import Children
from paprle.hosts.views.camera_health import LATE
from paprle.ipc.mailbox import ImageSlots, Mailbox
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.wishes_record import WISHES

_RATE = 50.0  # [Hz] chosen: how often it looks; a few counters are read
_JITTER_NS = 150_000_000  # [ns] chosen: what gives way may wait for its turn so long
_WELL_NS = 1_000_000_000  # [ns] chosen: as a camera's own process has it
_HUNG_NS = 2_000_000_000  # [ns] chosen: it writes four times a second, images or not
_STARTING_NS = 20_000_000_000  # [ns] chosen: imports and a slow driver
_FIRST_NS = 1_000_000_000  # [ns] chosen: until a dead one is started again
_LONGEST_NS = 30_000_000_000  # [ns] chosen: one that dies at once, again and again


@dataclass
class _Seen:
    port: ImageSlots | Mailbox
    period_ns: int
    still: Stillness
    count: int
    silent_ns: int | None = None
    due_ns: int | None = None
    wait_ns: int = _FIRST_NS

    @property
    def is_moving(self) -> bool:
        return self.port.count > self.count

    def is_silent(self, still_ns: int) -> bool:
        if not isinstance(self.port, ImageSlots) or not self.port.has_image:
            return False  # the camera says so itself
        return still_ns > max(LATE * self.period_ns, find_jitter())


def find_jitter() -> float:
    """Return a camera's longest delay due to load alone, [ns]."""
    n_waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return _JITTER_NS * max(1.0, n_waiting)


class RestartWatch:
    """Monitors processes that may be restarted."""

    def __init__(
        self,
        children: Children,
        tell: Callable[[str], None],
        lost: dict[str, str],
        resolved: Resolved,
    ) -> None:
        self._children, self._tell, self._lost = children, tell, lost
        self._looked_ns = 0
        cameras = list_named(resolved.cameras)
        self._seen: dict[str, _Seen] = {}
        for spec in children.specs:
            kind, name = split_name(spec.name)
            port = children.ports.get(
                name_port(FRAMES if kind == CAMERA else WISHES, name)
            )
            is_restarted = spec.if_lost is IfLost.RESTART
            if is_restarted and isinstance(port, ImageSlots | Mailbox):
                period_ns = round(1e9 / cameras[name].fps) if kind == CAMERA else 0
                still = Stillness(_RATE, port.count)
                self._seen[spec.name] = _Seen(port, period_ns, still, port.count)

    def look(self, now_ns: int) -> None:
        """Check the processes some times a second."""
        if not self._seen or now_ns - self._looked_ns < 1e9 / _RATE:
            return
        self._looked_ns = now_ns
        for name, seen in self._seen.items():
            if seen.due_ns is not None:
                if now_ns >= seen.due_ns:
                    self._restart(name, seen)
                continue
            still_ns = seen.still.look(seen.port.count, now_ns)
            if still_ns > (_HUNG_NS if seen.is_moving else _STARTING_NS):
                self.lose(name, f"{name}: the process stands still", now_ns)
            else:
                self._tell_of_silence(name, seen, still_ns, now_ns)

    def _tell_of_silence(
        self, name: str, seen: _Seen, still_ns: int, now_ns: int
    ) -> None:
        if seen.is_silent(still_ns):
            if seen.silent_ns is None:
                self._tell(f"{name}: no image for {still_ns * 1e-6:.0f} ms")
            seen.silent_ns = now_ns
        elif seen.silent_ns is not None and now_ns - seen.silent_ns > _WELL_NS:
            seen.silent_ns = None
            self._tell(f"{name}: images come again")

    def lose(self, name: str, words: str, now_ns: int) -> None:
        """Take back a dead or hung process's last image."""
        seen = self._seen[name]
        if seen.is_moving:
            seen.wait_ns = _FIRST_NS
        if isinstance(seen.port, ImageSlots):
            seen.port.write(now_ns, b"")
        seen.due_ns = now_ns + seen.wait_ns
        seen.wait_ns = min(2 * seen.wait_ns, _LONGEST_NS)
        self._tell(f"{words}; it is started again")

    def _restart(self, name: str, seen: _Seen) -> None:
        self._children.restart(name)
        self._lost.pop(name, None)
        seen.due_ns = seen.silent_ns = None
        seen.count = seen.port.count
        seen.still = Stillness(_RATE, seen.count)
