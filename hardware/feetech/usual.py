"""Usual settings of servos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paprle.hardware.feetech.inspection import SETUP
from paprle.hardware.feetech.models import MIRRORED

_PROTECTIONS = 0x2C  # spec: memory table, Unloading_Condition on delivery
_OVERLOAD, _CURRENT, _HEAT = 0x20, 0x08, 0x04  # spec: memory table, its bits
_FULL = 1000  # spec: memory table, Max_Torque_Limit
_GRIPPER = {"Max_Torque_Limit": 500, "Protection_Current": 250, "Overload_Torque": 25}
"""spec: LeRobot, so_follower.py, what it writes at a gripper."""


@dataclass(frozen=True, slots=True)
class Usual:
    """Usual values, and the default."""

    low: int
    high: int
    value: int
    effect: str


# spec: memory table, values on delivery, and LeRobot's so_follower.py (P 16, I 0, D 32)
# chosen: bounds about both, beyond which an arm shakes, sags or burns out
_USUAL: Mapping[str, Usual] = {
    "P_Coefficient": Usual(8, 64, 16, "the joint sags or shakes"),
    "I_Coefficient": Usual(0, 8, 0, "the joint overshoots or swings"),
    "D_Coefficient": Usual(0, 64, 32, "the joint shakes"),
    "CW_Dead_Zone": Usual(0, 4, 1, "the joint stops short of its goal"),
    "CCW_Dead_Zone": Usual(0, 4, 1, "the joint stops short of its goal"),
    "Minimum_Startup_Force": Usual(0, 64, 16, "the joint jerks about its goal"),
    "Overload_Torque": Usual(20, 90, 80, "a blocked joint is not let go"),
    "Protection_Time": Usual(1, 250, 200, "a blocked joint is not let go in time"),
    "Protective_Torque": Usual(0, 40, 20, "a blocked joint goes on pushing"),
    "Protection_Current": Usual(50, 511, 500, "its current is not limited"),
    "Max_Temperature_Limit": Usual(40, 80, 70, "it burns out before it stops"),
}


def is_gripper(kept: Mapping[str, int]) -> bool:
    """Return whether protections are LeRobot's for grippers."""
    return all(kept[name] == value for name, value in _GRIPPER.items())


def list_usual(kept: Mapping[str, int]) -> dict[str, int]:
    """Return replacements of odd settings."""
    wanted = {
        name: one.value
        for name, one in _USUAL.items()
        if not one.low <= kept[name] <= one.high
    }
    wanted["Unloading_Condition"] = kept["Unloading_Condition"] | _PROTECTIONS
    wanted["Phase"] = kept["Phase"] & ~MIRRORED
    if not is_gripper(kept):
        wanted["Max_Torque_Limit"] = _FULL
    return wanted


def find_odd(
    kept: Mapping[str, int], *, is_gripper_joint: bool, is_driven: bool
) -> Iterator[str]:
    """Yield odd settings; ``kept`` has values by register."""
    if kept["Phase"] & MIRRORED:
        yield (
            "expected its own direction, got a reversed one (bits 0 and 1 of Phase): "
            f"the joint goes the wrong way; clear them {SETUP}"
        )
    if is_driven:
        yield from _find_weak(kept, is_gripper_joint)
        yield from _find_unprotected(kept)
        yield from _find_unusual(kept)


def _find_weak(kept: Mapping[str, int], is_gripper_joint: bool) -> Iterator[str]:
    most = kept["Max_Torque_Limit"]
    if is_gripper(kept) and not is_gripper_joint:
        yield (
            "expected the protections of an arm's joint, got those that LeRobot "
            "gives a gripper: its id was the gripper's; unless the ids are exchanged, "
            f"set a Max_Torque_Limit of {_FULL}, Overload_Torque of 80"
        )
        return
    least = _GRIPPER["Max_Torque_Limit"] if is_gripper_joint else _FULL
    if most < least:
        yield (
            f"expected a Max_Torque_Limit of at least {least}, got {most}: the joint "
            f"is weak; set it {SETUP}"
        )


def _find_unprotected(kept: Mapping[str, int]) -> Iterator[str]:
    named = {_OVERLOAD: "overload", _CURRENT: "current", _HEAT: "heat"}
    active = kept["Unloading_Condition"]
    off = [word for bit, word in named.items() if not active & bit]
    if off:
        yield (
            f"expected protection from overload, current and heat, got none from "
            f"{', '.join(off)} (Unloading_Condition {active}); set it {SETUP}"
        )


def _find_unusual(kept: Mapping[str, int]) -> Iterator[str]:
    for name, one in _USUAL.items():
        if not one.low <= kept[name] <= one.high:
            yield (
                f"expected {name} of {one.low} to {one.high}, got {kept[name]}: "
                f"{one.effect}; set it to {one.value} {SETUP}"
            )
