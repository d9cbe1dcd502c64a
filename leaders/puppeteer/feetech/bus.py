"""A bus of limp Feetech servos.

Calibrated angles are 0 in the middle of an arm joint's range, and ``closed`` to
``open`` for a gripper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paprle.contracts.types import Vec
from paprle.hardware.dynamixel.bus import Counters, Reading
from paprle.hardware.dynamixel.bus_thread import BusSettings, Snapshot
from paprle.hardware.dynamixel.torque import TorqueCommand
from paprle.hardware.feetech.bus_thread import BusSettings as FeetechSettings
from paprle.hardware.feetech.bus_thread import BusThread
from paprle.hardware.feetech.calibration import MotorCalibration, choose_motors
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.models import ServoSpec
from paprle.leaders.puppeteer.arm import Arm

_FACTORY = "its servos are as they left the factory"


class FeetechBus:
    """A bus whose servos stay limp.

    Attributes:
        is_calibrated: Else, angles are the servos'.
        problems: Servos with torque not verified off.
        notes: None: without watchdogs.
        n_damaged: Not counted by the SDK.
    """

    notes: Sequence[str] = ()
    n_damaged = 0

    def __init__(
        self, settings: BusSettings, arms: Sequence[Arm], clock: Callable[[], int]
    ) -> None:
        self.settings, self._arms = settings, arms
        self.thread = BusThread(
            FeetechSettings(
                path=settings.path,
                baud=settings.baud,
                rate=settings.rate,
                timeout=settings.timeout,
            ),
            [ServoSpec(id=servo.id, model=servo.model) for servo in settings.servos],
            clock,
        )
        n = len(settings.servos)
        self._scale, self._shift = np.ones(n), np.zeros(n)
        self.is_calibrated = False

    @property
    def caps(self) -> Vec:
        """Largest torques, (n,), [N·m]: zero."""
        return np.zeros(len(self.settings.servos))

    @property
    def problems(self) -> Sequence[str]:
        """Servos with torque not verified off."""
        return self.thread.problems

    @property
    def counters(self) -> Counters:
        """Recovered faults."""
        found = self.thread.counters
        return Counters(
            n_cycles=found.n_cycles,
            n_missed=found.n_missed,
            n_lost=found.n_lost,
            n_reconnected=found.n_reconnected,
        )

    @property
    def n_failed(self) -> Mapping[str, int]:
        """Failed requests by result."""
        return self.thread.n_failed

    def open(self) -> None:
        """Open the bus, switch torque off, and read the calibration.

        Raises:
            BusError: With all problems; the port is closed.
        """
        self.thread.open()
        try:
            self.thread.release()
            problems = self.read_calibration()
            if problems:
                raise BusError(problems)
        except BaseException:
            self.thread.close(off=True)
            raise

    def read_calibration(self) -> list[str]:
        """Take each arm's calibration; return the problems."""
        return [text for arm in self._arms for text in self._calibrate(arm)]

    def find_uncalibrated(self) -> str:
        """Return a refusal without any calibration, or ""."""
        if self.is_calibrated:
            return ""
        return (
            f"port '{self.settings.path}': expected calibrated servos, got them as "
            "they left the factory; run paprle calibrate, or name LeRobot's file by "
            f"leader.limbs.{self._arms[0].name}.calibration=…"
        )

    def latest(self) -> Snapshot | None:
        """Return the newest snapshot; any thread, never blocks."""
        found = self.thread.snapshot
        if found is None:
            return None
        reading = found.reading
        n = len(reading.angle)
        angle = self._scale * reading.angle + self._shift
        velocity = self._scale * reading.velocity
        return Snapshot(
            Reading(
                reading.stamp_ns,
                angle,
                velocity,
                np.full(n, math.nan),
                np.full(n, 1 + found.reconnects, dtype=np.int64),
            ),
            found.seq,
            is_open=found.is_open,
            fault=found.fault,
            errors=found.health,
        )

    def read_angles(self, arm: Arm) -> Vec:
        """Return newest servo angles, (n,), [rad]."""
        found = self.thread.snapshot
        if found is None or not found.is_open:
            return np.full(len(arm.servos), math.nan)
        return found.reading.angle[arm.place]

    def post(self, command: TorqueCommand) -> None:
        """Ignore torques; these servos render none."""

    def set_idle(self, *, is_idle: bool) -> None:
        """Ignore idleness; readings cost little here."""

    def release(self) -> None:
        """Do nothing; the bus is always limp."""

    def close(self) -> None:
        """Switch torque off, verify it, and end the thread."""
        self.thread.close(off=True)

    def _calibrate(self, arm: Arm) -> list[str]:
        stored = self.thread.stored[arm.place]
        ids = [servo.id for servo in arm.servos]
        try:
            motors = choose_motors(
                arm.settings.calibration, ids, stored, is_leader=True
            )
        except (OSError, ValueError) as err:
            return [f"leader.limbs.{arm.name}.calibration: {err}"]
        raw = [motor.is_factory for motor in motors]
        if any(raw):
            self.is_calibrated = False
            return []
        self.is_calibrated = True
        scale, shift = self._scale[arm.place], self._shift[arm.place]
        for i, (motor, one) in enumerate(zip(motors, stored, strict=True)):
            scale[i] = motor.sign
            shift[i] = -motor.sign * motor.find_middle(one.homing_offset)
        self._spread_gripper(arm, motors[-1], stored[-1].homing_offset)
        return []

    def _spread_gripper(self, arm: Arm, motor: MotorCalibration, homing: int) -> None:
        gripper = arm.settings.gripper
        if gripper is None:
            return
        last = arm.place.stop - 1
        low = motor.find_end(homing, is_low=True)
        per_angle = (gripper.open - gripper.closed) / motor.span
        self._scale[last] = motor.sign * per_angle
        self._shift[last] = gripper.closed - self._scale[last] * low
