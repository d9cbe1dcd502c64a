"""Anti-windup of a target that is moved by its speed.

It leads the limb by at most 0.1 m and 0.5 rad; steps back begin near the reached pose.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_NEAR = 0.05  # [s] chosen: of full speed; in free motion the IK is 20 ms behind
_LEAST = 0.001, 0.005  # [m], [rad] chosen: more than the IK leaves of an error
_FAR = 0.1, 0.5  # [m], [rad] chosen: what a fast arm lags behind, thrice
_ROUNDING = 1e-9  # [m], [rad] chosen: far below the step of any deflection
_STANDS = 0.25  # [s] chosen: twice the delay of a gate that smooths for 0.1 s
_STILL = 0.05  # chosen: share of the step that a command at rest may flutter by


class Standing(NamedTuple):
    """Time [s] that a limb's command ``T_cmd``, shape (4, 4), stands while pushed."""

    T_cmd: Vec
    time: float = 0.0

    def push(self, T_cmd: Vec, step: Vec, dt: float) -> Standing:
        """Return it after one more push, by a step of shape (6,), dt [s] later."""
        moved = _measure(self.T_cmd, T_cmd)
        sizes = np.linalg.norm(step[:3]), np.linalg.norm(step[3:6])
        is_moving = any(
            size > 0.0 and way > _STILL * size
            for way, size in zip(moved, sizes, strict=True)
        )
        return Standing(T_cmd, 0.0 if is_moving else self.time + dt)

    @property
    def is_long(self) -> bool:
        """Whether the command stands, rather than lags behind."""
        return self.time > _STANDS


def draw_back(
    T: Vec, T_next: Vec, T_reached: Vec, standing: Standing, speeds: Vec
) -> Vec:
    """Return the target before the next step: T, or a pose nearer to the limb.

    All poses have shape (4, 4); ``speeds`` are translation and turn at full deflection,
    [m/s] and [rad/s].
    """
    near = np.minimum(np.maximum(_NEAR * speeds, _LEAST), _FAR)
    places = (T_reached, standing.T_cmd) if standing.is_long else (T_reached,)
    for T_limb in places:
        way = np.subtract(_measure(T_limb, T_next), _measure(T_limb, T))
        is_back = way < -_ROUNDING
        T = _draw(T, T_limb, np.where(is_back, near, math.inf))
    return T


def stay_near(T: Vec, T_cmd: Vec) -> Vec:
    """Return a target no farther from the command than a limb lags, (4, 4)."""
    return _draw(T, T_cmd, np.array(_FAR))


def _measure(T_a: Vec, T_b: Vec) -> tuple[float, float]:
    """Return the distance [m] and angle [rad] of two poses."""
    turn = pin.log3(T_a[:3, :3].T @ T_b[:3, :3])
    apart = T_b[:3, 3] - T_a[:3, 3]
    return float(np.linalg.norm(apart)), float(np.linalg.norm(turn))


def _draw(T: Vec, T_to: Vec, bounds: Vec) -> Vec:
    """Return a pose within bounds of another, [m] and [rad]."""
    distance, angle = _measure(T_to, T)
    if distance <= bounds[0] and angle <= bounds[1]:
        return T
    drawn = T.copy()
    if distance > bounds[0]:
        apart = T[:3, 3] - T_to[:3, 3]
        drawn[:3, 3] = T_to[:3, 3] + apart * (bounds[0] / distance)
    if angle > bounds[1]:
        turn = pin.log3(T_to[:3, :3].T @ T[:3, :3])
        drawn[:3, :3] = T_to[:3, :3] @ pin.exp3(turn * (bounds[1] / angle))
    return drawn
