"""Calibration values of a leader that another program has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """q = sign · (angle − offset) for each servo; the gear is 1.

    Attributes:
        offsets: [rad].
        gripper: Id, and angles where it is closed and open, [rad]; None: none.
    """

    ids: tuple[int, ...]
    signs: tuple[int, ...]
    offsets: tuple[float, ...]
    gripper: tuple[int, float, float] | None
