"""Whether numbers can be meant in the units that nobody named."""

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
_FEWEST = 3  # chosen: so many different whole numbers are no chance


def doubt_angles(path: Path, names: Sequence[str], angles: Vec) -> str:
    """Judge the angles of an orientation whose unit is assumed to be rad.

    Args:
        path: The file, for messages.
        names: Their columns.
        angles: Shape (n, 3), [rad] as assumed.

    Returns:
        What to check.

    Raises:
        ConfigError: If they are plainly no angles in [rad].
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
    """Refuse joints whose unit is assumed to be rad, and which are too large for it.

    Args:
        path: The file, for messages.
        names: The joints.
        q: Their positions, shape (n, m), [rad] as assumed.

    Raises:
        ConfigError: If one of them turns too far.
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
    """Judge positions whose unit is assumed to be m.

    Args:
        names: Their columns.
        p: Shape (n, 3), [m] as assumed.

    Returns:
        What to check; empty where they are of an arm's size.
    """
    spread = float(np.ptp(p, axis=0).max()) if len(p) else 0.0
    if not spread > _WIDE:
        return ""
    return (
        f"{_list(names)} move by {spread:.3g}, assumed: m; if they are mm or cm, "
        "leader.units.length"
    )


def _is_whole(angles: Vec) -> bool:
    """Whether the numbers are whole, and too many for a unit of 57 degrees."""
    some = np.unique(angles[np.isfinite(angles)])
    return len(some) >= _FEWEST and bool((some == np.round(some)).all())


def _find_range(values: Vec) -> tuple[float, float]:
    some = values[np.isfinite(values)]
    return (float(some.min()), float(some.max())) if some.size else (0.0, 0.0)


def _list(names: Sequence[str]) -> str:
    return " ".join(f"'{name}'" for name in names)
