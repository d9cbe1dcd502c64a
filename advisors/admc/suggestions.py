"""Suggested motions, best first: the columns of D (AdaptiX 3.1, 4.2; X4 to X9).

All is computed in the frame of the grasp: its origin is the middle between the
fingertips, x is where they point, y is how they open. ``to_eef`` turns the columns into
twists of the eef. Rows are shares of each freedom's speed, within [-1, 1]; the
gripper's row is that of the opening, so that closing is -1 (AdaptiX has +1 there).

The published text has two rules for hovering that exclude each other; far from the goal
the hand goes above it, near it descends: the other way round it would never arrive. It
points the hand along its way; that is so where the hand descends. On the way there the
hand points down already: with something in it, it would lie down flat on the table. The
adjustment is a turn of the translation about y, of what of it is not along y, so that
both are orthogonal always.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.axes import N_FREEDOMS, AxisSpeeds
from paprle.contracts.types import Vec

NAMES = ("optimal", "adjustment", "translation", "rotation", "gripper")
"""The columns, by how many freedoms they combine."""

_Z = np.array([0.0, 0.0, 1.0])
_NOWHERE = 1e-6  # [m] chosen: a goal as near as this has no direction
_ALONG = 1e-6  # chosen: sine of an angle that is none
_SHORTEST = 0.5  # [s] chosen: no turn is meant to be quicker, so that it converges


class Goal(NamedTuple):
    """Goal of the hand.

    Attributes:
        goal: Place of the object, or of its release, in the frame of the grasp, shape
            (3,), [m].
        via: Where to go: there, or above it.
        aim: Where the fingers are to point, shape (3,).
        is_held: The object is in the hand.
    """

    goal: Vec
    via: Vec
    aim: Vec
    is_held: bool


class HandAbilities(NamedTuple):
    """Abilities of the hand.

    Attributes:
        speeds: At full deflection.
        reach: The fingers reach what is as near as this, [m].
        approach: So much farther off they close while it nears, [m].
    """

    speeds: AxisSpeeds
    reach: float
    approach: float


def suggest(goal: Goal, hand: HandAbilities) -> Vec:
    """Return the columns ``NAMES`` in the frame of the grasp, shape (7, 5)."""
    v, turn, gripper = _suggest_optimal(goal, hand)
    D = np.zeros((N_FREEDOMS, len(NAMES)))
    D[:3, 0], D[3:6, 0], D[6, 0] = v, turn, gripper
    D[:3, 1], D[3:6, 1] = turn_about_y(normalise(goal.via)), turn
    D[:3, 2] = normalise(goal.goal)
    D[3:6, 3] = normalise(find_turn(goal.goal))
    D[6, 4] = 1.0 if goal.is_held else -1.0
    return D


def _suggest_optimal(goal: Goal, hand: HandAbilities) -> tuple[Vec, Vec, float]:
    """Return translation, turn and gripper that bring the hand on best."""
    distance = float(np.linalg.norm(goal.goal))
    v = normalise(goal.via)
    if distance > hand.reach + hand.approach:
        time = float(np.linalg.norm(goal.via)) / hand.speeds.translation
        least = hand.speeds.turn * max(time, _SHORTEST)
        return v, limit(find_turn(goal.aim) / least), 0.0
    gripper = 1.0 if goal.is_held else -1.0
    if distance <= hand.reach:
        return np.zeros(3), np.zeros(3), gripper
    stroke = hand.speeds.translation / hand.speeds.gripper
    return v * min(1.0, distance / stroke), np.zeros(3), gripper


def normalise(v: Vec) -> Vec:
    """Return a vector of length 1; zeros for one of no length."""
    size = float(np.linalg.norm(v))
    return v / size if size > _NOWHERE else np.zeros(3)


def limit(v: Vec) -> Vec:
    """Return a vector that is no longer than 1."""
    return v / max(1.0, float(np.linalg.norm(v)))


def find_turn(d: Vec) -> Vec:
    """Return the smallest turn that points x along d, shape (3,), [rad].

    It is ``MakeRotFromX`` without its roll: the axis is orthogonal to x, so that the
    hand does not roll however often it is applied. Straight behind, it turns about z.
    """
    d = normalise(d)
    axis = np.array([0.0, -d[2], d[1]])
    sine = math.hypot(d[1], d[2])
    angle = math.atan2(sine, d[0])
    if sine < _ALONG:
        return angle * _Z if d[0] < 0.0 else np.zeros(3)
    return axis * (angle / sine)


def turn_about_y(d: Vec) -> Vec:
    """Return the direction 90° from d about y; z for one along y, zeros for none."""
    across = np.array([d[2], 0.0, -d[0]])
    size = float(np.linalg.norm(across))
    if size < _ALONG:
        return _Z * float(d.any())
    return across / size


def to_eef(D: Vec, R_eef_grasp: Vec, point: Vec, speeds: AxisSpeeds) -> Vec:
    """Return columns of the grasp as columns of the eef.

    Args:
        D: In the frame of the grasp, shape (7, k).
        R_eef_grasp: Its axes in the eef's, shape (3, 3).
        point: Its origin in the eef's frame, shape (3,), [m].
        speeds: At full deflection.

    Returns:
        Shape (7, k), each within [-1, 1]: where a turn about the grasp would need more
        of the eef, the whole column is slower.
    """
    moved = np.empty_like(D)
    moved[3:6], moved[6] = R_eef_grasp @ D[3:6], D[6]
    lever = pin.skew(point) @ moved[3:6] * (speeds.turn / speeds.translation)
    moved[:3] = R_eef_grasp @ D[:3] + lever
    slower: Vec = moved / np.maximum(np.abs(moved).max(axis=0), 1.0)
    return slower
