"""Calibration values of a leader from another program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """q = sign · (angle − offset) for each servo; the gear is 1.

    Attributes:
        offsets: [rad].
        gripper: Id, closed angle and open angle, [rad].
    """

    ids: tuple[int, ...]
    signs: tuple[int, ...]
    offsets: tuple[float, ...]
    gripper: tuple[int, float, float] | None
