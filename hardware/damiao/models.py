"""Damiao's motors and arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MotorModel:
    """Ranges of a motor's frames: PMAX [rad], VMAX [rad/s], TMAX [N·m]."""

    q: float
    dq: float
    tau: float


# spec: openarm_can, MOTOR_LIMIT_PARAMS; i2rt, MotorConstants
MOTORS: Mapping[str, MotorModel] = {
    "DM4310": MotorModel(12.5, 30.0, 10.0),
    "DM4340": MotorModel(12.5, 10.0, 28.0),
    "DM8009": MotorModel(12.5, 45.0, 54.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmModel:
    """Motors 1 … n at an arm's joints, n + 1 at its gripper.

    Attributes:
        motors: Models, the gripper's last.
        kp: Stiffness by motor, [N·m/rad].
        kd: Damping, [N·m·s/rad].
        tau: Largest, [N·m].
        drag: Damping in a hand, [N·m·s/rad].
        grip_closed: Gripper motor, [rad].
        grip_open: [rad].
    """

    motors: tuple[str, ...]
    kp: tuple[float, ...]
    kd: tuple[float, ...]
    tau: tuple[float, ...]
    drag: tuple[float, ...]
    grip_closed: float
    grip_open: float

    @property
    def n(self) -> int:
        """Number of joints, without the gripper."""
        return len(self.motors) - 1


ARMS: Mapping[str, ArmModel] = {
    # spec: openarm_ros2, v10_simple_hardware.hpp: motors, gains, gripper. chosen: tau,
    # half of the motors' peaks, which carries the stretched arm (11 N·m) twice; drag,
    # which a hand feels as 1 N at 0.8 m/s, and which bounds how fast an arm sinks whose
    # masses are wrong
    "openarm": ArmModel(
        motors=("DM8009", "DM8009", "DM4340", "DM4340", *("DM4310",) * 4),
        kp=(70.0, 70.0, 70.0, 60.0, 10.0, 10.0, 10.0, 5.0),
        kd=(2.75, 2.5, 2.0, 2.0, 0.7, 0.6, 0.5, 0.1),
        tau=(20.0, 20.0, 13.0, 13.0, 3.5, 3.5, 3.5, 1.0),
        drag=(0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0.05),
        grip_closed=0.0,
        grip_open=-1.0472,
    ),
    # spec: i2rt, yam.yml and linear_4310.yml: motors, gains, 6.57 rad for 96 mm;
    # chosen: damping of the wrist, a third of the maker's, so that it lags no more than
    # the others; tau of the shoulder above the 15 N·m that carry the stretched arm
    "yam": ArmModel(
        motors=(*("DM4340",) * 3, *("DM4310",) * 4),
        kp=(80.0, 80.0, 80.0, 10.0, 10.0, 10.0, 20.0),
        kd=(5.0, 5.0, 5.0, 0.5, 0.5, 0.5, 0.5),
        tau=(18.0, 22.0, 18.0, 3.5, 3.5, 3.5, 1.0),
        drag=(0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0.05),
        grip_closed=0.0,
        grip_open=6.426,
    ),
}
