"""One motor on the bus."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.damiao.models import MotorKind
from paprle_emulators.damiao.protocol import (
    CLEAR,
    DISABLE,
    ENABLE,
    READ,
    REFRESH,
    REGISTERS,
    SAVE,
    SET_ZERO,
    SPECIAL,
    TIMEOUT_UNIT,
    WRITE,
    Register,
    Status,
    pack_feedback,
    pack_value,
    unpack_mit,
    unpack_value,
)
from paprle_emulators.piper.protocol import Frame

Law = NDArray[np.float64]

_MASTER = 0x10  # spec: openarm_can and i2rt, feedback comes at the ID plus 0x10
_MIT = 1  # spec: manual, register 10
_AMBIENT = 35.0  # [°C] chosen: of a motor at rest
_MOS_LIMIT, _COIL_LIMIT = 120.0, 100.0  # [°C] spec: manual, over-temperature
_HEATING = 60.0  # [K] chosen: of the coil after long at half of the peak torque
_SETTLING = 200.0  # [s] chosen: of the coil


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations: [rad], [rad/s], share of TMAX."""

    q: float = 2e-4  # chosen: half a step of the frame
    dq: float = 0.02  # chosen: one to three steps of the frame
    tau: float = 0.004  # chosen: ten steps of the frame


QUIET = Noise(0.0, 0.0, 0.0)


