"""Enclose points in the smallest capsule or box of a few hundred directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_N_DIRECTIONS = 80  # chosen: 16° apart, and the principal axes
_N_EXTREMES = 250  # chosen: as far apart; the rest lies all but inside their hull
_N_PARTS = 5  # chosen: 100 directions at once, 80 MB for the finest mesh of an arm
_ROUGH, _FINE = (
    40,
    400,
)  # chosen: steps of Bădoiu and Clarkson; 0.3 % too wide after 400
_BOX_SHARE = 0.7  # chosen: a box is measured less quickly, so it has to be worth it
_THINNEST = 1e-3  # [m] chosen: no body is thinner


class Enclosure(NamedTuple):
    """A body that holds all points.

    Attributes:
        shape: ``capsule`` or ``box``.
        size: [radius, length along z] or [x, y, z], [m].
        T_mesh_body: Its place in the axes of the points.
        volume: [m³].
    """

    shape: str
    size: tuple[float, ...]
    T_mesh_body: pin.SE3
    volume: float


def enclose(points: Vec) -> Enclosure:
    """Return the body of least volume that holds the points, shape (k, 3), [m].

    A capsule is preferred to a box that is not much smaller.
    """
    some = _find_extremes(points)
    axes = _find_axes(some)
    capsule = _enclose_in_capsule(
        points, some, np.vstack([np.eye(3), axes.T, _spread(_N_DIRECTIONS)])
    )
    boxes = [_enclose_in_box(points, R) for R in (np.eye(3), axes)]
    box = min(boxes, key=lambda found: found.volume)
    return box if box.volume < _BOX_SHARE * capsule.volume else capsule


def _spread(n: int) -> Vec:
    """Return n directions spread evenly over a half sphere, shape (n, 3)."""
    k = np.arange(n) + 0.5
    z, turn = k / n, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)


def _find_axes(points: Vec) -> Vec:
    away = points - points.mean(axis=0)
    axes: Vec = np.linalg.eigh(away.T @ away).eigenvectors
    return axes if np.linalg.det(axes) > 0.0 else -axes


def _find_extremes(points: Vec) -> Vec:
    ways = _spread(_N_EXTREMES)
    parts = np.array_split(np.vstack([ways, -ways]), _N_PARTS)
    found = [(points @ part.T).argmax(axis=0) for part in parts]
    some: Vec = points[np.unique(np.concatenate(found))]
    return some


def _enclose_in_capsule(points: Vec, some: Vec, ways: Vec) -> Enclosure:
    """Choose the direction by some of the points, then fit all of them."""
    other = np.where(np.abs(ways[:, :1]) < 0.7, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = np.cross(other, ways)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    frames = np.stack([x, np.cross(ways, x), ways], axis=2)
    seen = np.einsum("pi,kij->kpj", some, frames)
    middles = _find_middles(seen[:, :, :2], _ROUGH)
    fits = [_fit(q, middle) for q, middle in zip(seen, middles, strict=True)]
    best = int(np.argmin([_capsule_volume(r, high - low) for r, low, high in fits]))
    R, middle = frames[best], _find_middles(seen[best : best + 1, :, :2], _FINE)[0]
    radius, low, high = _fit(points @ R, middle)
    length = max(high - low, _THINNEST)
    centre = np.array([*middle, 0.5 * (low + high)])
    place = pin.SE3(R, R @ centre)
    volume = _capsule_volume(radius, length)
    return Enclosure("capsule", (radius, length), place, volume)


def _find_middles(flat: Vec, n_steps: int) -> Vec:
    """Return the centres of circles about k sets of p points each, (k, p, 2)."""
    middles: Vec = 0.5 * (flat.min(axis=1) + flat.max(axis=1))
    rows = np.arange(len(flat))
    for step in range(2, n_steps):
        away = flat - middles[:, None]
        farthest = np.argmax((away * away).sum(axis=2), axis=1)
        middles = middles + away[rows, farthest] / step
    return middles


def _fit(seen: Vec, middle: Vec) -> tuple[float, float, float]:
    """Return radius and ends of the line of a capsule along z about a middle."""
    across2 = ((seen[:, :2] - middle) ** 2).sum(axis=1)
    radius2 = max(float(across2.max()), (0.5 * _THINNEST) ** 2)
    cap = np.sqrt(radius2 - across2)  # how far the round end reaches over a point
    low, high = float((seen[:, 2] + cap).min()), float((seen[:, 2] - cap).max())
    middle_z = 0.5 * (low + high)
    return radius2**0.5, min(low, middle_z), max(high, middle_z)


def _capsule_volume(radius: float, length: float) -> float:
    return float(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))


def _enclose_in_box(points: Vec, R: Vec) -> Enclosure:
    seen = points @ R
    low, high = seen.min(axis=0), seen.max(axis=0)
    size = np.maximum(high - low, _THINNEST)
    place = pin.SE3(R, R @ (0.5 * (low + high)))
    return Enclosure("box", tuple(size.tolist()), place, float(size.prod()))
