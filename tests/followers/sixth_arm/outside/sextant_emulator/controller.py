"""Emulated arm and controller of a Sextant S6, by the maker's document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

DT = 0.004  # [s] spec: states at 250 Hz
N_JOINTS = 6
LIMIT = 3.0  # [rad] spec
_MOST_SPEED = 3.2  # [rad/s] spec
_MOST_OF_SLIDER = 3.5  # [rad/s] spec: joints at 100 %
_FARTHEST = 0.3  # [rad] spec: of a goal from the arm
_OMEGA = 60.0  # [rad/s] chosen: of a critically damped joint
_MOST_RATE = 60.0  # [rad/s²] chosen: of drives
_BRAKE_RATE = 20.0  # [rad/s²] chosen: at the end of a program and in stops
_AT_REST = 5e-3  # [rad/s] chosen


class Mode(IntEnum):
    """Mode in states. spec: the maker's document."""

    OFF = 0
    READY = 1
    RUNS = 2
    HALTED = 3
    ESTOP = 4


class Error(IntEnum):
    """Error in states. spec: the maker's document."""

    NONE = 0
    COLLISION = 21
    LIMIT = 31
    SPEED = 41
    FAR = 42
    DRIVE = 51


class Controller:
    """State of a robot; ``step`` advances it by a cycle.

    Attributes:
        goals: Taken since they were last looked at.
        load: Payload and centre, [kg], [m].
        speed: Of the slider, 0 … 1.
        push_torque: External, (6,), [N·m].
    """

    def __init__(self, q: Vec, model: str, note: Callable[[str], None]) -> None:
        self.q, self.dq, self.push_torque = q.copy(), np.zeros(6), np.zeros(6)
        self.time, self.speed = 0.0, 1.0
        self.mode, self.error = Mode.READY, Error.NONE
        self.goals: list[Vec] = []
        self.load = (0.0, 0.0, 0.0, 0.0)
        self._model, self._note, self._goal = model, note, q.copy()
        self._has_program, self._watchdog, self._heard = False, 0.0, 0.0
        self._commands: Mapping[str, Callable[[list[float]], str]] = {
            "POWER": self._switch,
            "LOAD": self._take_load,
            "START": self._start,
            "JOIN": self._join,
            "TICK": self._tick,
            "STOP": self._stop,
        }

    def answer(self, line: str) -> str:
        """Return the answer to a command."""
        name, *words = line.split() or [""]
        if name == "WHO":
            return f"OK {self._model} 1.4 SX0001"
        if name not in self._commands:
            return f"NO unknown command {name}"
        try:
            return self._commands[name]([float(word) for word in words])
        except (ValueError, IndexError) as err:
            return f"NO {err}"

    def step(self) -> None:
        """Advance by a cycle."""
        self.time += DT
        if self.mode is Mode.RUNS and self.time - self._heard > self._watchdog:
            self._note("watchdog")
            self._end_program()
        if self.mode is Mode.RUNS:
            self._follow()
        else:
            most = _BRAKE_RATE * DT
            self.dq = self.dq - np.clip(self.dq, -most, most)
        self.q = self.q + self.dq * DT
        if self.mode is Mode.RUNS and np.abs(self.dq).max() > _MOST_SPEED:
            self.halt(Error.SPEED)
        elif self.mode is Mode.RUNS and np.abs(self.q).max() > LIMIT:
            self.halt(Error.LIMIT)

    def halt(self, error: Error) -> None:
        """Halt with an error; a program waits, or ends with a drive."""
        self._note(f"halted: {error:d}")
        self._has_program &= error is not Error.DRIVE
        self.mode, self.error = Mode.HALTED, error

    def reset(self) -> None:
        """Reset at the pendant; a program that waits goes on."""
        if self.mode is Mode.HALTED:
            self.error, self._heard = Error.NONE, self.time
            self.mode = Mode.RUNS if self._has_program else Mode.READY

    def stop_in_emergency(self) -> None:
        """End program and power."""
        self._note("emergency stop")
        self._has_program, self.mode = False, Mode.ESTOP

    def release(self) -> None:
        """Release the emergency stop, without power."""
        if self.mode is Mode.ESTOP:
            self.mode = Mode.OFF

    def switch_power(self, *, is_on: bool) -> None:
        """Open or close the brakes."""
        if not is_on:
            self._has_program, self.mode = False, Mode.OFF
        elif self.mode is Mode.OFF:
            self.mode = Mode.READY

    def _follow(self) -> None:
        ddq = _OMEGA**2 * (self._goal - self.q) - 2.0 * _OMEGA * self.dq
        most = self.speed * _MOST_OF_SLIDER
        dq = self.dq + DT * np.clip(ddq, -_MOST_RATE, _MOST_RATE)
        self.dq = np.clip(dq, -most, most)

    def _end_program(self) -> None:
        self._has_program, self.mode = False, Mode.READY

    def _switch(self, words: list[float]) -> str:
        if self.mode is Mode.ESTOP:
            return "NO emergency stop"
        self.switch_power(is_on=bool(words[0]))
        return "OK"

    def _take_load(self, words: list[float]) -> str:
        if self.mode is not Mode.READY:
            return f"NO load in mode {self.mode:d}"
        mass, x, y, z = words
        self.load = mass, x, y, z
        self._note("load " + " ".join(f"{word:g}" for word in words))
        return "OK"

    def _start(self, words: list[float]) -> str:
        if self.mode is not Mode.READY or np.abs(self.dq).max() > _AT_REST:
            return f"NO start in mode {self.mode:d}"
        self._watchdog, self._heard, self._goal = words[0], self.time, self.q.copy()
        self._has_program, self.mode = True, Mode.RUNS
        self._note("program started")
        return "OK"

    def _join(self, words: list[float]) -> str:
        goal = np.array(words)
        if goal.shape != (N_JOINTS,) or not np.isfinite(goal).all():
            return f"NO expected {N_JOINTS} joints"
        if self.mode is not Mode.RUNS:
            return f"NO join in mode {self.mode:d}"
        if np.abs(goal - self.q).max() > _FARTHEST:
            self.halt(Error.FAR)
            return f"NO error {Error.FAR:d}"
        self._goal, self._heard = goal, self.time
        self.goals.append(goal)
        return "OK"

    def _tick(self, _words: list[float]) -> str:
        self._heard = self.time
        return "OK"

    def _stop(self, _words: list[float]) -> str:
        self._has_program = False
        if self.mode is Mode.RUNS:
            self._note("program ended")
            self.mode = Mode.READY
        return "OK"
