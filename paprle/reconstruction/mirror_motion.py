"""The operator's own motion as it was asked of the robot, for any time in between."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_N_KEPT = 512  # chosen: 2.5 s at 200 Hz, five times as long as anything is predicted

Item = TypeVar("Item")


class Displacement(NamedTuple):
    """Displacement of a target, in the axes of the base.

    Attributes:
        p: Shape (3,), [m].
        phi: Rotation vector, shape (3,), [rad].
    """

    p: Vec
    phi: Vec


class History(Generic[Item]):
    """Things with a stamp, the newest of them, bounded.

    Attributes:
        n_refused: Those that were not newer than the one before.
    """

    def __init__(self) -> None:
        self.n_refused = 0
        self._stamps: deque[int] = deque(maxlen=_N_KEPT)
        self._items: deque[Item] = deque(maxlen=_N_KEPT)

    def __len__(self) -> int:
        return len(self._stamps)

    def add(self, stamp_ns: int, item: Item) -> None:
        """Keep one; stamps have to increase, [ns]."""
        if self._stamps and stamp_ns <= self._stamps[-1]:
            self.n_refused += 1
            return
        self._stamps.append(stamp_ns)
        self._items.append(item)

    def find(self, at_ns: int) -> tuple[Item, Item, float]:
        """Return those before and after a time, and the share of the way between.

        Args:
            at_ns: The time, [ns]; before the first and after the last is the end.

        Returns:
            Two items of a history that has any, and 0 … 1.
        """
        after = bisect_right(self._stamps, at_ns)
        if after in {0, len(self._stamps)}:
            end = self._items[min(after, len(self._stamps) - 1)]
            return end, end, 0.0
        begin, end_ns = self._stamps[after - 1], self._stamps[after]
        share = (at_ns - begin) / (end_ns - begin)
        return self._items[after - 1], self._items[after], share


class AskedMotion(History[pin.SE3]):
    """Poses that the operator asked for."""

    def measure(self, from_ns: int, to_ns: int) -> Displacement:
        """Return the motion between two times; there is none outside what is kept.

        Args:
            from_ns: When it begins, [ns].
            to_ns: When it ends, before or after, [ns].

        Returns:
            The motion: p_b = p + p_a, R_b = Exp(phi) R_a.
        """
        if not len(self):
            return Displacement(np.zeros(3), np.zeros(3))
        a, b = self._interpolate(from_ns), self._interpolate(to_ns)
        turn = b.rotation @ a.rotation.T
        return Displacement(b.translation - a.translation, pin.log3(turn))

    def _interpolate(self, at_ns: int) -> pin.SE3:
        a, b, share = self.find(at_ns)
        if not share:
            return a
        R = pin.exp3(share * pin.log3(b.rotation @ a.rotation.T)) @ a.rotation
        return pin.SE3(R, a.translation + share * (b.translation - a.translation))
