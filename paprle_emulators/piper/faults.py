"""Faults of an arm."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from paprle_emulators.piper.arm import EmulatedArm
from paprle_emulators.piper.protocol import (
    BUS_OFF,
    GRIPPER_STATE,
    JOINT_STATES,
    JOINTS,
    MOTORS_FAST,
    MOVE_M,
    N_JOINTS,
    ArmStatus,
    ControlMode,
    Frame,
    MotorBit,
    pack_pair,
    to_millideg,
)

_NOISE = 0x08  # spec: CAN_ERR_PROT of linux/can/error.h
_FOREVER = 1e6  # [s]
_BUS_FAULTS = {
    "silence",
    "lost",
    "late",
    "error_frames",
    "bus_off",
    "stuck",
    "garbage",
    "rogue",
}
_IN_MOTION = {*JOINT_STATES, GRIPPER_STATE, *MOTORS_FAST}
_HOT = 95  # [°C] chosen: above any motor's rating
_LOW_VOLTAGE = 17.0  # [V] chosen: of 24 V


class ArmFaults:
    """Faults of one arm; those of the bus end after ``time`` [s].

    Attributes:
        motor_bits: By joint from 0; 6: gripper.
        warm: Normal temperatures by joint, [°C].
    """

    def __init__(self, arm: EmulatedArm, seed: int = 0) -> None:
        self.arm = arm
        self._random = random.Random(seed)
        self._late: deque[tuple[int, Frame]] = deque()
        self._commands: Mapping[str, Callable[..., None]] = {
            "none": self._clear,
            "silence": self._silence,
            "lost": self._lose,
            "late": self._delay,
            "error_frames": self._make_noise,
            "bus_off": self._go_off,
            "estop": arm.press_stop,
            "resume": arm.reset,
            "over_temperature": self._heat,
            "low_voltage": self._drain,
            "warm": self._warm,
            "stuck": self._stick,
            "garbage": self._spoil,
            "rogue": self._let_in,
            "collision": self._collide,
            "limit": self._exceed,
            "communication": self._disconnect,
            "teach": self._teach,
            "mit": self._leave_in_mit,
            "disable": self._disable,
            "push": self._push,
        }
        self._forget()

    @property
    def names(self) -> tuple[str, ...]:
        """Available faults."""
        return tuple(self._commands)

    def apply(self, now_ns: int, command: Mapping[str, Any]) -> None:
        """Apply ``{"fault": NAME, …}``.

        Raises:
            ValueError: If invalid.
        """
        arguments = dict(command)
        name = str(arguments.pop("fault", ""))
        if name not in self._commands:
            known = ", ".join(self._commands)
            raise ValueError(f"expected a fault, got {name!r}; faults: {known}")
        if name in _BUS_FAULTS:
            time = float(arguments.pop("time", _FOREVER))
            self._end_ns = now_ns + round(time * 1e9)
        try:
            self._commands[name](**arguments)
        except (TypeError, IndexError) as err:
            raise ValueError(f"fault '{name}': {err}") from err

    def change(self, frames: list[Frame], now_ns: int) -> list[Frame]:
        """Return the frames that reach the bus."""
        if now_ns >= self._end_ns:
            self._end_bus_faults()
        if self._is_stuck:
            frames = [
                self._stuck.setdefault(frame.can_id, frame)
                if frame.can_id in _IN_MOTION
                else frame
                for frame in frames
            ]
        if self._garbled:
            frames = [
                frame._replace(data=self._random.randbytes(len(frame.data)))
                if frame.can_id in self._garbled
                else frame
                for frame in frames
            ]
        if self._delay_ns or self._late:
            self._late.extend((now_ns + self._delay_ns, frame) for frame in frames)
            frames = []
            while self._late and self._late[0][0] <= now_ns:
                frames.append(self._late.popleft()[1])
        if self._is_silent:
            return []
        kept = [
            frame
            for frame in frames
            if (self._lost_ids and frame.can_id not in self._lost_ids)
            or self._random.random() >= self._share
        ]
        errors = [Frame(self._error_class, bytes(8), is_error=True)] * self._n_errors
        return kept + errors + self._foreign

    def _forget(self) -> None:
        self.motor_bits = [0] * (N_JOINTS + 1)
        self.temperature, self.voltage = 35, 24.0  # chosen: a healthy arm
        self.warm = [35] * N_JOINTS
        self._end_bus_faults()

    def _end_bus_faults(self) -> None:
        self._end_ns = 1 << 62
        self._is_silent = self._is_stuck = False
        self._stuck: dict[int, Frame] = {}
        self._share, self._lost_ids = 0.0, frozenset[int]()
        self._delay_ns = 0
        self._garbled = frozenset[int]()
        self._foreign: list[Frame] = []
        self._n_errors, self._error_class = 0, _NOISE

    def _clear(self) -> None:
        # Motors keep the power that they have. An emergency stop needs ``resume``.
        self._forget()
        if self.arm.status is not ArmStatus.EMERGENCY_STOP:
            self.arm.status, self.arm.error = ArmStatus.NORMAL, 0
        if self.arm.mode is ControlMode.TEACHING:
            self.arm.mode = ControlMode.STANDBY

    def _silence(self) -> None:
        self._is_silent = True

    def _lose(self, share: float = 1.0, ids: list[str] | None = None) -> None:
        self._share = share
        self._lost_ids = frozenset(int(text, 16) for text in ids or ())

    def _delay(self, delay: float = 0.05) -> None:
        self._delay_ns = round(delay * 1e9)

    def _make_noise(self, n: int = 2) -> None:
        self._n_errors, self._error_class = n, _NOISE

    def _go_off(self) -> None:
        self._n_errors, self._error_class = 1, BUS_OFF
        self._share = 1.0

    def _heat(self, joint: int = 1) -> None:
        self.motor_bits[joint - 1] |= 1 << MotorBit.MOTOR_HOT
        self.temperature = _HOT

    def _warm(self, joint: int = 1, temperature: int = 70) -> None:
        self.warm[joint - 1] = int(temperature)

    def _stick(self) -> None:
        self._is_stuck = True

    def _spoil(self, ids: list[str] | None = None) -> None:
        given = frozenset(int(text, 16) for text in ids or ())
        self._garbled = given or frozenset(_IN_MOTION)

    def _let_in(self) -> None:
        q = self.arm.q
        held = pack_pair(to_millideg(float(q[0])), to_millideg(float(q[1])))
        self._foreign = [Frame(JOINTS[0], held)]

    def _drain(self) -> None:
        self.voltage = _LOW_VOLTAGE
        self.motor_bits = [bits | 1 << MotorBit.VOLTAGE_LOW for bits in self.motor_bits]

    def _collide(self, joint: int = 1) -> None:
        self.arm.status = ArmStatus.COLLISION
        self.motor_bits[joint - 1] |= 1 << MotorBit.COLLISION

    def _exceed(self, joint: int = 1) -> None:
        self.arm.status = ArmStatus.JOINT_ERROR
        self.arm.error |= 1 << (8 + joint - 1)

    def _disconnect(self, joint: int = 1) -> None:
        self.arm.status = ArmStatus.JOINT_COMMUNICATION
        self.arm.error |= 1 << (joint - 1)

    def _teach(self) -> None:
        self.arm.mode = ControlMode.TEACHING

    def _leave_in_mit(self) -> None:
        self.arm.mode, self.arm.move_mode = ControlMode.CAN, MOVE_M

    def _disable(self, joint: int = 1) -> None:
        self.arm.is_enabled[joint - 1] = False

    def _push(self, joint: int = 1, by: float = 0.1) -> None:
        self.arm.push(joint - 1, by)
