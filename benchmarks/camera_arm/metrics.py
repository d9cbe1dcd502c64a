"""Figures of a view (requirements C17): pure functions of where things were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST = 1e-9


class Lens(NamedTuple):
    """What a camera sees, a pinhole.

    Attributes:
        fovy: From top to bottom, [rad].
        aspect: Width over height.
    """

    fovy: float = np.deg2rad(58.0)
    aspect: float = 4.0 / 3.0


def is_in_frame(T_world_cam, p, lens=Lens()):  # noqa: B008 - frozen
    """Whether points, shape (N, 3), are in the pictures of poses, shape (N, 4, 4)."""
    seen = _see(T_world_cam, p)
    tall = np.tan(0.5 * lens.fovy)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.abs(seen[:, :2]).T / seen[:, 2]
    return (seen[:, 2] > 0) & (y <= tall) & (x <= lens.aspect * tall)


def find_angles(T_world_cam, p):
    """Angle between the camera's axis and each point, [rad]."""
    seen = _see(T_world_cam, p)
    return np.arctan2(np.linalg.norm(seen[:, :2], axis=1), seen[:, 2])


def find_rolls(T_world_cam):
    """How far each picture's horizon is tilted, [rad]."""
    x, y = T_world_cam[:, 2, 0], T_world_cam[:, 2, 1]
    return np.abs(np.arctan2(x, np.maximum(-y, LEAST)))


def find_turns(T_world_cam, R_screen):
    """Angle between how a hand moves, in world axes, and how it is seen to move, [rad].

    Args:
        T_world_cam: Poses, shape (N, 4, 4).
        R_screen: Orientation of a camera before which both are the same, shape (3, 3).

    Returns:
        Angles, shape (N,).
    """
    R = np.einsum("nab,cb->nac", T_world_cam[:, :3, :3], R_screen)
    trace = np.clip(0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0), -1.0, 1.0)
    return np.arccos(trace)


def find_roughness(t, p):
    """Largest acceleration [m/s²] and jerk [m/s³] of positions, shape (N, 3)."""
    h = float(np.median(np.diff(t)))
    a, j = (np.linalg.norm(np.diff(p, k, axis=0), axis=1).max() / h**k for k in (2, 3))
    return float(a), float(j)


def _see(T_world_cam, p):
    """Points in the cameras' axes, shape (N, 3)."""
    way = p - T_world_cam[:, :3, 3]
    return np.einsum("nab,na->nb", T_world_cam[:, :3, :3], way)
