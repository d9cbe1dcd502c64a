"""Poses of the tool, and joints for them near a posture."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.models import Model

Vec = npt.NDArray[np.float64]

_DAMPING = 1e-6  # chosen: of the least squares, [m²], [rad²]
_MOST = 0.2  # [rad] chosen: of a step, so that it stays near the posture
_NEAR = 1e-5, 1e-4  # [m], [rad] chosen: below what a box reports
_TINY = 1e-9  # chosen: sine of an angle that is none


def make_turn(vector: Vec) -> Vec:
    """Return the rotation (3, 3) of an axis times an angle, (3,), [rad]."""
    angle = float(np.linalg.norm(vector))
    if angle < _TINY:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn: Vec = (
        np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    )
    return turn


def find_turn(rotation: Vec) -> Vec:
    """Return axis times angle, (3,), [rad], of a rotation (3, 3)."""
    skew = 0.5 * (rotation - rotation.T)
    axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(rotation)) - 1.0)
    if sine > _TINY:
        vector: Vec = axis * (math.atan2(sine, cosine) / sine)
        return vector
    if cosine > 0.0:
        return axis
    column = rotation + np.eye(3)  # half a turn: each column is along the axis
    column = column[:, int(np.abs(column).sum(axis=0).argmax())]
    half: Vec = math.pi * column / np.linalg.norm(column)
    return half


def make_pose(numbers: Vec, *, is_axis_angle: bool = False) -> Vec:
    """Return a pose (4, 4), [m].

    Args:
        numbers: Place, [mm], and roll, pitch, yaw about fixed axes or axis times
            angle, [rad].
        is_axis_angle: The latter.
    """
    pose = np.eye(4)
    pose[:3, 3] = 1e-3 * numbers[:3]
    if is_axis_angle:
        pose[:3, :3] = make_turn(numbers[3:])
        return pose
    roll, pitch, yaw = np.diag(numbers[3:])
    turns = make_turn(yaw), make_turn(pitch), make_turn(roll)
    pose[:3, :3] = turns[0] @ turns[1] @ turns[2]
    return pose


def find_numbers(pose: Vec, *, is_axis_angle: bool = False) -> list[float]:
    """Return the numbers of a pose, as ``make_pose`` takes them."""
    place = (1e3 * pose[:3, 3]).tolist()
    if is_axis_angle:
        return [*place, *find_turn(pose[:3, :3]).tolist()]
    pitch = math.asin(float(np.clip(-pose[2, 0], -1.0, 1.0)))
    roll = math.atan2(pose[2, 1], pose[2, 2])
    yaw = math.atan2(pose[1, 0], pose[0, 0])
    return [*place, roll, pitch, yaw]


def solve(model: Model, tool: Vec, goal: Vec, seed: Vec, n_steps: int) -> Vec | None:
    """Return joints (axis,), [rad], with the tool at a pose, or None.

    Damped least squares: x = Jᵀ(JJᵀ + λI)⁻¹e.

    Args:
        model: The arm.
        tool: In the flange, (4, 4), [m].
        goal: T_base_tool, (4, 4), [m].
        seed: Posture to stay near, (axis,), [rad].
        n_steps: At most.
    """
    q = seed.copy()
    for _ in range(n_steps):
        frames = model.compute_frames(q)
        pose = frames[-1] @ tool
        place = goal[:3, 3] - pose[:3, 3]
        turn = find_turn(goal[:3, :3] @ pose[:3, :3].T)
        if np.linalg.norm(place) < _NEAR[0] and np.linalg.norm(turn) < _NEAR[1]:
            return q
        axes = frames[:, :3, 2]
        arms = np.cross(axes, pose[:3, 3] - frames[:, :3, 3])
        jacobian = np.hstack([arms, axes]).T
        error = np.concatenate([place, turn])
        gram = jacobian @ jacobian.T + _DAMPING * np.eye(6)
        step = jacobian.T @ np.linalg.solve(gram, error)
        step *= min(1.0, _MOST / max(float(np.abs(step).max()), _TINY))
        q = model.clip(q + step)
    return None
