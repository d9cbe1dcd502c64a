"""Suggested motions: the columns of D (AdaptiX 3.1, 4.2; X4 to X9).

The grasp frame's origin is between the fingertips, x along them, y their opening.
Rows are shares of speeds in [-1, 1]; closing is -1 (AdaptiX: +1). Far away the hand
moves above the goal, near it descends, as the published rules exclude each other. The
adjustment turns the translation about y, for orthogonality.
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
    """Goal of the hand, in the grasp frame.

    Attributes:
        goal: Object or release, (3,), [m].
        via: The goal, or above it.
        aim: Of the fingers, (3,).
    """

    goal: Vec
    via: Vec
    aim: Vec
    is_held: bool


class HandAbilities(NamedTuple):
    """Abilities of the hand.

    Attributes:
        speeds: At full deflection.
        reach: Of the fingers, [m].
        approach: Further distance for closing, [m].
    """

    speeds: AxisSpeeds
    reach: float
    approach: float


def suggest(goal: Goal, hand: HandAbilities) -> Vec:
    """Return the columns ``NAMES`` in the grasp frame, (7, 5)."""
    v, turn, gripper = _suggest_optimal(goal, hand)
    D = np.zeros((N_FREEDOMS, len(NAMES)))
    D[:3, 0], D[3:6, 0], D[6, 0] = v, turn, gripper
    D[:3, 1], D[3:6, 1] = turn_about_y(normalise(goal.via)), turn
    D[:3, 2] = normalise(goal.goal)
    D[3:6, 3] = normalise(find_turn(goal.goal))
    D[6, 4] = 1.0 if goal.is_held else -1.0
    return D


def _suggest_optimal(goal: Goal, hand: HandAbilities) -> tuple[Vec, Vec, float]:
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
    """Return a unit vector, or zeros."""
    size = float(np.linalg.norm(v))
    return v / size if size > _NOWHERE else np.zeros(3)


def limit(v: Vec) -> Vec:
    """Return a vector clipped to length 1."""
    return v / max(1.0, float(np.linalg.norm(v)))


def find_turn(d: Vec) -> Vec:
    """Return the smallest turn of x onto d, (3,), [rad].

    It is ``MakeRotFromX`` without roll; for -x it turns about z.
    """
    d = normalise(d)
    axis = np.array([0.0, -d[2], d[1]])
    sine = math.hypot(d[1], d[2])
    angle = math.atan2(sine, d[0])
    if sine < _ALONG:
        return angle * _Z if d[0] < 0.0 else np.zeros(3)
    return axis * (angle / sine)


def turn_about_y(d: Vec) -> Vec:
    """Return d turned by 90° about y; z along y."""
    across = np.array([d[2], 0.0, -d[0]])
    size = float(np.linalg.norm(across))
    if size < _ALONG:
        return _Z * float(d.any())
    return across / size


def to_eef(D: Vec, R_eef_grasp: Vec, point: Vec, speeds: AxisSpeeds) -> Vec:
    """Return grasp-frame columns D in the eef frame, (7, k), in [-1, 1].

    Columns beyond ``speeds`` are scaled as a whole. ``point`` is the grasp frame's
    origin in the eef frame, (3,), [m].
    """
    moved = np.empty_like(D)
    moved[3:6], moved[6] = R_eef_grasp @ D[3:6], D[6]
    lever = pin.skew(point) @ moved[3:6] * (speeds.turn / speeds.translation)
    moved[:3] = R_eef_grasp @ D[:3] + lever
    slower: Vec = moved / np.maximum(np.abs(moved).max(axis=0), 1.0)
    return slower
