"""Watches that cameras and observers with controls live, and starts them again.

A process that was killed or stopped cannot take back its last image: the session does,
so that nobody takes it for the newest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paprle.hosts.children import Children
from paprle.hosts.roles import CAMERA, FRAMES, IfLost
from paprle.ipc.mailbox import ImageSlots, Mailbox
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.wishes_record import WISHES

_PERIOD_NS = 50_000_000  # [ns] chosen: how often it looks; a few counters are read
_HUNG_NS = 2_000_000_000  # [ns] chosen: it writes four times a second, images or not
_STARTING_NS = 20_000_000_000  # [ns] chosen: imports and a slow driver
_FIRST_NS = 1_000_000_000  # [ns] chosen: until a dead one is started again
_LONGEST_NS = 30_000_000_000  # [ns] chosen: one that dies at once, again and again


@dataclass
class _Seen:
    """What is known of a process; times in [ns].

    Attributes:
        port: Where it writes.
        count: How often it had written when that last changed.
        moved_ns: When that was.
        is_moving: It has written since it was started.
        due_ns: When it is started again; None while it runs.
        wait_ns: How long that takes the next time.
    """

    port: ImageSlots | Mailbox
    count: int = 0
    moved_ns: int = 0
    is_moving: bool = False
    due_ns: int | None = None
    wait_ns: int = _FIRST_NS


class RestartWatch:
    """Knows which of them run."""

    def __init__(
        self,
        children: Children,
        tell: Callable[[str], None],
        lost: dict[str, str],
    ) -> None:
        """Begin to watch.

        Args:
            children: Where they run.
            tell: Shows the operator a line that stays.
            lost: Why processes are gone, by name; one that runs again is taken out.
        """
        self._children, self._tell, self._lost = children, tell, lost
        self._looked_ns = 0
        self._seen: dict[str, _Seen] = {}
        for spec in children.specs:
            kind, name = split_name(spec.name)
            port = children.ports.get(
                name_port(FRAMES if kind == CAMERA else WISHES, name)
            )
            is_restarted = spec.if_lost is IfLost.RESTART
            if is_restarted and isinstance(port, ImageSlots | Mailbox):
                self._seen[spec.name] = _Seen(port)

    def look(self, now_ns: int) -> None:
        """Look whether they live, some times a second.

        Args:
            now_ns: Monotonic time, [ns].
        """
        if not self._seen or now_ns - self._looked_ns < _PERIOD_NS:
            return
        self._looked_ns = now_ns
        for name, seen in self._seen.items():
            if seen.due_ns is not None:
                if now_ns >= seen.due_ns:
                    self._restart(name, seen, now_ns)
                continue
            count = seen.port.count
            if count != seen.count or not seen.moved_ns:
                seen.is_moving = seen.is_moving or count > seen.count
                seen.count, seen.moved_ns = count, now_ns
            elif now_ns - seen.moved_ns > (
                _HUNG_NS if seen.is_moving else _STARTING_NS
            ):
                self.lose(name, f"{name}: the process stands still", now_ns)

    def lose(self, name: str, words: str, now_ns: int) -> None:
        """Take back the last image of a process that is gone, or hangs.

        Args:
            name: Of its role.
            words: What is told of it.
            now_ns: Monotonic time, [ns].
        """
        seen = self._seen[name]
        if isinstance(seen.port, ImageSlots):
            seen.port.write(now_ns, b"")
        if seen.is_moving:
            seen.wait_ns = _FIRST_NS
        seen.due_ns = now_ns + seen.wait_ns
        seen.wait_ns = min(2 * seen.wait_ns, _LONGEST_NS)
        self._tell(f"{words}; it is started again")

    def _restart(self, name: str, seen: _Seen, now_ns: int) -> None:
        self._children.restart(name)
        self._lost.pop(name, None)
        seen.due_ns, seen.moved_ns, seen.is_moving = None, now_ns, False
        seen.count = seen.port.count
