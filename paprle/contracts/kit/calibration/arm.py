"""Calibration of a servo arm from two postures and a sweep of each joint; pure.

The sweep's order shows each servo's joint, the postures direction and gear, the stops
the true middle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import Vec

OFF = math.radians(12.0)
"""Distance of the first posture from the middle of the travel that is refused, [rad].
chosen: people show a posture within 5 to 8 degrees."""

_FREE = math.radians(300.0)  # chosen: LeRobot's files have such joints turn freely
_TURN = math.radians(40.0)  # chosen: seen well, and far from a stop
_INSIDE = 0.8  # chosen: of the way to the stop
_LEAST_SHARE = 0.75  # chosen: of a joint's travel; less is a stop that was not reached
_WIDE = math.radians(25.0)  # chosen: more than the URDF's travel: another joint or gear
_SHOWN = math.radians(15.0)  # chosen: least turn that shows a direction
_GEARS = (0.7, 1.4)  # chosen: a posture shown by hand says so much about a gear of 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JointModel:
    """Known stops of a joint, and the turn to the second posture, [rad]."""

    name: str
    q_min: float
    q_max: float
    q_shown: float
    has_stops: bool = True

    @property
    def middle(self) -> float:
        """Middle of the travel, [rad]."""
        return 0.5 * (self.q_min + self.q_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPostures:
    """Unwrapped servo angles of postures, (n,), and sweep, (t, n), [rad]."""

    middle: Vec
    shown: Vec
    sweep: Vec


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFit:
    """Fit of a joint, q = sign · (angle − offset), and its sweep, [rad]."""

    sign: int
    offset: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ServoRange:
    """Mid-travel and travel of a servo, [rad]; None if it turns freely."""

    middle: float
    travel: float | None
    sign: int


def find_ranges(
    joints: Sequence[JointModel], fits: Sequence[JointFit]
) -> list[ServoRange]:
    """Return each joint's travel at its servo."""
    return [
        ServoRange(
            middle=fit.offset + fit.sign * joint.middle,
            travel=fit.high - fit.low if joint.has_stops else None,
            sign=fit.sign,
        )
        for joint, fit in zip(joints, fits, strict=True)
    ]


def make_models(
    names: Sequence[str], q_min: Sequence[float], q_max: Sequence[float]
) -> list[JointModel]:
    """Return the models of joints from their limits, [rad]."""
    return [
        _make_model(name, low, high)
        for name, low, high in zip(names, q_min, q_max, strict=True)
    ]


def _make_model(name: str, low: float, high: float) -> JointModel:
    if high - low >= _FREE:
        return JointModel(
            name=name, q_min=-math.pi, q_max=math.pi, q_shown=_TURN, has_stops=False
        )
    shown = min(_TURN, _INSIDE * 0.5 * (high - low))
    return JointModel(name=name, q_min=low, q_max=high, q_shown=shown)


def fit_arm(
    joints: Sequence[JointModel], recorded: RecordedPostures
) -> tuple[list[JointFit], list[str]]:
    """Return the fit of each joint, and problems with remedies."""
    problems = find_exchanged(joints, recorded.sweep)
    low, high = recorded.sweep.min(axis=0), recorded.sweep.max(axis=0)
    fits = []
    for i, joint in enumerate(joints):
        turned = float(recorded.shown[i] - recorded.middle[i])
        sign = 1 if turned * joint.q_shown >= 0.0 else -1
        middle, shown = 0.5 * float(low[i] + high[i]), float(recorded.middle[i])
        offset = (middle if joint.has_stops else shown) - sign * joint.middle
        fits.append(
            JointFit(sign=sign, offset=offset, low=float(low[i]), high=float(high[i]))
        )
        problems += _judge_turn(joint, turned)
        if joint.has_stops:
            problems += _judge_travel(joint, float(high[i] - low[i]))
            problems += _judge_middle(joint, shown - middle)
    return fits, problems


def find_exchanged(joints: Sequence[JointModel], sweep: Vec) -> list[str]:
    """Return messages on servos that moved out of turn."""
    travel = np.ptp(sweep, axis=0)
    if (travel < _SHOWN).any():
        still = [j.name for j, t in zip(joints, travel, strict=True) if t < _SHOWN]
        return [
            f"expected each joint to be turned from stop to stop, got "
            f"{', '.join(still)} still"
        ]
    # a joint is at both of its stops while it is being turned, and at no other time
    centre = 0.5 * (sweep.argmin(axis=0) + sweep.argmax(axis=0))
    order = np.argsort(centre, kind="stable")
    return [
        f"{joints[place].name}: expected its servo to move as number {place + 1} of "
        f"the sweep, got that of {joints[servo].name}; if they were turned in order, "
        "the ids of their servos are exchanged: paprle setup-servos sets them"
        for place, servo in enumerate(order)
        if place != servo
    ]


def _judge_turn(joint: JointModel, turned: float) -> list[str]:
    wanted, got = math.degrees(joint.q_shown), math.degrees(turned)
    if abs(turned) < _SHOWN:
        return [
            f"{joint.name}: expected a turn of {wanted:+.0f} [deg] between the "
            f"postures, got {got:+.0f}; show both again"
        ]
    if not _GEARS[0] <= abs(got / wanted) <= _GEARS[1]:
        return [
            f"{joint.name}: expected a turn of {abs(wanted):.0f} [deg] between the "
            f"postures, got {abs(got):.0f}; show both again, or its gear is not 1"
        ]
    return []


def _judge_travel(joint: JointModel, travel: float) -> list[str]:
    known = joint.q_max - joint.q_min
    if travel < _LEAST_SHARE * known:
        remedy = "turn it to both stops"
    elif travel > known + _WIDE:
        remedy = "is its horn loose, or is it another joint?"
    else:
        return []
    return [
        f"{joint.name}: expected a travel of {math.degrees(known):.0f} [deg], got "
        f"{math.degrees(travel):.0f}; {remedy}"
    ]


def _judge_middle(joint: JointModel, distance: float) -> list[str]:
    if abs(distance) <= OFF:
        return []
    return [
        f"{joint.name}: expected the middle that was shown within "
        f"{math.degrees(OFF):.0f} [deg] of that between its stops, got "
        f"{math.degrees(distance):+.0f}; show it again and turn the joint to both "
        "stops; if it stays, its horn is fitted that far off"
    ]
