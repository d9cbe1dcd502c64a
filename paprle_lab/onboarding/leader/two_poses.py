"""Sign, zero and gear of each servo from two postures.

A servo turns by sign · gear · Δq while its joint turns by the described Δq. The gear is
the known ratio nearest to the ratio of both; half of the remaining error is in the
zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import Vec

GEARS = (1.0 / 3.0, 20.0 / 44.0, 0.5, 1.0, 2.0, 44.0 / 20.0, 3.0)
"""Ratios that are found without being stated. chosen: those of printed gears and belts
of 20 and 44 teeth."""

_TURN = math.radians(45.0)  # chosen: half a right angle is shown well by eye
_ROOM = 0.8  # chosen: share of the way to a limit that a posture may use
_LEAST = math.radians(12.0)  # chosen: less shows no direction
_WITHIN = math.radians(8.0)  # chosen: two postures by hand, of 4 degrees each
_APART = math.radians(2.0)  # chosen: two gears are told apart by more
DOUBT = math.radians(3.0)
"""Difference of two postures that is worth showing them again, [rad]. chosen."""

_ALONE = 0.8  # chosen: share of all motion at which one joint turns alone
_HOME = math.radians(15.0)  # chosen: an imported zero is of a posture shown by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPoses:
    """A joint in two postures.

    Attributes:
        first: Position in the first, [rad].
        turn: To the second, [rad].
        gear: Servo turns per turn; None: to be found.
    """

    name: str
    first: float
    turn: float
    gear: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoFit:
    """q = sign · (angle − offset) / gear.

    Attributes:
        offset: [rad].
        residual: Shown less described joint turn, [rad].
    """

    sign: int
    offset: float
    gear: float
    residual: float


def choose_turns(
    names: Sequence[str],
    home: Sequence[float],
    limits: Mapping[str, tuple[float, float]],
) -> list[float]:
    """Return each joint's turn from home to the second posture, [rad].

    Raises:
        ValueError: If a joint has no room.
    """
    turns = []
    for name, q in zip(names, home, strict=True):
        low, high = limits[name]
        up, down = _ROOM * (high - q), _ROOM * (q - low)
        turn = min(_TURN, up) if up >= min(_TURN, down) else -min(_TURN, down)
        if not abs(turn) > _LEAST:
            raise ValueError(
                f"{name}: expected a home with {math.degrees(_LEAST):.0f} [deg] of "
                f"room, got {math.degrees(q):.0f} of {math.degrees(low):.0f} to "
                f"{math.degrees(high):.0f} [deg]"
            )
        turns.append(turn)
    return turns


def fit_servos(
    joints: Sequence[JointPoses], first: Vec, second: Vec
) -> tuple[list[ServoFit], list[str]]:
    """Return each servo's fit, and problems with remedies.

    Both postures are servo angles, whole turns counted, [rad].
    """
    fits, problems = [], []
    for joint, one, other in zip(joints, first, second, strict=True):
        turned = float(other - one)
        try:
            gear = _find_gear(joint, abs(turned))
        except ValueError as err:
            problems.append(f"{joint.name}: {err}")
            gear = joint.gear or 1.0
        sign = 1 if turned * joint.turn >= 0.0 else -1
        residual = sign * turned / gear - joint.turn
        middle = joint.first + 0.5 * joint.turn
        offset = 0.5 * float(one + other) - sign * gear * middle
        fits.append(ServoFit(sign=sign, offset=offset, gear=gear, residual=residual))
    return fits, problems


def _find_gear(joint: JointPoses, turned: float) -> float:
    wanted = abs(joint.turn)
    degrees = math.degrees(wanted)
    if turned < _LEAST * min(
        joint.gear or 1.0, GEARS[0] if joint.gear is None else 1.0
    ):
        raise ValueError(
            f"expected a turn of {degrees:.0f} [deg] between the postures, got that of "
            f"its servo of {math.degrees(turned):.0f}; turn it too, or is it another "
            "servo's joint?"
        )
    gears = GEARS if joint.gear is None else (joint.gear,)
    away = sorted((abs(turned / gear - wanted), gear) for gear in gears)
    near = [(far, gear) for far, gear in away if far <= _WITHIN]
    if not near:
        stated = "" if joint.gear is None else f"gear {joint.gear:.4g} times "
        raise ValueError(
            f"expected its servo to turn by {stated}{degrees:.0f} [deg], or by a known "
            f"gear ({', '.join(f'{gear:.3g}' for gear in GEARS)}), got "
            f"{math.degrees(turned):.0f}; show both postures again, or state its gear "
            "in the words: … pitch gear 1.5"
        )
    if len(near) > 1 and near[1][0] - near[0][0] < _APART:
        raise ValueError(
            f"expected one gear, got {near[0][1]:.3g} or {near[1][1]:.3g}; state it in "
            "the words: … pitch gear 2"
        )
    return near[0][1]


def compare_home(
    joints: Sequence[JointPoses], fits: Sequence[ServoFit], first: Vec
) -> list[str]:
    """Return joints whose imported zero differs from the shown home."""
    problems = []
    for joint, fit, angle in zip(joints, fits, first, strict=True):
        off = find_residual(joint.first, fit, float(angle))
        if abs(off) > _HOME:
            problems.append(
                f"{joint.name}: expected {math.degrees(joint.first):+.0f} [deg] in "
                f"this posture, got {math.degrees(joint.first + off):+.0f} by the "
                "imported values; is it this arm's file, and are ids and posture right?"
            )
    return problems


def find_residual(q: float, fit: ServoFit, angle: float) -> float:
    """Return a joint's position less q, in the nearest turn."""
    turned = fit.sign * (angle - fit.offset) - fit.gear * q
    return math.remainder(turned, 2.0 * math.pi) / fit.gear


def find_lone_turns(sweep: Vec) -> tuple[Vec, list[int]]:
    """Return each servo's turn alone, [rad], and their order in time.

    ``sweep`` has servo angles, shape (t, n), [rad].
    """
    steps = np.abs(np.diff(sweep, axis=0))
    is_alone = steps > _ALONE * steps.sum(axis=1, keepdims=True)
    alone = np.where(is_alone, steps, 0.0)
    travel: Vec = alone.sum(axis=0)
    moment = np.arange(len(alone)) @ alone / np.maximum(travel, 1e-9)
    order: list[int] = np.argsort(moment, kind="stable").tolist()
    return travel, order


def find_mirrored(names: Sequence[str], sweep: Vec) -> list[tuple[str, str]]:
    """Return servos that turned oppositely all along a sweep, (t, n)."""
    away = sweep - sweep[0]
    found = []
    for i, one in enumerate(names):
        for k in range(i + 1, len(names)):
            both = abs(away[:, i] + away[:, k]).max()
            if abs(away[:, i]).max() > _LEAST and both < 0.5 * _LEAST:
                found.append((one, names[k]))
    return found
