"""One arm: servo angles to URDF joints.

q = sign · (angle − offset) / gear, servo torque = sign · tau / gear. After a power
loss, the turn is the nearest to the reset pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import GripperInfo, LeaderArm, Vec, readonly
from paprle.hardware.dynamixel.bus import Reading
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.leaders.puppeteer.config import (
    GripperServoSettings,
    PuppetSettings,
    ServoSettings,
)
from paprle.leaders.puppeteer.servo_models import find_stall_torque

_TURN = 2.0 * math.pi
AnyServo = ServoSettings | GripperServoSettings


@dataclass(frozen=True, slots=True)
class ArmState:
    """An arm at one instant: arm joints, then the gripper's, (n,).

    Attributes:
        q: [rad].
        dq: [rad/s].
        tau: [N·m]; NaN without a sensor.
        opening: 0 … 1, or None.
    """

    q: Vec
    dq: Vec
    tau: Vec
    opening: float | None


class Arm:
    """One arm and its servos.

    Attributes:
        joint_names: Arm joints, then the gripper's.
        reset_q: Rest pose of the arm joints, (n_arm,), [rad].
    """

    def __init__(self, name: str, settings: PuppetSettings, first: int) -> None:
        self.name, self.settings = name, settings
        gripper = settings.gripper
        servos: list[AnyServo] = [*settings.servos.values()]
        names = list(settings.servos)
        self.n_arm = len(servos)
        if gripper is not None:
            servos.append(gripper)
            names.append(gripper.joint)
        self.servos, self.joint_names = tuple(servos), tuple(names)
        self.place = slice(first, first + len(servos))
        self.reset_q = _make_row(settings.reset_q or (0.0,) * self.n_arm)
        middle = [] if gripper is None else [0.5 * (gripper.closed + gripper.open)]
        self._q_near = np.concatenate([self.reset_q, middle])
        sign = np.array([float(servo.sign) for servo in servos])
        gear = np.array([servo.gear for servo in servos])
        self._per_angle, self._per_q = sign / gear, sign * gear
        self._offset = np.array([servo.offset for servo in servos])
        self._turns = np.zeros(len(servos))
        self._zero = self._offset  # angle of each servo at q = 0, less whole turns
        self._epoch: npt.NDArray[np.int64] = np.zeros(len(servos), dtype=np.int64)

    @property
    def servo_specs(self) -> tuple[ServoSpec, ...]:
        """Its servos."""
        return tuple(
            ServoSpec(
                servo.id,
                servo.model,
                find_twin(servo),
                servo.torque_map,
                servo.torque_gain,
            )
            for servo in self.servos
        )

    @property
    def info(self) -> LeaderArm:
        """Description for the core."""
        s = self.settings
        gripper = None
        if s.gripper is not None:
            g = s.gripper
            gripper = GripperInfo(joint=g.joint, closed=g.closed, open=g.open)
        return LeaderArm(
            urdf_path=Path(s.urdf),
            base_link=s.base_link,
            eef_link=s.eef_link,
            joint_names=self.joint_names[: self.n_arm],
            gripper=gripper,
            R_base=_make_rotation(s.base_rpy_xyz_extrinsic),
            reset_q=self.reset_q if s.reset_q else None,
            tau_max=_make_row(
                tuple(
                    find_stall_torque(one.model) * one.gear * count_motors(one)
                    for one in self.servos
                )
            ),
        )

    def is_in(self, reading: Reading) -> bool:
        """Return whether all its servos have answered."""
        return bool(np.isfinite(reading.angle[self.place]).all())

    def convert(self, reading: Reading) -> ArmState:
        """Return the state from a complete reading."""
        angle, epoch = reading.angle[self.place], reading.epoch[self.place]
        if (epoch != self._epoch).any():
            expected = self._offset + self._per_q * self._q_near
            turns = np.round((expected - angle) / _TURN)
            self._turns = np.where(epoch != self._epoch, turns, self._turns)
            self._zero, self._epoch = self._offset - _TURN * self._turns, epoch
        values = np.empty((3, len(angle)))
        values[0] = (angle - self._zero) * self._per_angle
        values[1] = reading.velocity[self.place] * self._per_angle
        values[2] = reading.torque[self.place] * self._per_q
        values.setflags(write=False)
        q, dq, tau = values
        return ArmState(q, dq, tau, self._find_opening(float(q[-1])))

    def _find_opening(self, q: float) -> float | None:
        gripper = self.settings.gripper
        if gripper is None:
            return None
        opening = (q - gripper.closed) / (gripper.open - gripper.closed)
        return min(max(opening, 0.0), 1.0)

    def find_distance(self, state: ArmState) -> float:
        """Return the largest distance to the reset pose, [rad]."""
        return float(np.abs(state.q[: self.n_arm] - self.reset_q).max())

    def to_servos(self, tau: Vec) -> Vec:
        """Return servo torques of joint torques, [N·m]."""
        torque: Vec = self._per_angle * tau
        return torque


def find_twin(servo: AnyServo) -> int | None:
    """Return a joint's second servo id, or None."""
    return servo.twin if isinstance(servo, ServoSettings) else None


def count_motors(servo: AnyServo) -> int:
    """Return the number of servos at the joint."""
    return 1 if find_twin(servo) is None else 2


def stand_still(state: ArmState) -> ArmState:
    """Return the joints without motion and torques."""
    nil = np.zeros(state.q.size)
    return replace(state, dq=readonly(nil), tau=readonly(nil + np.nan))


@lru_cache(maxsize=64)
def _make_rotation(rpy_xyz_extrinsic: tuple[float, float, float]) -> Vec:
    """Return a cached mounting, so that infos compare equal."""
    return readonly(pin.rpy.rpyToMatrix(*rpy_xyz_extrinsic))


@lru_cache(maxsize=64)
def _make_row(values: tuple[float, ...]) -> Vec:
    return readonly(values)
