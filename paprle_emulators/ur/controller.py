"""Emulated controller."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from paprle_emulators.ur.arm import BRAKE_RATE, EmulatedArm
from paprle_emulators.ur.models import Model, Vec
from paprle_emulators.ur.primary import Reports
from paprle_emulators.ur.program import ControlProgram, Program

DT = 0.002  # [s] spec: control cycle of e-series
N_INPUTS = 18  # spec: RTDE guide, actual_digital_input_bits
VERSION = (5, 22, 1, 1214321)  # of the last PolyScope 5 that ur_rtde 1.6 distinguishes
_START_TIME = 0.04  # [s] chosen: from a script's last line to its first cycle
_BOOT_TIME = 0.3  # [s] chosen: power on and brake release take seconds on a robot
_SLIDER_RATE = 4.0  # [1/s] chosen: of the speed scaling after the slider
_CODE = re.compile(r"C(\d+)A?(\d*)")


class RobotMode(IntEnum):
    """Values of ``robot_mode``. spec: UR, RTDE guide."""

    POWER_OFF = 3
    IDLE = 5
    RUNNING = 7


class SafetyMode(IntEnum):
    """Values of ``safety_mode``. spec: UR, RTDE guide."""

    NORMAL = 1
    PROTECTIVE_STOP = 3
    RECOVERY = 4
    SAFEGUARD_STOP = 5
    SYSTEM_EMERGENCY_STOP = 6
    ROBOT_EMERGENCY_STOP = 7
    VIOLATION = 8
    FAULT = 9


class Runtime(IntEnum):
    """Values of ``runtime_state``. spec: UR, RTDE guide."""

    STOPPED = 1
    PLAYING = 2
    PAUSED = 4


_SAFETY_BITS = {  # spec: UR, RTDE guide, safety_status_bits
    SafetyMode.NORMAL: 1 << 0,
    SafetyMode.PROTECTIVE_STOP: 1 << 2 | 1 << 10,
    SafetyMode.RECOVERY: 1 << 3,
    SafetyMode.SAFEGUARD_STOP: 1 << 4 | 1 << 10,
    SafetyMode.SYSTEM_EMERGENCY_STOP: 1 << 5 | 1 << 7 | 1 << 10,
    SafetyMode.ROBOT_EMERGENCY_STOP: 1 << 6 | 1 << 7 | 1 << 10,
    SafetyMode.VIOLATION: 1 << 8 | 1 << 10,
    SafetyMode.FAULT: 1 << 9 | 1 << 10,
}
_EMERGENCIES = {SafetyMode.SYSTEM_EMERGENCY_STOP, SafetyMode.ROBOT_EMERGENCY_STOP}
_BROKEN = {SafetyMode.VIOLATION, SafetyMode.FAULT}
"""Modes that a restart of the safety system ends."""


class Controller:
    """State of a robot; ``step`` advances it by a control cycle.

    Attributes:
        time: Since the start, [s]; its ``timestamp``.
        slider: Speed share of the pendant.
        wrench: At the tool, shape (6,), [N], [N·m].
        payload: [kg].
        digital_in: Bits of the inputs: 8 standard, 8 configurable, 2 of the tool.
        digital_out: The same of the outputs.
        analog_out: Shares of both analog outputs.
        reports: Messages for primary clients.
    """

    def __init__(self, model: Model, q: Vec, note: Callable[[str], None]) -> None:
        self.arm, self.model, self._note = EmulatedArm(model, q), model, note
        self.time, self.n_cycles = 0.0, 0
        self.robot_mode, self.safety_mode = RobotMode.RUNNING, SafetyMode.NORMAL
        self.runtime = Runtime.STOPPED
        self.is_remote = True
        self.slider = self._share = 1.0
        self.digital_in = self.digital_out = 0
        self.analog_out = [0.0, 0.0]
        self.reports = Reports()
        self._unfelt: Vec = np.zeros(6)
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
        return self._share if self.runtime is Runtime.PLAYING else 0.0

    @property
    def felt(self) -> Vec:
        """Force at the tool since it was zeroed, (6,), [N], [N·m]."""
        return self.wrench - self._unfelt

    def zero_force(self) -> None:
        """Take the present force as none."""
        self._unfelt = self.wrench.copy()

    def note(self, text: str) -> None:
        """Write into the journal."""
        self._note(text)

    def report_exception(self, text: str) -> None:
        """Send a runtime exception to primary clients."""
        self.reports.add_exception(self.time, text)

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
        most = _SLIDER_RATE * DT
        self._share += min(max(self.slider - self._share, -most), most)
        excess = self.arm.step(DT, self._share)
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
        found = _CODE.match(reason)
        words = found.groups() if found else ("", "")
        code, argument = (int(word or 0) for word in words)
        text = reason.partition(": ")[2]
        self.reports.add_stop(self.time, int(self.safety_mode), code, argument, text)

    def stop_in_emergency(self, *, is_system: bool = False) -> None:
        """Make an emergency stop: program end and brakes."""
        self._note("system emergency stop" if is_system else "emergency stop")
        robot, system = (
            SafetyMode.ROBOT_EMERGENCY_STOP,
            SafetyMode.SYSTEM_EMERGENCY_STOP,
        )
        self._cut_power(system if is_system else robot, "emergency stop")

    def release_emergency(self) -> None:
        """Release the emergency stop, without power."""
        if self.safety_mode in _EMERGENCIES:
            self.safety_mode = SafetyMode.NORMAL

    def break_safety(self, *, is_fault: bool) -> None:
        """Make a safety violation or fault: program end and brakes."""
        mode = SafetyMode.FAULT if is_fault else SafetyMode.VIOLATION
        self._note(f"safety {mode.name.lower()}")
        self._cut_power(mode, f"safety {mode.name.lower()}")

    def restart_safety(self) -> bool:
        """Restart the safety system, without power; return success."""
        if self.safety_mode not in _BROKEN:
            return False
        self.safety_mode = SafetyMode.NORMAL
        return True

    def enter_recovery(self) -> None:
        """Enter recovery mode: no programs until ``recover``."""
        self._note("recovery mode")
        self._halt(SafetyMode.RECOVERY)
        self.end_program("recovery mode")

    def recover(self) -> None:
        """Leave recovery mode, as a person led the arm inside its limits."""
        if self.safety_mode is SafetyMode.RECOVERY:
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
            if self.safety_mode not in _EMERGENCIES | _BROKEN:
                self.robot_mode = max(mode, self.robot_mode)

        self._due.append((self.time + _BOOT_TIME, arrive))

    def _cut_power(self, mode: SafetyMode, reason: str) -> None:
        self._halt(mode)
        self.end_program(reason)
        self.arm.stop(BRAKE_RATE)
        self.robot_mode = RobotMode.POWER_OFF

    def _halt(self, mode: SafetyMode) -> None:
        self.safety_mode = mode
        self.arm.stop(BRAKE_RATE)
        if self.program is not None:
            self.runtime = Runtime.PAUSED
