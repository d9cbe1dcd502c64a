"""Anti-windup of a target that is moved by its speed.

It leads the limb by at most 0.1 m and 0.5 rad, stops where the IK does not follow, and
steps back from near the reached pose.
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
_HELD = 0.04, 0.2  # [m], [rad] chosen: of that; a limb that lags more is held or slow
_LEAD = 0.03  # [m] chosen: more than the IK of a slow arm is behind
_UNFOLLOWED = 0.4  # [s] measured: with 0.15 an arm that comes back slowly is held
_FOLLOWS = 0.3  # [1] chosen: share of a push by which the IK goes along
_SAME = 0.9  # [1] chosen: cosine of two pushes; a hand's stick wavers by less
_ASIDE = 0.5  # [1] chosen: cosine of lead and push; with more the hand would drift
_ROUNDING = 1e-9  # [m], [rad] chosen: far below the step of any deflection
_STANDS = 0.25  # [s] chosen: twice the delay of a gate that smooths for 0.1 s
_STILL = 0.05  # chosen: share of the step that a command at rest may flutter by


class PushResponse(NamedTuple):
    """Response of a limb to pushes.

    Attributes:
        T_cmd: Shape (4, 4).
        T_reached: The IK's, shape (4, 4).
        time: Time that the command stands while pushed, [s].
        way: Last push, shape (3,), [m].
        unfollowed: Time that the IK does not follow one direction, [s].
        is_back: Position and rotation were pushed back.
    """

    T_cmd: Vec
    T_reached: Vec
    way: Vec = np.zeros(3)
    time: float = 0.0
    unfollowed: float = 0.0
    is_back: tuple[bool, bool] = (False, False)

    def push(self, T_cmd: Vec, T_reached: Vec, step: Vec, dt: float) -> PushResponse:
        """Return it after a step of shape (6,), dt [s] later."""
        moved = _measure(self.T_cmd, T_cmd)
        sizes = np.linalg.norm(step[:3]), np.linalg.norm(step[3:6])
        is_moving = any(
            size > 0.0 and way > _STILL * size
            for way, size in zip(moved, sizes, strict=True)
        )
        way = step[:3]
        follows = (T_reached - self.T_reached)[:3, 3] @ way >= _FOLLOWS * way @ way
        is_same = way @ self.way >= _SAME * sizes[0] * np.linalg.norm(self.way)
        return self._replace(
            T_cmd=T_cmd,
            T_reached=T_reached,
            way=way,
            time=0.0 if is_moving else self.time + dt,
            unfollowed=self.unfollowed + dt if is_same and not follows else 0.0,
        )

    @property
    def is_long(self) -> bool:
        """Whether the command stands, rather than lags."""
        return self.time > _STANDS


def draw_back(
    T: Vec, T_next: Vec, standing: PushResponse, speeds: Vec
) -> tuple[Vec, PushResponse]:
    """Return the target before the next step: T, or a pose nearer to the limb.

    It is drawn near at the first of several steps back: a limb faster than its stick
    would take the target along. ``speeds`` are at full deflection, [m/s] and [rad/s].
    """
    near = np.minimum(np.maximum(_NEAR * speeds, _LEAST), _FAR)
    was_back, is_back = np.array(standing.is_back), np.zeros(2, dtype=bool)
    T_reached = standing.T_reached
    lags = np.greater(_measure(standing.T_cmd, T), _HELD)
    begin = T
    for T_limb, is_held in (
        (T_reached, np.ones(2, dtype=bool)),
        (standing.T_cmd, lags | standing.is_long),
    ):
        way = np.subtract(_measure(T_limb, T_next), _measure(T_limb, T))
        comes_back = (way < -_ROUNDING) & is_held
        begin = _draw(begin, T_limb, np.where(comes_back & ~was_back, near, math.inf))
        is_back |= comes_back
    if is_back[0] and not was_back[0]:
        standing = standing._replace(unfollowed=0.0)
    return begin, standing._replace(is_back=(bool(is_back[0]), bool(is_back[1])))


def hold_back(T: Vec, T_next: Vec, standing: PushResponse) -> Vec:
    """Return the next target, at T if the IK does not follow, (4, 4).

    A push aside moves it along the edge of reach.
    """
    lead = T_next[:3, 3] - standing.T_reached[:3, 3]
    distance = float(np.linalg.norm(lead))
    if standing.unfollowed < _UNFOLLOWED or distance < _LEAD:
        return T_next
    way, n = T_next[:3, 3] - T[:3, 3], lead / distance
    out = float(way @ n)
    if out <= 0.0:
        return T_next
    held = T_next.copy()
    is_aside = out < _ASIDE * np.linalg.norm(way)
    held[:3, 3] = T[:3, 3] + (way - out * n if is_aside else 0.0)
    return held


def stay_near(T: Vec, T_cmd: Vec) -> Vec:
    """Return a target at most a limb's lag from the command, (4, 4)."""
    return _draw(T, T_cmd, np.array(_FAR))


def _measure(T_a: Vec, T_b: Vec) -> tuple[float, float]:
    turn = pin.log3(T_a[:3, :3].T @ T_b[:3, :3])
    apart = T_b[:3, 3] - T_a[:3, 3]
    return float(np.linalg.norm(apart)), float(np.linalg.norm(turn))


def _draw(T: Vec, T_to: Vec, bounds: Vec) -> Vec:
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
