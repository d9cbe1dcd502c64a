"""Poses, Jacobian and inverse kinematics of the emulated arms, by UR's DH table."""

from __future__ import annotations

import numpy as np

from paprle_emulators.ur.models import N_JOINTS, Model, Vec, compute_links

_MOST_ROUNDS = 60  # chosen: a target near the posture needs four
_LONGEST_STEP = 0.2  # [rad] chosen: of a round, so that a solution stays near
_ENOUGH = 1e-10  # [m], [rad] chosen: of a solution
_TOLERATED = 1e-6  # [m], [rad] chosen: where rounds end without progress


def from_pose_vector(vector: Vec) -> Vec:
    """Return the pose (4, 4) of a position and rotation vector, (6,)."""
    pose: Vec = np.eye(4)
    pose[:3, 3] = vector[:3]
    angle = float(np.linalg.norm(vector[3:6]))
    if angle > 0.0:
        cross = make_cross(np.asarray(vector[3:6]) / angle)
        pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return pose


def make_cross(axis: Vec) -> Vec:
    """Return the matrix of a cross product, (3, 3)."""
    x, y, z = axis
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def find_rotation(turn: Vec) -> Vec:
    """Return the rotation vector of a matrix, (3,), [rad]."""
    axis = np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    sine = 0.5 * float(np.linalg.norm(axis))
    angle = float(np.arctan2(sine, 0.5 * (np.trace(turn) - 1.0)))
    if sine > 1e-9:
        return np.asarray(axis * angle / (2.0 * sine))
    if angle < 1.0:
        return 0.5 * axis
    outer = 0.5 * (turn + np.eye(3))  # half a turn: the axis' products alone are left
    column = outer[:, int(np.argmax(np.diag(outer)))]
    return np.asarray(np.pi * column / np.linalg.norm(column))


def compute_jacobian(model: Model, q: Vec, tool: Vec) -> Vec:
    """Return the Jacobian of a tool (4, 4) on the flange, base frame, linear first."""
    links = compute_links(model, q)
    tip = (links[-1] @ tool)[:3, 3]
    jacobian: Vec = np.empty((6, N_JOINTS))
    for k in range(N_JOINTS):
        axis = links[k][:3, 2]
        jacobian[:3, k] = np.cross(axis, tip - links[k][:3, 3])
        jacobian[3:, k] = axis
    return jacobian


def solve(model: Model, pose: Vec, near: Vec, tool: Vec) -> Vec | None:
    """Return joints that bring a tool to a pose, close to given ones, or None."""
    q, error = near.copy(), np.inf
    for _ in range(_MOST_ROUNDS):
        now = compute_links(model, q)[-1] @ tool
        turn = find_rotation(pose[:3, :3] @ now[:3, :3].T)
        off = np.concatenate([pose[:3, 3] - now[:3, 3], turn])
        error = float(np.abs(off).max())
        if error < _ENOUGH:
            break
        step = np.linalg.lstsq(compute_jacobian(model, q, tool), off, rcond=1e-6)[0]
        q = q + step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
    is_near = error < _TOLERATED and bool((np.abs(q) <= model.q_max).all())
    return q if is_near else None


def to_pose_vector(pose: Vec) -> Vec:
    """Return position and rotation vector, (6,)."""
    return np.concatenate([pose[:3, 3], find_rotation(pose[:3, :3])])
