"""Notices a device that goes on talking but no longer measures (safety.md 4, row 2).

The numbers of a hand that is held are never the same twice: noise alone changes them.
Bit-identical ones under fresh stamps come from a tracker, a cable or a driver that is
stuck. To stand still is legal, so the operator is told and nothing is stopped.
"""

from __future__ import annotations

from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import Record

_STUCK_NS = 2_000_000_000  # spec: safety.md 4, row 2


class StuckWatch:
    """Which limbs of a measured, held leader have not changed for too long.

    Attributes:
        is_needed: The leader is one that can be stuck.
        limbs: The leader's limbs that are stuck now.
        n_times: How often a limb was found stuck.
    """

    def __init__(self, leader: LeaderInfo) -> None:
        self.limbs: tuple[str, ...] = ()
        self.n_times = 0
        self._names = leader.limbs if leader.is_human and leader.is_measured else ()
        self.is_needed = bool(self._names)
        self._last: dict[str, tuple[bytes, int]] = {}

    def take(
        self, record: Record | None, now_ns: int, *, is_held: bool
    ) -> tuple[str, ...]:
        """Look at the newest record, each tick.

        Args:
            record: The newest accepted sample as it came.
            now_ns: Monotonic time, [ns].
            is_held: The operator holds the leader and its samples are fresh; what it
                says at other times proves nothing.

        Returns:
            The limbs that have just been found stuck.
        """
        before, stuck = self.limbs, []
        if not is_held or record is None:
            self._last.clear()
        else:
            for row, name in enumerate(self._names):
                data = record["pose"][row].tobytes() + record["q"][row].tobytes()
                last, since_ns = self._last.get(name, (b"", now_ns))
                if data != last:
                    self._last[name] = data, now_ns
                elif now_ns - since_ns > _STUCK_NS:
                    stuck.append(name)
        self.limbs = tuple(stuck)
        new = tuple(name for name in stuck if name not in before)
        self.n_times += len(new)
        return new
