"""Whole turns omitted by drivers.

A wrap is a step within −π … π or 0 … 2π that less a turn is a possible motion.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.joints import Vec

TURN = 2.0 * np.pi
_LOWS = (-np.pi, 0.0)  # [rad] spec: the two intervals in use, each a turn long
_ROUNDING = 0.01  # [rad] chosen: beyond an interval's ends by rounding and noise
_FARTHEST = np.pi / 2  # [rad] chosen: a motion across the end between two readings
_PLAUSIBLE = 1.0  # [rad] chosen: how far outside its limits a real joint may read
_MOST_TURNS = 100  # chosen: beyond it a reading is no angle in [rad]
_SAME = 0.3  # [rad] chosen: from what a controller asks for to what is measured

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Turns:
    """Counter of each joint's whole turns.

    Attributes:
        n: To add to readings, shape (n,).
    """

    def __init__(self, can_turn: Mask, q_min: Vec, q_max: Vec) -> None:
        """Count from zero; limits, shape (n,), infinite if continuous."""
        self._can_turn, self._q_min, self._q_max = can_turn, q_min, q_max
        self._read = np.full(len(can_turn), np.nan)
        self.n, self.n_crossings = np.zeros((2, len(can_turn)), dtype=np.int64)

    def unwrap(self, ours: list[int], read: Vec, allowed: Vec) -> tuple[Vec, Mask]:
        """Return positions with whole turns and a mask of wraps, shape (m,) each.

        ``read`` has readings, ``allowed`` largest motions, [rad] or [m].
        """
        before = self._read[ours]
        is_first = np.isnan(before)
        self.n[ours] += np.where(is_first, self._find_first(ours, read), 0)
        step = read - before
        over = -_round_to_turns(step)
        q = read + TURN * (self.n[ours] + over)
        far = np.minimum(allowed, _FARTHEST)
        is_crossing = (
            self._can_turn[ours]
            & (np.abs(over) == 1)
            & (np.abs(step + TURN * over) <= far)
            & _are_in_one_turn(before, read)
            & self._is_plausible(ours, q)
        )
        self.n[ours] += np.where(is_crossing, over, 0)
        self.n_crossings[ours] += is_crossing
        self._read[ours] = np.where(np.isfinite(read), read, before)
        return read + TURN * self.n[ours], is_crossing

    def agree(self, ours: list[int], asked: Vec) -> None:
        """Count as a controller's reference does, shape (m,)."""
        off = asked - self._read[ours] - TURN * self.n[ours]
        over = _round_to_turns(off)
        q = self._read[ours] + TURN * (self.n[ours] + over)
        is_same = np.abs(off - TURN * over) <= _SAME
        is_one = self._can_turn[ours] & is_same & self._is_plausible(ours, q)
        self.n[ours] += np.where(is_one, over, 0)

    def _find_first(self, ours: list[int], read: Vec) -> Ints:
        n = np.zeros(len(ours), dtype=np.int64)
        is_outside = self._can_turn[ours] & ~self._is_plausible(ours, read)
        is_outside &= _are_in_one_turn(read, read)
        low, high = self._q_min[ours], self._q_max[ours]
        for over in (-1, 1):
            q = read + TURN * over
            n[is_outside & (low <= q) & (q <= high)] = over
        return n

    def _is_plausible(self, ours: list[int], q: Vec) -> Mask:
        low, high = self._q_min[ours] - _PLAUSIBLE, self._q_max[ours] + _PLAUSIBLE
        return np.asarray((low <= q) & (q <= high))


def _round_to_turns(step: Vec) -> Ints:
    is_angle = np.abs(step) < _MOST_TURNS * TURN
    return np.rint(np.where(is_angle, step, 0.0) / TURN).astype(np.int64)


def _are_in_one_turn(a: Vec, b: Vec) -> Mask:
    least, most = np.minimum(a, b), np.maximum(a, b)
    inside = [
        (least >= low - _ROUNDING) & (most <= low + TURN + _ROUNDING) for low in _LOWS
    ]
    return np.asarray(inside[0] | inside[1])
