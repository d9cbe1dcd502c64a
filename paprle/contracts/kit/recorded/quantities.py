"""Plausibility of numbers in assumed or named units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec

_SLACK = 0.1  # [rad] chosen: rounding, and a turn that goes on a little beyond ±π
_WIDE = 2.0  # [m] chosen: farther than a hand and most arms reach
_WIDEST = 50.0  # [m] chosen: a hand that is carried through a building
_MOST_TURNS = 3.0  # chosen: no joint turns farther; a number beyond is in degrees
_NARROW = 0.2  # chosen: in [m], grippers open less; a gripper that is used opens more
_FASTEST = 1e-4  # [s] chosen: no recording has its rows closer to each other
_SLOWEST = 1.0  # [s] chosen: rows farther apart are no motion of a hand or an arm
_ABSURD = 1e20  # chosen: Unix time in [ns] is below it; squares of it are numbers
_TIMES = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_FEWEST = 3  # chosen: so many different whole numbers are no chance
_STILL = 1e-6  # chosen: a column that never moves is in any unit


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitKeys:
    """Settings that the texts name; ``insist``: how to keep radians."""

    angle: str = "leader.units.angle"
    length: str = "leader.units.length"
    joints: str = "leader.joints"
    insist: str = " (or rad)"


_KEYS = UnitKeys()


def doubt_angles(
    where: object, names: Sequence[str], angles: Vec, keys: UnitKeys = _KEYS
) -> str:
    """Return a doubt about assumed radians, (n, 3), or "".

    Raises:
        ConfigError: If they cannot be [rad].
    """
    low, high = _find_range(angles)
    is_turn = low >= -math.pi - _SLACK and high <= math.tau + _SLACK
    is_turn &= high <= math.pi + _SLACK or low >= -_SLACK
    if not is_turn or _is_whole(angles):
        raise ConfigError(
            f"{where}: expected angles in [rad], got {_list(names)} from {low:.4g} to "
            f"{high:.4g}; are they degrees? say {keys.angle}=deg{keys.insist}"
        )
    return (
        f"{_list(names)} from {low:.3g} to {high:.3g}, assumed: rad; if they are "
        f"degrees, {keys.angle}=deg"
    )


def doubt_turns(
    where: object, names: Sequence[str], turns: Vec, keys: UnitKeys = _KEYS
) -> str:
    """Return a doubt about rotation vectors in radians, (n, 3), or "".

    Raises:
        ConfigError: If one is longer than a whole turn.
    """
    longest = _find_range(np.linalg.norm(turns, axis=1))[1]
    if longest > math.tau + _SLACK:
        raise ConfigError(
            f"{where}: expected rotation vectors of at most a turn in [rad], got "
            f"{_list(names)} of {longest:.4g}; are they degrees? say {keys.angle}=deg"
        )
    if longest <= math.pi + _SLACK:
        return ""
    return (
        f"rotation vectors {_list(names)} of up to {longest:.3g} rad, more than half a "
        f"turn; if they are degrees, {keys.angle}=deg"
    )


def check_joints(
    where: object,
    names: Sequence[str],
    q: Vec,
    keys: UnitKeys = _KEYS,
    reach: Sequence[float] = (),
) -> None:
    """Check joints, (n, m), in radians.

    Args:
        where: Begins the text.
        names: Of the columns.
        q: [rad].
        keys: For the text.
        reach: Largest angle of each joint of the robot, [rad]; 0: not known.

    Raises:
        ConfigError: If one turns too far.
    """
    reaches = reach or [0.0] * len(names)
    for name, values, own in zip(names, q.T, reaches, strict=True):
        low, high = _find_range(values)
        if max(-low, high) > max(_MOST_TURNS * math.tau, own + _SLACK):
            raise ConfigError(
                f"{where}: expected joints in [rad], got '{name}' from {low:.4g} to "
                f"{high:.4g}; are they degrees? say {keys.angle}=deg{keys.insist}, or "
                f"leave out what is no joint with {keys.joints}"
            )


def doubt_joints(
    names: Sequence[str], q: Vec, keys: UnitKeys = _KEYS, reach: Sequence[float] = ()
) -> str:
    """Return a doubt about joints in radians, (n, m), or ""; ``reach`` as above."""
    reaches = reach or [0.0] * len(names)
    far = [
        name
        for name, values, own in zip(names, q.T, reaches, strict=True)
        if np.abs(values).max(initial=0.0) > max(math.tau, own) + _SLACK
    ]
    if not far and not _is_whole(q):
        return ""
    low, high = _find_range(q)
    what = f"{_list(far)} more than a turn" if far else "whole numbers"
    return (
        f"joints from {low:.3g} to {high:.3g} rad, {what}; if they are degrees, "
        f"{keys.angle}=deg"
    )


def doubt_assumed(names: Sequence[str], q: Vec, keys: UnitKeys = _KEYS) -> str:
    """Return a doubt about joints without a named unit, (n, m), or ""."""
    if not _is_moving(q):
        return ""
    low, high = _find_range(q)
    return (
        f"{_list(names)} from {low:.3g} to {high:.3g}, assumed: rad; if they are "
        f"degrees, {keys.angle}=deg{keys.insist}"
    )


def doubt_degrees(names: Sequence[str], degrees: Vec, keys: UnitKeys = _KEYS) -> str:
    """Return a doubt about angles in degrees, (n, m), or ""."""
    low, high = _find_range(degrees)
    if max(-low, high) > math.tau or not _is_moving(degrees) or _is_whole(degrees):
        return ""
    return (
        f"{_list(names)} from {low:.3g} to {high:.3g}, read in degrees: hardly any "
        f"motion; if they are radians, {keys.angle}=rad"
    )


def doubt_lengths(names: Sequence[str], p: Vec, keys: UnitKeys = _KEYS) -> str:
    """Return a doubt about metres, (n, 3), or ""."""
    p = p[np.isfinite(p).all(axis=1)]
    spread = float(np.ptp(p, axis=0).max()) if len(p) else 0.0
    if not spread > _WIDE:
        return ""
    return (
        f"{_list(names)} move by {spread:.3g}, assumed: m; if they are mm or cm, "
        f"{keys.length}"
    )


def check_lengths(
    where: object, names: Sequence[str], p: Vec, keys: UnitKeys = _KEYS
) -> None:
    """Check positions in metres, (n, 3).

    Raises:
        ConfigError: If they move farther than a hand is carried.
    """
    spread = float(np.ptp(p, axis=0).max(initial=0.0))
    if spread > _WIDEST:
        raise ConfigError(
            f"{where}: expected positions in [m], got {_list(names)} that move by "
            f"{spread:.4g}; are they in [mm] or [cm]? say {keys.length}=mm (or cm)"
        )


def doubt_small_lengths(
    names: Sequence[str], p: Vec, unit: str, keys: UnitKeys = _KEYS
) -> str:
    """Return a doubt about positions in mm or cm, (n, 3), or ""."""
    low, high = _find_range(p)
    if max(-low, high) > _WIDE or not _is_moving(p):
        return ""
    return (
        f"{_list(names)} from {low:.3g} to {high:.3g}, read in {unit}; if they are "
        f"metres, {keys.length}=m"
    )


def doubt_stamps(t: Vec) -> str:
    """Return a doubt about stamps in seconds, (n,), or ""."""
    dt = float(np.median(np.diff(t))) if len(t) > 1 else 0.0
    if dt <= _SLOWEST:
        return ""
    return f"rows are {dt:.3g} s apart; are the stamps in ms or ns?"


def doubt_opening(opening: Vec | None, hint: str = "") -> str:
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
    return f"gripper openings from {low:.3g} to {high:.3g}: {what}{hint}"


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
    return f"are the positions in [mm] or [cm]? say {_KEYS.length}=mm (or cm)"


def _is_whole(angles: Vec) -> bool:
    some = np.unique(angles[np.isfinite(angles)])
    return len(some) >= _FEWEST and bool((some == np.round(some)).all())


def _is_moving(values: Vec) -> bool:
    return bool(np.ptp(values, axis=0).max(initial=0.0) > _STILL)


def _find_range(values: Vec) -> tuple[float, float]:
    some = values[np.isfinite(values)]
    return (float(some.min()), float(some.max())) if some.size else (0.0, 0.0)


def _list(names: Sequence[str]) -> str:
    return " ".join(f"'{name}'" for name in names)
