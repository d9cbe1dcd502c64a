"""Clutch of one hand.

After a loss or an impossible motion nothing is added (``safety.md`` A5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.hardware.web.axes import Vec
from paprle.hardware.web.messages import Mode

_MAX_SPEED = 3.0  # [m/s] spec: safety.md A5
_MAX_TURN = 20.0  # [rad/s] chosen: quicker than a wrist turns
_NOISE = 0.01  # [m] chosen: jitter of a tracked pose
_NOISE_TURN = 0.1  # [rad] chosen: jitter of a tracked orientation


class HandReading(NamedTuple):
    """A hand in a message.

    Attributes:
        p: Shape (3,), [m], REP-103.
        quat_xyzw: Unit, shape (4,).
        press: Current one's number, from 1.
        opening: 0 … 1.
        gap: Thumb to index, [m].
    """

    p: Vec
    quat_xyzw: Vec
    is_tracked: bool
    is_held: bool
    press: int
    opening: float | None
    has_deadman: bool = True
    gap: float | None = None


class HandClutch:
    """Motion while tracked and held.

    Attributes:
        p: Shape (3,), [m], REP-103.
        quat_xyzw: Shape (4,).
        opening: 0 … 1; None: unchanged.
        n_jumps: Impossible motions.
    """

    def __init__(self) -> None:
        self.p: Vec = np.zeros(3)
        self.quat_xyzw: Vec = np.array([0.0, 0.0, 0.0, 1.0])
        self.opening: float | None = None
        self.is_tracked = self.is_held = False
        self.has_deadman = True
        self.n_presses = self.n_losses = self.n_jumps = 0
        self._last: tuple[Vec, Vec] | None = None
        self._press = 0
        self._scale, self._mode = 1.0, "all"

    def lose(self) -> None:
        """Mark the hand as lost."""
        self.n_losses += self.is_tracked
        self._last, self.is_tracked = None, False

    def update(self, seen: HandReading, dt: float, scale: float, mode: Mode) -> None:
        """Take a message ``dt`` [s] later; a press fixes scale and mode."""
        if seen.is_tracked:
            self.opening = seen.opening
        self.has_deadman = seen.has_deadman
        was_held, self.is_held = self.is_held, seen.is_held
        before, self._press = self._press, seen.press
        now = (seen.p, seen.quat_xyzw) if seen.is_tracked else None
        if now is None or self._is_jump(now, dt):
            self.n_jumps += now is not None
            self.lose()
            self._last = now
            return
        is_new = seen.is_held and self.is_tracked and seen.press != before
        self.is_tracked = True
        if is_new or not (was_held and seen.is_held):  # not during a press
            self._scale, self._mode = scale, mode
        if self._last is not None:
            self._add(self._last, now)
        self._last = now
        self.n_presses += is_new

    def _is_jump(self, now: tuple[Vec, Vec], dt: float) -> bool:
        if self._last is None:
            return False
        step = float(np.linalg.norm(now[0] - self._last[0]))
        turn = 2.0 * math.acos(min(abs(float(now[1] @ self._last[1])), 1.0))
        return not (
            step <= _MAX_SPEED * dt + _NOISE and turn <= _MAX_TURN * dt + _NOISE_TURN
        )

    def _add(self, last: tuple[Vec, Vec], now: tuple[Vec, Vec]) -> None:
        if self._mode != "turn":
            self.p = self.p + self._scale * (now[0] - last[0])
        if self._mode != "move":
            turn = multiply(now[1], conjugate(last[1]))
            q = multiply(turn, self.quat_xyzw)
            self.quat_xyzw = q / np.linalg.norm(q)


def conjugate(q: Vec) -> Vec:
    """Return the inverse rotation; x, y, z, w, shape (4,)."""
    return np.array([-q[0], -q[1], -q[2], q[3]])


def multiply(a: Vec, b: Vec) -> Vec:
    """Return the rotation b, then a; x, y, z, w, shape (4,) each."""
    xyz = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(xyz, a[3] * b[3] - a[:3] @ b[:3])
