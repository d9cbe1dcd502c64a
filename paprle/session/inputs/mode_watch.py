"""Mode switches of devices with axes (X2)."""

from __future__ import annotations

from typing import NamedTuple

from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import SampleView


class Switch(NamedTuple):
    """A mode switch; negative ``steps`` go back."""

    leader: str
    mode: int
    steps: int


class ModeWatch:
    """Detects switches; ``n_times`` counts steps."""

    def __init__(self, leader: LeaderInfo) -> None:
        self.n_times = 0
        self.is_needed = bool(leader.axes)
        self._rows = [
            (row, name)
            for row, name in enumerate(leader.limbs)
            if leader.emits_axes(name)
        ]
        self._last: dict[str, int] = {}

    def take(self, sample: SampleView | None) -> list[Switch]:
        """Return the new switches."""
        if sample is None:
            return []
        switched = []
        for row, name in self._rows:
            if not sample.limb_ns[row]:  # its leader has said nothing
                continue
            mode = int(sample.mode[row, 0])
            steps = mode - self._last.setdefault(name, mode)
            if steps:
                self._last[name] = mode
                self.n_times += abs(steps)
                switched.append(Switch(name, mode, steps))
        return switched
