"""Smallest bodies around points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_N_DIRECTIONS = 80  # chosen: 16° apart, and the principal axes
_N_EXTREMES = 250  # chosen: as far apart; the rest lies all but inside their hull
_N_AT_ONCE = 256  # chosen: points whose heights stay in the cache of a core
_ROUGH, _FINE = (
    40,
    400,
)  # chosen: steps of Bădoiu and Clarkson; 0.3 % too wide after 400
_FEW = 10  # chosen: directions that a guess tries
_N_TURNS = 6  # chosen: boxes 15° apart about each axis
_QUARTER = np.arange(_N_TURNS) * (0.5 * np.pi / _N_TURNS)  # [rad]
_CORNER_SHARE = 0.8  # chosen: corners are measured less quickly, so must be worth it
_THINNEST = 1e-3  # [m] chosen: no body is thinner


class Enclosure(NamedTuple):
    """A body around points.

    Attributes:
        shape: ``capsule``, ``cylinder`` or ``box``.
        size: [radius, length along z] or [x, y, z], [m].
        T_mesh_body: In the points' frame.
        volume: [m³].
    """

    shape: str
    size: tuple[float, ...]
    T_mesh_body: pin.SE3
    volume: float


def enclose(points: Vec) -> Enclosure:
    """Return the smallest body around points (k, 3), preferably a capsule, [m]."""
    some = find_extremes(points)
    axes = find_axes(some)
    ways = np.vstack([np.eye(3), axes.T, _spread(_N_DIRECTIONS)])
    capsule, cylinder = _enclose_along(points, some, ways)
    box = _enclose_in_box(points, some, axes)
    other = box if box.volume < cylinder.volume else cylinder
    return other if other.volume < _CORNER_SHARE * capsule.volume else capsule


def guess_volume(points: Vec) -> float:
    """Return approximately ``enclose``'s volume, [m³]."""
    if len(points) == 0:
        return np.inf
    some = find_extremes(points, _N_EXTREMES // 5)
    axes = find_axes(some)
    ways = np.vstack([np.eye(3), axes.T, _spread(_FEW)])
    _, seen, middles = _look_along(some, ways, _ROUGH // 4)
    volumes = []
    for q, middle in zip(seen, middles, strict=True):
        radius, low, high = _fit(q, middle)
        height = max(float(np.ptp(q[:, 2])), _THINNEST)
        volumes.append(_capsule_volume(radius, max(high - low, _THINNEST)))
        volumes.append(float(np.pi * radius**2 * height) / _CORNER_SHARE)
    sides = [np.maximum(np.ptp(some @ R, axis=0), _THINNEST) for R in (np.eye(3), axes)]
    return min(*volumes, *(float(side.prod()) / _CORNER_SHARE for side in sides))


def enclose_as(points: Vec, like: Enclosure) -> Enclosure:
    """Return a body of equal shape and directions."""
    R = like.T_mesh_body.rotation
    if like.shape == "box":
        return _place_box(points, R)
    return _place(points, find_extremes(points), R, like.shape)


def list_enclosures(points: Vec, normal: Vec) -> list[Enclosure]:
    """Return a body of each shape around points (k, 3), [m].

    One box is flush with a plane.
    """
    some = find_extremes(points)
    axes = find_axes(some)
    ways = np.vstack([np.eye(3), axes.T, _spread(_FEW)])
    boxes = (_enclose_in_box(some, some, axes), guess_box(points, normal))
    return [*_enclose_along(some, some, ways, _ROUGH), *boxes]


def guess_box(points: Vec, normal: Vec) -> Enclosure:
    """Return an approximate smallest box flush with a plane."""
    x, y = (v[0] for v in _list_across(normal[None]))
    frame = np.stack([x, y, normal], axis=1)
    turns = [frame @ pin.utils.rotate("z", angle) for angle in _QUARTER]
    return min((_place_box(points, R) for R in turns), key=lambda box: box.volume)


def _spread(n: int) -> Vec:
    """Return n even directions on a half sphere, shape (n, 3)."""
    k = np.arange(n) + 0.5
    z, turn = k / n, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)


def find_axes(points: Vec) -> Vec:
    """Return the principal axes of points (k, 3) as a rotation."""
    away = points - points.mean(axis=0)
    axes: Vec = np.linalg.eigh(away.T @ away).eigenvectors
    return axes if np.linalg.det(axes) > 0.0 else -axes


def find_extremes(points: Vec, n_directions: int = _N_EXTREMES) -> Vec:
    """Return the outermost points (k, 3) in many directions."""
    ways = _spread(n_directions)
    found = np.zeros((2, n_directions), dtype=int)
    highest = np.full((2, n_directions), -np.inf)
    rows = np.arange(n_directions)
    for first in range(0, len(points), _N_AT_ONCE):
        heights = ways @ points[first : first + _N_AT_ONCE].T
        for k, h in enumerate((heights, -heights)):
            at = h.argmax(axis=1)
            is_higher = h[rows, at] > highest[k]
            found[k, is_higher] = first + at[is_higher]
            highest[k, is_higher] = h[rows, at][is_higher]
    some: Vec = points[np.unique(found)]
    return some


def _list_across(ways: Vec) -> tuple[Vec, Vec]:
    """Return two normals per direction, shapes (k, 3)."""
    other = np.where(np.abs(ways[:, :1]) < 0.7, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = np.cross(other, ways)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.cross(ways, x)


def _look_along(some: Vec, ways: Vec, n_steps: int) -> tuple[Vec, Vec, Vec]:
    frames = np.stack([*_list_across(ways), ways], axis=2)
    seen = np.einsum("pi,kij->kpj", some, frames)
    return frames, seen, _find_middles(seen[:, :, :2], n_steps)


def _enclose_along(
    points: Vec, some: Vec, ways: Vec, n_steps: int = _FINE
) -> tuple[Enclosure, Enclosure]:
    # Their directions are chosen by some of the points, then all are fitted.
    frames, seen, middles = _look_along(some, ways, _ROUGH)
    fits = [_fit(q, middle) for q, middle in zip(seen, middles, strict=True)]
    heights = np.ptp(seen[:, :, 2], axis=1)
    round_ends = np.argmin([_capsule_volume(r, high - low) for r, low, high in fits])
    flat_ends = np.argmin(
        [r * r * h for (r, _, _), h in zip(fits, heights, strict=True)]
    )
    capsule = _place(points, some, frames[round_ends], "capsule", n_steps)
    cylinder = _place(points, some, frames[flat_ends], "cylinder", n_steps)
    return capsule, cylinder


def _place(
    points: Vec, some: Vec, R: Vec, shape: str, n_steps: int = _FINE
) -> Enclosure:
    middle = _find_middles((some @ R)[None, :, :2], n_steps)[0]
    seen = points @ R
    radius, low, high = _fit(seen, middle)
    if shape == "cylinder":
        low, high = float(seen[:, 2].min()), float(seen[:, 2].max())
    length = max(high - low, _THINNEST)
    centre = np.array([*middle, 0.5 * (low + high)])
    is_round = shape == "capsule"
    volume = _capsule_volume(radius, length) if is_round else np.pi * radius**2 * length
    return Enclosure(shape, (radius, length), pin.SE3(R, R @ centre), float(volume))


def _find_middles(flat: Vec, n_steps: int) -> Vec:
    """Return circle centres of k sets of p points, (k, p, 2)."""
    middles: Vec = 0.5 * (flat.min(axis=1) + flat.max(axis=1))
    rows = np.arange(len(flat))
    half_squares = 0.5 * (flat * flat).sum(axis=2)
    for step in range(2, n_steps):
        # the farthest from m is where |p|²/2 − p·m is greatest
        along = (flat @ middles[:, :, None])[:, :, 0]
        farthest = np.argmax(half_squares - along, axis=1)
        middles = middles + (flat[rows, farthest] - middles) / step
    return middles


def _fit(seen: Vec, middle: Vec) -> tuple[float, float, float]:
    across2 = ((seen[:, :2] - middle) ** 2).sum(axis=1)
    radius2 = max(float(across2.max()), (0.5 * _THINNEST) ** 2)
    cap = np.sqrt(radius2 - across2)  # how far the round end reaches over a point
    low, high = float((seen[:, 2] + cap).min()), float((seen[:, 2] - cap).max())
    middle_z = 0.5 * (low + high)
    return radius2**0.5, min(low, middle_z), max(high, middle_z)


def _capsule_volume(radius: float, length: float) -> float:
    return float(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))


def _enclose_in_box(points: Vec, some: Vec, axes: Vec) -> Enclosure:
    turns = np.array(
        [base @ turn for base in (np.eye(3), axes) for turn in _list_turns()]
    )
    sides = np.ptp(np.einsum("pi,kij->kpj", some, turns), axis=1)
    R = turns[int(np.argmin(np.maximum(sides, _THINNEST).prod(axis=1)))]
    return _place_box(points, R)


def _place_box(points: Vec, R: Vec) -> Enclosure:
    seen = points @ R
    low, high = seen.min(axis=0), seen.max(axis=0)
    size = np.maximum(high - low, _THINNEST)
    place = pin.SE3(R, R @ (0.5 * (low + high)))
    return Enclosure("box", tuple(size.tolist()), place, float(size.prod()))


def _list_turns() -> list[Vec]:
    return [np.eye(3)] + [pin.utils.rotate(k, a) for k in "xyz" for a in _QUARTER[1:]]
