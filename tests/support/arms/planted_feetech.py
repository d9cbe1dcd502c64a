"""Faults and calibrations planted in an emulated SO-101 in virtual time."""

from __future__ import annotations

NAMES = (
    "shoulder_pan",
    "shoulder_lift",
    "elbow_flex",
    "wrist_flex",
    "wrist_roll",
    "gripper",
)


def put(joint, **registers):
    """Return a plant that sets registers of a joint's servo wrongly."""

    def plant(bench):
        for name, value in registers.items():
            bench.faults.cause(
                {"fault": "register", "joint": joint, "name": name, "value": value}
            )

    return plant


def cause(**fault):
    return lambda bench: bench.faults.cause(fault)


def make_tree(bench):
    """Return LeRobot's file of an arm."""
    return {
        name: {
            "id": number,
            "drive_mode": 0,
            "homing_offset": servo.memory.get("Homing_Offset"),
            "range_min": servo.memory.get("Min_Position_Limit"),
            "range_max": servo.memory.get("Max_Position_Limit"),
        }
        for number, (name, servo) in enumerate(
            zip(NAMES, bench.limb.servos, strict=True), start=1
        )
    }
