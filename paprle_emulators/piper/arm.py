"""The emulated arm.

Servos are critically damped and hold their last target without a deadline.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from paprle_emulators.piper.protocol import (
    ACCELERATION,
    ANGLE_LIMITS_DEG,
    ASKS_GRIPPER,
    ENABLE,
    FIRMWARE,
    GRIPPER,
    GRIPPER_SETTINGS,
    JOINTS,
    LIMITS,
    MAX_OPENING_MM,
    MODE,
    MOVE_J,
    MOVE_M,
    N_JOINTS,
    QUERY_LIMITS,
    QUERY_SETTINGS,
    STICKY_BELOW,
    STOP,
    ArmStatus,
    ControlMode,
    Frame,
    from_millideg,
    pack_acceleration,
    pack_gripper_settings,
    pack_limits,
    parse_firmware,
    unpack_gripper,
    unpack_pair,
)

Vec = npt.NDArray[np.float64]

LAG = 0.02  # [s] chosen: behind a ramp, 2/ω of a critically damped servo; no figure
_MAX_SPEED = np.radians([180.0, 195.0, 180.0, 225.0, 225.0, 225.0])  # spec: data sheet
_MAX_FINGER_SPEED = 0.3  # [m/s] chosen: of the opening
_INERTIA = np.array([0.3, 0.3, 0.15, 0.02, 0.02, 0.005])  # [kg·m²] chosen: order only
_FRICTION = np.array([1.5, 1.5, 0.8, 0.1, 0.1, 0.05])  # [N·m·s/rad] chosen: unpowered
_DAMPED = 10.0  # chosen: how much slower an emergency stop sinks than no power
_G = 9.81  # [m/s²]
# Masses and lengths of the vertical plane. spec: urdf/piper, hand lumped on the forearm
_UPPER_MASS, _UPPER_COM, _UPPER = 1.17, 0.20, 0.285  # [kg], [m], [m]
_FORE_MASS, _FORE_COM = 0.5, 0.13  # [kg], [m]
_HAND_MASS, _HAND_COM = 1.22, 0.33  # [kg], [m]
_ELBOW2, _ELBOW3 = 0.10095, -1.759  # [rad] spec: urdf/piper, zeros of joints 2 and 3

_LOW, _HIGH = np.radians(ANGLE_LIMITS_DEG).T
_MAX_ACCELERATION = 5.0  # [rad/s²] chosen: what an arm answers to a query
_OFF, _ON = 1, 2  # spec: protocol V2, byte 1 of 0x471
_ALL_MOTORS = {7, 0xFF}  # spec: protocol V2, byte 0 of 0x471
_PRESS_STOP, _RESET = 1, 2  # spec: protocol V2, byte 0 of 0x150


def compute_gravity(q: Vec) -> Vec:
    """Return gravity torques (6,), [N·m], at q (6,), [rad]."""
    upper = q[1] + _ELBOW2
    fore = upper + q[2] + _ELBOW3
    reach = (_FORE_MASS * _FORE_COM + _HAND_MASS * _HAND_COM) * math.sin(fore)
    shoulder = _UPPER_MASS * _UPPER_COM + (_FORE_MASS + _HAND_MASS) * _UPPER
    tau = np.zeros(N_JOINTS)
    tau[1] = _G * (shoulder * math.cos(upper) + reach)
    tau[2] = _G * reach
    return tau


class EmulatedArm:
    """One PiPER with its gripper; vectors have shape (6,).

    Attributes:
        q: [rad].
        dq: [rad/s].
        tau: [N·m].
        opening: [m].
        error: Of 0x2A1: joints over limits in the high byte.
    """

    def __init__(
        self, q: Vec, firmware: str, stroke: int = 70, lag: float = LAG
    ) -> None:
        self.q = np.array(q, dtype=np.float64)
        self.dq = np.zeros(N_JOINTS)
        self.tau = np.zeros(N_JOINTS)
        self.opening = 0.0
        self.is_enabled = np.zeros(N_JOINTS + 1, dtype=bool)
        self.mode = ControlMode.STANDBY
        self.status = ArmStatus.NORMAL
        self.error = 0
        self.move_mode = 0
        self.stroke = stroke
        self.version = parse_firmware(firmware)
        self._omega = 2.0 / lag
        self._firmware = firmware.encode()
        self._share = 1.0
        self._target, self._reference = self.q.copy(), self.q.copy()
        self._gripper_target = 0.0
        self._effort = 0.0
        self._parts: dict[int, tuple[int, int]] = {}
        self._takers: Mapping[int, Callable[[bytes], list[Frame]]] = {
            STOP: self._take_stop,
            MODE: self._take_mode,
            GRIPPER: self._take_gripper,
            ENABLE: self._take_enable,
            QUERY_LIMITS: self._take_query,
            QUERY_SETTINGS: self._take_settings_query,
            FIRMWARE: self._take_firmware,
        }

    @property
    def is_moving(self) -> bool:
        """Whether a joint is off target."""
        return bool(np.abs(self._target - self.q).max() > 1e-3)

    @property
    def finger_torque(self) -> float:
        """Gripper motor torque, [N·m]."""
        away = self._gripper_target - self.opening
        return math.copysign(self._effort, away) if abs(away) > 1e-4 else 0.0

    def take(self, frame: Frame) -> list[Frame]:
        """Execute a frame; return the answers."""
        if frame.is_error or len(frame.data) != 8:
            return []
        if frame.can_id in JOINTS:
            self._take_joints(frame)
        elif frame.can_id in self._takers:
            return self._takers[frame.can_id](frame.data)
        return []

    def press_stop(self) -> None:
        """Stop: damped descent until reset."""
        self.status = ArmStatus.EMERGENCY_STOP

    def reset(self) -> None:
        """Clear errors; motors lose power."""
        self.status, self.error = ArmStatus.NORMAL, 0
        self.mode = ControlMode.STANDBY
        self.move_mode = 0
        self.is_enabled[:] = False

    def step(self, dt: float) -> None:
        """Advance dt [s]."""
        is_falling = self.status is ArmStatus.EMERGENCY_STOP
        gravity = compute_gravity(self.q)
        if self.status is ArmStatus.NORMAL and self.mode is ControlMode.CAN:
            limit = _MAX_SPEED * self._share * dt
            if self.move_mode == MOVE_M:  # nothing is planned there
                limit = np.full(N_JOINTS, np.inf)
            self._reference += np.clip(self._target - self._reference, -limit, limit)
        w = self._omega
        servo = w**2 * (self._reference - self.q) - 2.0 * w * self.dq
        friction = _FRICTION * (_DAMPED if is_falling else 1.0)
        passive = -(gravity + friction * self.dq) / _INERTIA
        is_held = self.is_enabled[:N_JOINTS] & (not is_falling)
        ddq = np.where(is_held, servo, passive)
        self.tau = np.where(is_held, gravity + _INERTIA * ddq, 0.0)
        dq = self.dq + dt * ddq
        q = np.clip(self.q + dt * dq, _LOW, _HIGH)
        self.dq, self.q = np.where((q > _LOW) & (q < _HIGH), dq, 0.0), q
        self._reference = np.where(is_held, self._reference, self.q)
        self._target = np.where(is_held, self._target, self.q)
        self._step_gripper(dt)

    def push(self, joint: int, by: float) -> None:
        """Move a joint (from 0), [rad]."""
        self.q[joint] = np.clip(self.q[joint] + by, _LOW[joint], _HIGH[joint])
        self._target, self._reference = self.q.copy(), self.q.copy()
        self.dq[:] = 0.0

    def _step_gripper(self, dt: float) -> None:
        if self.is_enabled[N_JOINTS] and self.stroke:
            step = _MAX_FINGER_SPEED * dt
            away = self._gripper_target - self.opening
            self.opening += max(-step, min(step, away))

    def _take_joints(self, frame: Frame) -> None:
        self._parts[frame.can_id] = unpack_pair(frame.data)
        if frame.can_id != JOINTS[-1] or len(self._parts) < len(JOINTS):
            return
        numbers = [number for can_id in JOINTS for number in self._parts[can_id]]
        target = np.array([from_millideg(number) for number in numbers])
        self._parts.clear()
        if self.mode is not ControlMode.CAN or self.move_mode not in {MOVE_J, MOVE_M}:
            return
        is_outside = (target < _LOW - 1e-6) | (target > _HIGH + 1e-6)
        if self.status in {ArmStatus.NORMAL, ArmStatus.TARGET_BEYOND_LIMIT}:
            self.error = sum(1 << 8 + j for j in range(N_JOINTS) if is_outside[j])
            beyond = is_outside.any()
            self.status = ArmStatus.TARGET_BEYOND_LIMIT if beyond else ArmStatus.NORMAL
            if not beyond:
                self._target = target

    def _take_stop(self, data: bytes) -> list[Frame]:
        if data[0] == _PRESS_STOP:
            self.press_stop()
        elif data[0] == _RESET:
            self.reset()
        return []

    def _take_mode(self, data: bytes) -> list[Frame]:
        is_free = self.mode is not ControlMode.TEACHING
        if is_free and data[0] in {ControlMode.STANDBY, ControlMode.CAN}:
            self.mode = ControlMode(data[0])
            if self.move_mode != MOVE_M or self.version >= STICKY_BELOW:
                self.move_mode = data[1]
            self._share = min(data[2], 100) / 100.0
        return []

    def _take_gripper(self, data: bytes) -> list[Frame]:
        opening, torque, code = unpack_gripper(data)
        self.is_enabled[N_JOINTS] = bool(code & 1)
        self._effort = torque * 1e-3
        if self.status is ArmStatus.NORMAL:
            self._gripper_target = min(max(opening * 1e-6, 0.0), MAX_OPENING_MM * 1e-3)
        return []

    def _take_enable(self, data: bytes) -> list[Frame]:
        motors = range(N_JOINTS) if data[0] in _ALL_MOTORS else [data[0] - 1]
        for motor in motors:
            if data[1] in {_OFF, _ON} and 0 <= motor < N_JOINTS:
                can_start = self.status is not ArmStatus.EMERGENCY_STOP
                self.is_enabled[motor] = data[1] == _ON and can_start
        return []

    def _take_query(self, data: bytes) -> list[Frame]:
        joint, content = data[0], data[1]
        if not 1 <= joint <= N_JOINTS:
            return []
        if content == 1:
            low, high = ANGLE_LIMITS_DEG[joint - 1]
            speed = float(_MAX_SPEED[joint - 1])
            return [Frame(LIMITS, pack_limits(joint, low, high, speed))]
        return [Frame(ACCELERATION, pack_acceleration(joint, _MAX_ACCELERATION))]

    def _take_settings_query(self, data: bytes) -> list[Frame]:
        if data[0] != ASKS_GRIPPER:
            return []
        return [Frame(GRIPPER_SETTINGS, pack_gripper_settings(self.stroke))]

    def _take_firmware(self, _data: bytes) -> list[Frame]:
        text = self._firmware.ljust(16, b"\0")
        return [Frame(FIRMWARE, text[i : i + 8]) for i in (0, 8)]
