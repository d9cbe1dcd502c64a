"""Uploaded programs: ur_rtde's control script, and others.

The control script takes commands in input registers and answers in output register 0,
1 ready and 2 done; numbers and registers are those of the script that ur_rtde 1.6
uploads, ``RTDE Control Script Loaded``.
"""

from __future__ import annotations

import re
from typing import Protocol

import numpy as np

from paprle_emulators.ur.arm import EmulatedArm, Goal, Motion

_NAME = re.compile(r"def (\w+)\(")
_OFFSET = re.compile(r"# int register offset\n\s*(\d+)")
_READY, _DONE = 1, 2  # spec: signal_ready, signal_done_with_cmd
_SERVOJ, _SERVO_STOP, _SET_PAYLOAD = 11, 16, 17  # spec: process_cmd
_MOVEJ, _PROTECTIVE, _STOPL, _STOPJ, _WATCHDOG = 1, 31, 33, 34, 35  # spec: likewise
_STOP_SCRIPT = 255  # spec: likewise
_AT_ONCE = {6, 9, 10, 11, 24, 25, 26, 27, 38, 58, 66, 67, 68, 69, 70, 71}
"""Commands after which the script is ready in the same cycle. spec: its main loop."""


class Host(Protocol):
    """A program's part of a controller."""

    arm: EmulatedArm
    int_in: list[int]
    int_out: list[int]
    double_in: list[float]
    payload: float

    def find_age(self, register: int) -> float:
        """Return an input register's age, [s]."""

    def stop_protectively(self, reason: str = ...) -> None:
        """Make a protective stop."""


class Program:
    """A script that plays until stopped."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = _NAME.search(text)
        self.name = found[1] if found else "script"

    def step(self, _controller: Host) -> str:
        """Run a cycle; return a reason to end."""
        goes_on = "sleep" in self.text or "while" in self.text
        return "" if goes_on else "finished"

    def resume(self, _controller: Host) -> None:
        """Go on after a pause."""


class ControlProgram(Program):
    """The control script of ur_rtde."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self._offset = offset
        self._min_rate = 0.0
        self._is_executing = False
        self._servo: Goal | None = None
        self._moving = 0

    @classmethod
    def read(cls, text: str) -> ControlProgram | None:
        """Return a control script's program, or None."""
        if "RTDE Control Script Loaded" not in text:
            return None
        found = _OFFSET.search(text)
        return cls(text, int(found[1]) if found else 0)

    def step(self, controller: Host) -> str:
        """Run a cycle; return a reason to end."""
        age = controller.find_age(self._offset)
        if self._min_rate > 0.0 and age > 1.0 / self._min_rate:
            return "watchdog: no command came"
        command = controller.int_in[self._offset]
        out = controller.int_out
        if command == _STOP_SCRIPT:
            return "stopped by its client"
        if command in _AT_ONCE:
            self._process(controller, command)
            out[self._offset] = _READY
        elif command == 0:
            self._is_executing = False
            out[self._offset] = _READY
        elif not self._is_executing:
            self._is_executing = True
            self._process(controller, command)
            self._moving = command
        if self._moving and self._is_done(controller):
            out[self._offset], self._moving = _DONE, 0
        return ""

    def resume(self, controller: Host) -> None:
        """Resume the last servo goal."""
        if self._servo is not None:
            controller.arm.servo(self._servo)

    def _is_done(self, controller: Host) -> bool:
        if self._moving in (_MOVEJ, _SERVO_STOP, _STOPJ, _STOPL):
            return controller.arm.motion is Motion.HOLD
        return True

    def _process(self, controller: Host, command: int) -> None:
        arm, at = controller.arm, self._offset
        numbers = controller.double_in[at : at + 18]
        if command == _SERVOJ:
            goal = Goal(np.array(numbers[:6]), numbers[9], numbers[10])
            self._servo = goal
            arm.servo(goal)
        elif command == _MOVEJ:
            self._servo = None
            arm.move(Goal(np.array(numbers[:6]), speed=numbers[6], rate=numbers[7]))
        elif command in (_SERVO_STOP, _STOPJ, _STOPL):
            self._servo = None
            arm.stop(max(numbers[0], 0.1))
        elif command == _SET_PAYLOAD:
            controller.payload = numbers[0]
        elif command == _PROTECTIVE:
            controller.stop_protectively()
        elif command == _WATCHDOG:
            self._min_rate = numbers[0]
