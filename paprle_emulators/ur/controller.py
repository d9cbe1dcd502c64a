"""Emulated controller."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from paprle_emulators.ur.arm import BRAKE_RATE, EmulatedArm
from paprle_emulators.ur.models import Model, Vec
from paprle_emulators.ur.program import ControlProgram, Program

DT = 0.002  # [s] spec: control cycle of e-series
VERSION = (5, 22, 1, 1214321)  # of the last PolyScope 5 that ur_rtde 1.6 distinguishes
_START_TIME = 0.04  # [s] chosen: from a script's last line to its first cycle
_BOOT_TIME = 0.3  # [s] chosen: power on and brake release take seconds on a robot


class RobotMode(IntEnum):
    """Values of ``robot_mode``. spec: UR, RTDE guide."""

    POWER_OFF = 3
    IDLE = 5
    RUNNING = 7


class SafetyMode(IntEnum):
    """Values of ``safety_mode``. spec: UR, RTDE guide."""

    NORMAL = 1
    PROTECTIVE_STOP = 3
    SAFEGUARD_STOP = 5
    ROBOT_EMERGENCY_STOP = 7


class Runtime(IntEnum):
    """Values of ``runtime_state``. spec: UR, RTDE guide."""

    STOPPED = 1
    PLAYING = 2
    PAUSED = 4


_SAFETY_BITS = {  # spec: UR, RTDE guide, safety_status_bits
    SafetyMode.NORMAL: 1 << 0,
    SafetyMode.PROTECTIVE_STOP: 1 << 2 | 1 << 10,
    SafetyMode.SAFEGUARD_STOP: 1 << 4 | 1 << 10,
    SafetyMode.ROBOT_EMERGENCY_STOP: 1 << 6 | 1 << 7 | 1 << 10,
}


class Controller:
    """State of a robot; ``step`` advances it by a control cycle.

    Attributes:
        time: Since the start, [s]; its ``timestamp``.
        slider: Speed share of the pendant.
        wrench: At the tool, shape (6,), [N], [N·m].
        payload: [kg].
    """

    def __init__(self, model: Model, q: Vec, note: Callable[[str], None]) -> None:
        self.arm, self.model, self._note = EmulatedArm(model, q), model, note
        self.time, self.n_cycles = 0.0, 0
        self.robot_mode, self.safety_mode = RobotMode.RUNNING, SafetyMode.NORMAL
        self.runtime = Runtime.STOPPED
        self.is_remote = True
        self.slider = 1.0
        self.int_in, self.int_out = [0] * 48, [0] * 48
        self.double_in, self.double_out = [0.0] * 48, [0.0] * 48
        self.wrench: Vec = np.zeros(6)
        self.payload, self.popup = 0.0, ""
        self.program: Program | None = None
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._written: dict[int, float] = {}

    @property
    def status_bits(self) -> int:
        """``robot_status_bits``: power on, program running."""
        is_on = self.robot_mode is not RobotMode.POWER_OFF
        return int(is_on) | int(self.runtime is Runtime.PLAYING) << 1

    @property
    def safety_bits(self) -> int:
        """``safety_status_bits``."""
        return _SAFETY_BITS[self.safety_mode]

    @property
    def scaling(self) -> float:
        """``speed_scaling``, 0 unless a program plays."""
        return self.slider if self.runtime is Runtime.PLAYING else 0.0

    def write_int(self, register: int, value: int) -> None:
        """Write an input integer register, dated."""
        self.int_in[register] = value
        self._written[register] = self.time

    def find_age(self, register: int) -> float:
        """Return an input register's age, [s]."""
        return self.time - self._written.get(register, self.time)

    def step(self) -> None:
        """Advance by a control cycle."""
        self.time += DT
        self.n_cycles += 1
        due = [action for at, action in self._due if at <= self.time]
        self._due = [(at, action) for at, action in self._due if at > self.time]
        for action in due:
            action()
        program = self.program
        if program is not None and self.runtime is Runtime.PLAYING:
            reason = program.step(self)
            if reason:
                self.end_program(reason)
        excess = self.arm.step(DT, self.slider)
        if excess and self.safety_mode is SafetyMode.NORMAL:
            self.stop_protectively(excess)

    def start_script(self, text: str) -> None:
        """Start a network program, if remote."""
        is_able = self.robot_mode is RobotMode.RUNNING and self.is_remote
        if not is_able or self.safety_mode is not SafetyMode.NORMAL:
            self._note(f"script of {len(text)} characters ignored")
            return
        self._note(f"script of {len(text)} characters")
        self.end_program("replaced")
        self._due.append((self.time + _START_TIME, lambda: self._start(text)))

    def _start(self, text: str) -> None:
        if self.safety_mode is SafetyMode.NORMAL:
            self.program = ControlProgram.read(text) or Program(text)
            self.runtime = Runtime.PLAYING
            self._note("program started")

    def end_program(self, reason: str) -> None:
        """End the program; the arm decelerates and holds."""
        if self.program is not None:
            self._note(f"program ended: {reason}")
            self.arm.stop()
        self.program, self.runtime = None, Runtime.STOPPED

    def stop_protectively(self, reason: str = "C0: asked for") -> None:
        """Make a protective stop; a program pauses."""
        self._note(f"protective stop: {reason}")
        self._halt(SafetyMode.PROTECTIVE_STOP)
        self.popup = reason

    def stop_in_emergency(self) -> None:
        """Make an emergency stop: program end and brakes."""
        self._note("emergency stop")
        self._halt(SafetyMode.ROBOT_EMERGENCY_STOP)
        self.end_program("emergency stop")
        self.arm.stop(BRAKE_RATE)
        self.robot_mode = RobotMode.POWER_OFF

    def release_emergency(self) -> None:
        """Release the emergency stop, without power."""
        if self.safety_mode is SafetyMode.ROBOT_EMERGENCY_STOP:
            self.safety_mode = SafetyMode.NORMAL

    def open_safeguard(self) -> None:
        """Open a safeguard; programs pause."""
        self._note("safeguard stop")
        self._halt(SafetyMode.SAFEGUARD_STOP)

    def close_safeguard(self) -> None:
        """Close a safeguard; programs go on."""
        if self.safety_mode is SafetyMode.SAFEGUARD_STOP:
            self.safety_mode = SafetyMode.NORMAL
            self.play()

    def unlock(self) -> None:
        """Release a protective stop; programs stay paused."""
        if self.safety_mode is SafetyMode.PROTECTIVE_STOP:
            self.safety_mode = SafetyMode.NORMAL

    def play(self) -> bool:
        """Continue a program; return success."""
        if self.program is None or self.safety_mode is not SafetyMode.NORMAL:
            return False
        self.runtime = Runtime.PLAYING
        self.program.resume(self)
        return True

    def pause(self) -> None:
        """Pause a program; the arm decelerates and holds."""
        if self.program is not None:
            self.runtime = Runtime.PAUSED
            self.arm.stop()

    def switch_power(self, *, is_on: bool) -> None:
        """Switch power; brakes hold."""
        if not is_on:
            self.end_program("power off")
            self.robot_mode = RobotMode.POWER_OFF
            return
        self._reach(RobotMode.IDLE)

    def release_brakes(self) -> None:
        """Release brakes, powering on if needed."""
        self._reach(RobotMode.RUNNING)

    def set_remote(self, *, is_remote: bool) -> None:
        """Switch control; local ends a program."""
        self._note("remote control" if is_remote else "local control")
        if not is_remote:
            self.end_program("local control")
        self.is_remote = is_remote

    def _reach(self, mode: RobotMode) -> None:
        def arrive() -> None:
            if self.safety_mode is not SafetyMode.ROBOT_EMERGENCY_STOP:
                self.robot_mode = max(mode, self.robot_mode)

        self._due.append((self.time + _BOOT_TIME, arrive))

    def _halt(self, mode: SafetyMode) -> None:
        self.safety_mode = mode
        self.arm.stop(BRAKE_RATE)
        if self.program is not None:
            self.runtime = Runtime.PAUSED
