"""Operator's requested motion, interpolated."""

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
    """Displacement in the axes of the base.

    Attributes:
        p: Shape (3,), [m].
        phi: Rotation vector, shape (3,), [rad].
    """

    p: Vec
    phi: Vec


class StampedHistory(Generic[Item]):
    """Bounded history of items with rising stamps."""

    def __init__(self) -> None:
        self.n_refused = 0
        self._stamps: deque[int] = deque(maxlen=_N_KEPT)
        self._items: deque[Item] = deque(maxlen=_N_KEPT)

    def __len__(self) -> int:
        return len(self._stamps)

    def add(self, stamp_ns: int, item: Item) -> None:
        """Keep an item, if newer."""
        if self._stamps and stamp_ns <= self._stamps[-1]:
            self.n_refused += 1
            return
        self._stamps.append(stamp_ns)
        self._items.append(item)

    def find(self, at_ns: int) -> tuple[Item, Item, float]:
        """Return the items around a time [ns], and the share between."""
        after = bisect_right(self._stamps, at_ns)
        if after in {0, len(self._stamps)}:
            end = self._items[min(after, len(self._stamps) - 1)]
            return end, end, 0.0
        begin, end_ns = self._stamps[after - 1], self._stamps[after]
        share = (at_ns - begin) / (end_ns - begin)
        return self._items[after - 1], self._items[after], share


class AskedMotion(StampedHistory[pin.SE3]):
    """Requested poses of the operator."""

    def measure(self, from_ns: int, to_ns: int) -> Displacement:
        """Return the motion between two times: p_b = p + p_a, R_b = Exp(phi) R_a."""
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
