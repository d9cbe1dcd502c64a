"""Motions of keys with time-outs, as terminals report no releases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paprle.contracts.types import Vec
from paprle.leaders.keyboard.config import KeyboardConfig
from paprle.leaders.keyboard.keys import GRIPPER, MOTIONS


class Rates:
    """Motions with time-outs; ``level`` is the speed in ninths."""

    def __init__(self, config: KeyboardConfig) -> None:
        self.level = config.level
        self._config = config
        self._until_ns: dict[str, int] = {}
        self._now_ns = 0

    @property
    def is_moving(self) -> bool:
        """Whether some motion runs."""
        return bool(self._until_ns)

    def press(self, key: str) -> None:
        """Apply one key at the time of ``advance``."""
        if len(key) == 1 and key in "123456789":
            self.level = int(key)
        elif key not in MOTIONS:
            self._until_ns.clear()  # any other key stops
        elif self._config.deadman == "toggle":
            self._toggle(key)
        else:
            is_repeat = key in self._until_ns
            c = self._config
            # A terminal repeats only the key that was pressed last.
            self._until_ns.clear()
            self._run(key, c.repeat_time if is_repeat else c.first_time)

    def stop(self) -> None:
        """Stop all motions."""
        self._until_ns.clear()

    def advance(self, now_ns: int) -> Iterator[tuple[Vec, float]]:
        """Yield axes, (7,), and duration, [s], of each stretch."""
        while self._now_ns < now_ns and self._until_ns:
            end_ns = min(now_ns, *self._until_ns.values())
            if end_ns > self._now_ns:
                yield self._find_axes(), (end_ns - self._now_ns) * 1e-9
                self._now_ns = end_ns
            self._until_ns = {k: t for k, t in self._until_ns.items() if t > end_ns}
        self._now_ns = max(self._now_ns, now_ns)

    def _find_axes(self) -> Vec:
        directions = np.sum([MOTIONS[key] for key in self._until_ns], axis=0)
        scale = np.full(7, self.level / 9)
        scale[GRIPPER] = 1.0
        return np.asarray(np.clip(directions, -1, 1) * scale)

    def _toggle(self, key: str) -> None:
        axis = np.abs(MOTIONS[key])
        same_axis = [k for k in self._until_ns if np.abs(MOTIONS[k]) @ axis]
        for other in same_axis:
            del self._until_ns[other]
        if key not in same_axis:
            self._run(key, self._config.toggle_time)

    def _run(self, key: str, time: float) -> None:
        self._until_ns[key] = self._now_ns + round(time * 1e9)