class Motor:
    """A motor on the bus.

    Attributes:
        number: ID of its commands.
        warmth: Transistors and coil, [°C].
        fault: Error that clearing does not end.
        is_mute: It answers nothing.
        stuck: Repeated measurement.
        zero: Plant position of its 0, [rad].
    """

    def __init__(
        self, number: int, kind: MotorKind, timeout: float, seed: int, noise: Noise
    ) -> None:
        self.number, self.kind = number, kind
        self._timeout = timeout
        self._random = np.random.default_rng(seed)
        self._noise = noise
        self.zero = 0.0
        self.is_mute = False
        self.fault: Status | None = None
        self.boot()

    def boot(self) -> None:
        """Start with saved registers, disabled."""
        self.has_power = True
        self.status = Status.DISABLED
        self.warmth = [_AMBIENT, _AMBIENT]
        self.stuck: tuple[float, float, float] | None = None
        self._heard_ns = 0
        self._law = np.zeros(5)
        ranges = self.kind.ranges
        self.registers: dict[int, float] = {
            Register.UNDER_VOLTAGE: 15.0,
            Register.OVER_TEMPERATURE: _COIL_LIMIT,
            Register.OVER_CURRENT: 0.98,
            Register.MASTER_ID: self.number + _MASTER,
            Register.ESC_ID: self.number,
            Register.TIMEOUT: round(self._timeout / TIMEOUT_UNIT),
            Register.CONTROL_MODE: _MIT,
            Register.HARDWARE: 0x31,
            Register.SOFTWARE: 5012,
            Register.GEAR: self.kind.gear,
            Register.P_MAX: ranges.q,
            Register.V_MAX: ranges.dq,
            Register.T_MAX: ranges.tau,
            Register.OVER_VOLTAGE: 60.0,
            Register.CAN_RATE: 4,
        }
        self._saved = dict(self.registers)

    @property
    def law(self) -> Law:
        """Rows q_des, dq_des, kp, kd and τ at the plant."""
        if not self.has_power:
            return np.zeros(5)
        if self.status is Status.ENABLED:
            return self._law
        if self.status is Status.COMMUNICATION_LOST:
            return np.array([0.0, 0.0, 0.0, self.kind.braking, 0.0])
        return np.zeros(5)

    def step(self, now_ns: int, tau: float, dt: float) -> None:
        """Warm up by a torque [N·m] for dt [s]; check the time-out."""
        load = (tau / (0.5 * self.kind.peak)) ** 2
        for i, share in enumerate((0.6, 1.0)):
            goal = _AMBIENT + share * _HEATING * load
            self.warmth[i] += (goal - self.warmth[i]) * dt / _SETTLING
        if self.warmth[0] > _MOS_LIMIT:
            self.fail(Status.MOS_HOT)
        elif self.warmth[1] > _COIL_LIMIT:
            self.fail(Status.COIL_HOT)
        timeout = self.registers[Register.TIMEOUT] * TIMEOUT_UNIT
        is_late = timeout > 0.0 and now_ns - self._heard_ns > timeout * 1e9
        if self.status is Status.ENABLED and is_late:
            self.fail(Status.COMMUNICATION_LOST)

    def fail(self, status: Status) -> None:
        """Enter an error, if powered."""
        if self.has_power:
            self.status = status

    def take(self, frame: Frame, now_ns: int, state: Law) -> Frame | None:
        """Return the answer to a frame at a time [ns], if any.

        ``state`` is [rad], [rad/s] and [N·m] at the plant.
        """
        if not self.has_power or len(frame.data) != 8:
            return None
        if frame.can_id == REGISTERS:
            return self._answer(self._take_register(frame.data, state))
        if frame.can_id != self.number:
            return None
        self._heard_ns = now_ns
        if frame.data[:7] == SPECIAL:
            self._take_special(frame.data[7], state)
        elif self.status is Status.ENABLED:
            command = unpack_mit(frame.data, self.kind.ranges)
            if self.registers[Register.CONTROL_MODE] == _MIT:
                self._law = np.array(
                    [command.q + self.zero, command.dq, command.kp, command.kd,
                     command.tau]
                )  # fmt: skip
        return self._answer(self._report(state))

    def _answer(self, data: bytes | None) -> Frame | None:
        if data is None or self.is_mute:
            return None
        return Frame(int(self.registers[Register.MASTER_ID]), data)

    def _take_special(self, code: int, state: Law) -> None:
        if code == ENABLE and self.status is Status.DISABLED:
            self.status = self.fault or Status.ENABLED
            self._law = np.zeros(5)
        elif code == DISABLE and self.status is Status.ENABLED:
            self.status = Status.DISABLED
        elif code == CLEAR and self.status not in {Status.DISABLED, Status.ENABLED}:
            self.status = self.fault or Status.DISABLED
        elif code == SET_ZERO:
            self.zero = float(state[0])

    def _take_register(self, data: bytes, state: Law) -> bytes | None:
        number, code, register = struct.unpack("<HBB", data[:4])
        if number != self.number:
            return None
        if code == REFRESH:
            return self._report(state)
        head = data[:3]
        is_idle = self.status is not Status.ENABLED
        if code == SAVE and is_idle:
            self._saved = dict(self.registers)
            return head + bytes([1]) + bytes(4)
        if code not in {READ, WRITE} or register not in self.registers:
            return None
        if code == WRITE and is_idle:  # an enabled motor keeps its value
            self.registers[register] = unpack_value(register, data[4:])
        return head + data[3:4] + pack_value(register, self.registers[register])

    def _report(self, state: Law) -> bytes:
        ranges, noise = self.kind.ranges, self._noise
        spread = np.array([noise.q, noise.dq, noise.tau * ranges.tau])
        true = state - np.array([self.zero, 0.0, 0.0])
        q, dq, tau = true + spread * self._random.normal(size=3)
        seen = self.stuck or (float(q), float(dq), float(tau))
        heat = (_to_byte(self.warmth[0]), _to_byte(self.warmth[1]))
        head = self.status << 4 | self.number & 0xF
        return pack_feedback(head, seen, heat, ranges)

    def stick(self, state: tuple[float, float, float]) -> None:
        """Repeat the present measurement."""
        self.stuck = (float(state[0]) - self.zero, float(state[1]), float(state[2]))

    def cut_power(self) -> None:
        """Lose power and unsaved registers."""
        self.has_power = False
        self.status = Status.DISABLED

    def restore_power(self) -> None:
        """Restart with saved registers."""
        saved = self._saved
        self.boot()
        self.registers = dict(saved)
        self._saved = saved


def _to_byte(warmth: float) -> int:
    return min(255, math.floor(warmth))
