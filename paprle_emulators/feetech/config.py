"""Emulated rigs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paprle_emulators.feetech.models import RAD_PER_TICK, TICKS

JOINTS = (
    "shoulder_pan",
    "shoulder_lift",
    "elbow_flex",
    "wrist_flex",
    "wrist_roll",
    "gripper",
)
# spec: SO-ARM100, Simulation/SO101/so101_new_calib.urdf, joint limits [rad]
LIMITS = (
    (-1.91986, 1.91986),
    (-1.74533, 1.74533),
    (-1.69, 1.69),
    (-1.65806, 1.65806),
    (-2.74385, 2.84121),
    (-0.174533, 1.74533),
)
# spec: the same, Simulation/SO100/so100.urdf, its zeros as the SO-101's
SO100_LIMITS = (
    (-2.0, 2.0),
    (-1.8, 1.7),
    (-1.5708, 1.5708),
    (-1.9292, 1.7708),
    (-3.14159, 3.14159),
    (-0.2, 2.0),
)
MIDDLE = 2047  # spec: LeRobot's calibration, position of the middle of a range [ticks]
# chosen: encoder positions of the joints' middles, as horns come to sit [ticks]
MOUNTED = (2301, 1765, 2610, 1502, 2750, 1890)
PRESSED = 0.03  # chosen: a calibration's sweep presses joints so far into stops [rad]
# chosen: folded as people leave it; the meshes of SO-ARM100 do not touch there [rad]
REST = (0.0, -1.45, 1.4, 0.9, 0.0)
IN_HAND = (0.0, -0.7, 0.7, 0.7, 0.0)  # chosen: handle before the arm [rad]
CLOSED, OPEN = -0.1, 1.2  # chosen: of the gripper, within its limits [rad]
GRIPPER = "gripper"
# spec: LeRobot, robots/so_follower, what it writes at a gripper
GRIPPER_SAFETY = {
    "Max_Torque_Limit": 500,
    "Protection_Current": 250,
    "Overload_Torque": 25,
}
WHOLE_TURN = "wrist_roll"  # spec: LeRobot's calibration, a joint without range

STRONG, WEAK = "sts3215-c018", "sts3215-c001"
# spec: LeRobot, docs/source/so101.mdx, gears 1/191, 1/345, 1/191, 1/147 … of a leader
LEADER = (
    "sts3215-c044",
    "sts3215-c001",
    "sts3215-c044",
    "sts3215-c046",
    "sts3215-c046",
    "sts3215-c046",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoSpec:
    """One joint and its servo.

    Attributes:
        mounted: Encoder at the joint's middle, [ticks].
        lower: [rad].
        upper: [rad].
    """

    joint: str
    number: int
    model: str
    mounted: int
    lower: float
    upper: float

    @property
    def stops(self) -> tuple[float, float]:
        """Mechanical ends, [rad]."""
        return self.lower + PRESSED, self.upper - PRESSED

    @property
    def range(self) -> tuple[int, int]:
        """Calibrated position limits, [ticks]."""
        if self.joint == WHOLE_TURN:
            return 0, TICKS - 1
        half = (self.upper - self.lower) / 2 / RAD_PER_TICK
        return round(MIDDLE - half), round(MIDDLE + half)

    @property
    def middle(self) -> float:
        """Joint position at mid-range, [rad]."""
        if self.joint == WHOLE_TURN:
            return 0.0
        return (self.lower + self.upper) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbSpec:
    """An arm; ``setting`` is its port's key."""

    name: str
    setting: str
    servos: tuple[ServoSpec, ...]
    is_held: bool

    @property
    def home(self) -> tuple[float, ...]:
        """First pose without gripper, [rad]."""
        return IN_HAND if self.is_held else REST


@dataclass(frozen=True, slots=True, kw_only=True)
class RigSpec:
    """A rig.

    Attributes:
        setup: ``lerobot``: calibrated; ``factory``: as delivered, with IDs.
        is_ideal: Servos follow the memory table.
        plant: MuJoCo model; None: ``links``.
    """

    name: str
    limbs: tuple[LimbSpec, ...]
    setup: Literal["lerobot", "factory"] = "lerobot"
    is_ideal: bool = False
    plant: Path | None = None


def make_limb(
    name: str,
    setting: str,
    models: tuple[str, ...],
    limits: tuple[tuple[float, float], ...] = LIMITS,
    is_held: bool = False,
) -> LimbSpec:
    """Return a six-servo arm."""
    rows = zip(JOINTS, models, MOUNTED, limits, strict=True)
    servos = tuple(
        ServoSpec(
            joint=joint,
            number=number,
            model=model,
            mounted=mounted,
            lower=low,
            upper=high,
        )
        for number, (joint, model, mounted, (low, high)) in enumerate(rows, 1)
    )
    return LimbSpec(name=name, setting=setting, servos=servos, is_held=is_held)


RIGS: Mapping[str, tuple[LimbSpec, ...]] = {
    "so101": (make_limb("follower", "env.port", (STRONG,) * 6),),
    "so101_leader": (
        make_limb("leader", "leader.limbs.arm.port", LEADER, is_held=True),
    ),
    "so101_2arm": (
        make_limb("left", "env.ports.left", (STRONG,) * 6),
        make_limb("right", "env.ports.right", (STRONG,) * 6),
    ),
    "so100": (make_limb("follower", "env.port", (WEAK,) * 6, SO100_LIMITS),),
    "so100_leader": (
        make_limb(
            "leader", "leader.limbs.arm.port", (WEAK,) * 6, SO100_LIMITS, is_held=True
        ),
    ),
}


SETUPS: Mapping[str, Literal["lerobot", "factory"]] = {
    "lerobot": "lerobot",
    "factory": "factory",
}


def find_rig(
    name: str,
    setup: str = "lerobot",
    is_ideal: bool = False,
    plant: Path | None = None,
) -> RigSpec:
    """Return a rig.

    Raises:
        ValueError: If rig or setup is unknown.
    """
    if name not in RIGS:
        raise ValueError(f"rig: expected one of {', '.join(RIGS)}, got '{name}'")
    if setup not in SETUPS:
        raise ValueError(f"setup: expected one of {', '.join(SETUPS)}, got '{setup}'")
    return RigSpec(
        name=name,
        limbs=RIGS[name],
        setup=SETUPS[setup],
        is_ideal=is_ideal,
        plant=plant,
    )
