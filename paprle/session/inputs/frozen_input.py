"""Detection of a device that no longer measures (safety.md 4, row 2).

Noise changes a held hand's values; a finding stops nothing.
"""

from __future__ import annotations

from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import Record

_STUCK_NS = 2_000_000_000  # spec: safety.md 4, row 2


class StuckWatch:
    """Detects frozen limbs of a measured, held leader."""

    def __init__(self, leader: LeaderInfo) -> None:
        self.limbs: tuple[str, ...] = ()
        self.n_times = 0
        self._names = leader.limbs if leader.is_human and leader.is_measured else ()
        self.is_needed = bool(self._names)
        self._last: dict[str, tuple[bytes, int]] = {}

    def take(
        self, record: Record | None, now_ns: int, *, is_held: bool
    ) -> tuple[str, ...]:
        """Return newly stuck limbs; call every tick."""
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
