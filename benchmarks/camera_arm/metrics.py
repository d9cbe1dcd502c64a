"""Figures of a view (requirements C17); pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST = 1e-9


class Lens(NamedTuple):
    """Pinhole camera.

    Attributes:
        fovy: From top to bottom, [rad].
        aspect: Width over height.
    """

    fovy: float = np.deg2rad(58.0)
    aspect: float = 4.0 / 3.0


def is_in_frame(T_world_cam, p, lens=Lens()):  # noqa: B008 - frozen
    """Return whether points, (N, 3), are in pictures of poses, (N, 4, 4)."""
    seen = _see(T_world_cam, p)
    tall = np.tan(0.5 * lens.fovy)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = np.abs(seen[:, :2]).T / seen[:, 2]
    return (seen[:, 2] > 0) & (y <= tall) & (x <= lens.aspect * tall)


def find_angles(T_world_cam, p):
    """Return angles between camera axis and points, [rad]."""
    seen = _see(T_world_cam, p)
    return np.arctan2(np.linalg.norm(seen[:, :2], axis=1), seen[:, 2])


def find_rolls(T_world_cam):
    """Return tilts of each picture's horizon, [rad]."""
    x, y = T_world_cam[:, 2, 0], T_world_cam[:, 2, 1]
    return np.abs(np.arctan2(x, np.maximum(-y, LEAST)))


def find_turns(T_world_cam, R_screen):
    """Return angles between a hand's motion and its view, (N,), [rad].

    ``R_screen`` (3, 3) is a camera's orientation in which both are the same.
    """
    R = np.einsum("nab,cb->nac", T_world_cam[:, :3, :3], R_screen)
    trace = np.clip(0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0), -1.0, 1.0)
    return np.arccos(trace)


def find_roughness(t, p):
    """Return largest acceleration [m/s²] and jerk [m/s³], (N, 3)."""
    h = float(np.median(np.diff(t)))
    a, j = (np.linalg.norm(np.diff(p, k, axis=0), axis=1).max() / h**k for k in (2, 3))
    return float(a), float(j)


def _see(T_world_cam, p):
    way = p - T_world_cam[:, :3, 3]
    return np.einsum("nab,na->nb", T_world_cam[:, :3, :3], way)
