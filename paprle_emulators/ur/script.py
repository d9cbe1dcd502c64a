"""State of the running control script: registers, motions, threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from paprle_emulators.ur.arm import EmulatedArm, Goal, Line, Motion
from paprle_emulators.ur.kinematics import from_pose_vector, solve
from paprle_emulators.ur.models import Vec
from paprle_emulators.ur.path import Waypoint

Steps = Iterator[None]
"""A part of the script that takes more than a cycle."""
_PROGRESS = 2  # spec: output register of asynchronous operations
_RUNS, _OPERATION, _CHANGE = 1 << 15, 1 << 24, 1 << 16  # spec: its bits
_MOST = 127  # spec: both counters
_LEAST_RATE = 0.1  # chosen: a stop with less would take minutes


class ScriptError(Exception):
    """Runtime exception of the program."""


class Host(Protocol):
    """A program's part of a controller."""

    arm: EmulatedArm
    int_in: list[int]
    int_out: list[int]
    double_in: list[float]
    double_out: list[float]
    payload: float

    @property
    def felt(self) -> Vec:
        """Force at the tool, (6,), [N], [N·m]."""

    def find_age(self, register: int) -> float:
        """Return an input register's age, [s]."""

    def stop_protectively(self, reason: str = ...) -> None:
        """Make a protective stop."""

    def zero_force(self) -> None:
        """Take the present force as none."""

    def note(self, text: str) -> None:
        """Write into the journal."""

    def report_exception(self, text: str) -> None:
        """Send a runtime exception to primary clients."""


class Script:
    """A control script's globals, threads and registers.

    Attributes:
        min_rate: Of its watchdog, [Hz]; 0: none.
        internal: Work that a thread left to the main loop.
        history: Measured joints, newest last.
        contact: Cycles since a contact that was watched for.
    """

    def __init__(
        self,
        host: Host,
        offset: int,
        path: list[Waypoint] | ValueError,
        history: deque[Vec],
    ) -> None:
        self.host, self.arm, self._offset = host, host.arm, offset
        self._path = path
        self.history = history
        self.min_rate = 0.0
        self.internal: Steps | None = None
        self.contact = 0
        self.is_speeding_tool = False
        self._motion: Callable[[], None] | None = None
        self._threads: dict[str, Steps] = {}
        self._n_changes = self._n_operations = 0
        self.tell_progress(-1)

    @property
    def path(self) -> list[Waypoint]:
        """Uploaded path; ScriptError if unreadable."""
        if isinstance(self._path, ValueError):
            raise ScriptError(f"move_path: {self._path}")
        return self._path

    def read(self, begin: int, n: int = 6) -> Vec:
        """Return float input registers, (n,)."""
        at = self._offset + begin
        return np.array(self.host.double_in[at : at + n])

    def read_int(self, register: int) -> int:
        """Return an integer input register."""
        return self.host.int_in[self._offset + register]

    def write(self, values: Vec) -> None:
        """Write float output registers, from the first."""
        numbers = [float(value) for value in values]
        self.host.double_out[self._offset : self._offset + len(numbers)] = numbers

    def answer(self, register: int, value: int) -> None:
        """Write an integer output register."""
        self.host.int_out[self._offset + register] = int(value)

    def begin(self, motion: Callable[[], None]) -> None:
        """Begin a motion, which a pause interrupts."""
        self._motion = motion
        motion()

    def resume(self) -> None:
        """Begin the interrupted motion again."""
        if self._motion is not None:
            self._motion()

    def forget_motion(self) -> None:
        """Leave a motion that a pause would interrupt."""
        self._motion = None

    def start_thread(self, name: str, steps: Steps) -> None:
        """Run steps beside the main loop."""
        self._threads[name] = steps

    def kill_thread(self, name: str) -> bool:
        """End a thread; return whether it ran."""
        return self._threads.pop(name, None) is not None

    def step_threads(self) -> None:
        """Run a cycle of each thread."""
        for name, steps in list(self._threads.items()):
            if next(steps, True) is not None:
                self._threads.pop(name, None)

    def tell_progress(self, value: int) -> None:
        """Write an asynchronous operation's progress; -1 ends it."""
        self._n_changes = (self._n_changes + 1) % (_MOST + 1)
        if value == 0:
            self._n_operations = (self._n_operations + 1) % (_MOST + 1)
        told = self._n_changes * _CHANGE + self._n_operations * _OPERATION
        self.answer(_PROGRESS, told + (value + _RUNS if value >= 0 else 0))

    def find_joints(self, pose: Vec, near: Vec | None = None) -> Vec | None:
        """Return joints for a pose vector of the TCP, or None."""
        near = self.arm.q_target if near is None else near
        tool = self.arm.tool
        return solve(self.arm.model, from_pose_vector(pose), near, tool)

    def need_joints(self, pose: Vec, near: Vec | None = None) -> Vec:
        """Return joints for a pose vector; ScriptError if out of reach."""
        q = self.find_joints(pose, near)
        if q is None:
            told = ", ".join(f"{value:.3f}" for value in pose)
            raise ScriptError(f"get_inverse_kin: no solution at [{told}]")
        return q

    def move_joints(self, q: Vec, speed: float, rate: float) -> Steps:
        """Run ``movej``."""
        goal = Goal(q, speed=speed, rate=rate)
        self.begin(lambda: self.arm.move(goal))
        yield from self.wait()

    def move_line(self, pose: Vec, speed: float, rate: float) -> Steps:
        """Run ``movel`` to a pose vector."""
        self.need_joints(pose)
        line = Line(from_pose_vector(pose), speed, rate)
        self.begin(lambda: self.arm.move_line(line))
        yield from self.wait()

    def stop(self, rate: float, *, is_line: bool) -> Steps:
        """Run ``stopj`` or ``stopl``."""
        rate = max(rate, _LEAST_RATE)
        self.forget_motion()
        if is_line:
            self.arm.stop_line(rate)
        else:
            self.arm.stop(rate)
        yield from self.wait()

    def wait(self) -> Steps:
        """Wait for the end of a motion."""
        while self.arm.motion is not Motion.HOLD:
            yield
        self.forget_motion()
