"""Plausibility of numbers in assumed units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec

_SLACK = 0.1  # [rad] chosen: rounding, and a turn that goes on a little beyond ±π
_WIDE = 2.0  # [m] chosen: farther than a hand and most arms reach
_MOST_TURNS = 3.0  # chosen: no joint is told to be farther, but in degrees
_NARROW = 0.2  # chosen: in [m], grippers open less; a gripper that is used opens more
_FASTEST = 1e-4  # [s] chosen: no recording has its rows closer to each other
_ABSURD = 1e20  # chosen: Unix time in [ns] is below it; squares of it are numbers
_TIMES = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_FEWEST = 3  # chosen: so many different whole numbers are no chance


def doubt_angles(path: Path, names: Sequence[str], angles: Vec) -> str:
    """Return a doubt about assumed radians, (n, 3), or "".

    Raises:
        ConfigError: If they cannot be [rad].
    """
    low, high = _find_range(angles)
    is_turn = low >= -math.pi - _SLACK and high <= math.tau + _SLACK
    is_turn &= high <= math.pi + _SLACK or low >= -_SLACK
    if not is_turn or _is_whole(angles):
        raise ConfigError(
            f"{path}: expected angles in [rad] where no unit is named, got "
            f"{_list(names)} from {low:.4g} to {high:.4g}; are they degrees? say "
            "leader.units.angle=deg (or rad)"
        )
    return (
        f"{_list(names)} from {low:.3g} to {high:.3g}, assumed: rad; if they are "
        "degrees, leader.units.angle=deg"
    )


def check_joints(path: Path, names: Sequence[str], q: Vec) -> None:
    """Check joints, (n, m), in assumed radians.

    Raises:
        ConfigError: If one turns too far.
    """
    for name, values in zip(names, q.T, strict=True):
        low, high = _find_range(values)
        if max(-low, high) > _MOST_TURNS * math.tau:
            raise ConfigError(
                f"{path}: expected joints in [rad] where no unit is named, got "
                f"'{name}' from {low:.4g} to {high:.4g}; are they degrees? say "
                "leader.units.angle=deg (or rad), or leave out what is no joint with "
                "leader.joints"
            )


def doubt_lengths(names: Sequence[str], p: Vec) -> str:
    """Return a doubt about assumed metres, (n, 3), or ""."""
    p = p[np.isfinite(p).all(axis=1)]
    spread = float(np.ptp(p, axis=0).max()) if len(p) else 0.0
    if not spread > _WIDE:
        return ""
    return (
        f"{_list(names)} move by {spread:.3g}, assumed: m; if they are mm or cm, "
        "leader.units.length"
    )


def doubt_opening(opening: Vec | None) -> str:
    """Return a doubt about a gripper's openings, (n,), or ""."""
    if opening is None:
        return ""
    low, high = _find_range(opening)
    if low < -_SLACK or high > 1.0 + _SLACK:
        what = "outside of 0 (closed) … 1 (open) they are clipped; is this percent?"
    elif low < high < _NARROW:
        what = "0 is closed and 1 is open; are these metres?"
    else:
        return ""
    return f"gripper openings from {low:.3g} to {high:.3g}: {what}"


def guess_units(t: Vec, p: Vec | None, max_gap: float) -> str:
    """Return a question on units that would make a motion, or "".

    Stamps, (n,), are assumed in [s], positions, (n, 3), in [m].
    """
    steps = np.abs(np.diff(t[np.abs(t) < _ABSURD]))
    dt = float(np.median(steps)) if len(steps) else 0.0
    for unit, factor in _TIMES.items():
        if dt > max_gap and _FASTEST <= dt * factor <= max_gap:
            return f"are the stamps in [{unit}]? say leader.units.time={unit}"
    p = None if p is None else p[(np.abs(p) < _ABSURD).all(axis=1)]
    if p is None or len(p) < 2:
        return ""
    way = np.median(np.linalg.norm(np.diff(p, axis=0), axis=1))
    place = np.median(np.linalg.norm(p - p[0], axis=1))
    if not max(way / max(dt, _FASTEST), place) > _WIDE:
        return ""
    return "are the positions in [mm] or [cm]? say leader.units.length=mm (or cm)"


def _is_whole(angles: Vec) -> bool:
    some = np.unique(angles[np.isfinite(angles)])
    return len(some) >= _FEWEST and bool((some == np.round(some)).all())


def _find_range(values: Vec) -> tuple[float, float]:
    some = values[np.isfinite(values)]
    return (float(some.min()), float(some.max())) if some.size else (0.0, 0.0)


def _list(names: Sequence[str]) -> str:
    return " ".join(f"'{name}'" for name in names)
