"""Watches that cameras and observers with controls live, and starts them again.

A process that was killed or hangs cannot take back its last image: the session does, so
that nobody takes it for the newest. Before it is sure that one hangs it tells that no
images come; whoever reads them has seen that by then (``newest_images``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.hosts.camera_health import LATE
from paprle.hosts.children import Children
from paprle.hosts.roles import CAMERA, FRAMES, IfLost
from paprle.hosts.stillness import Stillness
from paprle.ipc.mailbox import ImageSlots, Mailbox
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.wishes_record import WISHES

_RATE = 50.0  # [Hz] chosen: how often it looks; a few counters are read
_JITTER_NS = 150_000_000  # [ns] chosen: a busy machine stops what gives way for so long
_HUNG_NS = 2_000_000_000  # [ns] chosen: it writes four times a second, images or not
_STARTING_NS = 20_000_000_000  # [ns] chosen: imports and a slow driver
_FIRST_NS = 1_000_000_000  # [ns] chosen: until a dead one is started again
_LONGEST_NS = 30_000_000_000  # [ns] chosen: one that dies at once, again and again


@dataclass
class _Seen:
    """What is known of a process; times in [ns].

    Attributes:
        port: Where it writes.
        period_ns: Between two images of a camera; 0: it is none.
        still: For how long it has written nothing.
        count: How often it had written when it was started.
        is_told: It was told that no images come.
        due_ns: When it is started again; None while it runs.
        wait_ns: How long that takes the next time.
    """

    port: ImageSlots | Mailbox
    period_ns: int
    still: Stillness
    count: int
    is_told: bool = False
    due_ns: int | None = None
    wait_ns: int = _FIRST_NS

    @property
    def is_moving(self) -> bool:
        """Whether it has written since it was started."""
        return self.port.count > self.count

    def is_silent(self, still_ns: int) -> bool:
        """Whether images should have come in so long."""
        if not isinstance(self.port, ImageSlots) or not self.port.has_image:
            return False  # the camera says so itself
        return still_ns > max(LATE * self.period_ns, _JITTER_NS)


class RestartWatch:
    """Knows which of them run."""

    def __init__(
        self,
        children: Children,
        tell: Callable[[str], None],
        lost: dict[str, str],
        resolved: Resolved,
    ) -> None:
        """Begin to watch.

        Args:
            children: Where they run.
            tell: Shows the operator a line that stays.
            lost: Why processes are gone, by name; one that runs again is taken out.
            resolved: The config.
        """
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
        """Look whether they live, some times a second.

        Args:
            now_ns: Monotonic time, [ns].
        """
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
            elif seen.is_silent(still_ns):
                if not seen.is_told:
                    self._tell(f"{name}: no image for {still_ns * 1e-6:.0f} ms")
                seen.is_told = True
            elif still_ns == 0 and seen.is_told:
                seen.is_told = False
                self._tell(f"{name}: images come again")

    def lose(self, name: str, words: str, now_ns: int) -> None:
        """Take back the last image of a process that is gone, or hangs.

        Args:
            name: Of its role.
            words: What is told of it.
            now_ns: Monotonic time, [ns].
        """
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
        seen.due_ns, seen.is_told = None, False
        seen.count = seen.port.count
        seen.still = Stillness(_RATE, seen.count)
