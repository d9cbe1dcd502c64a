"""The gripper; README.md has sources and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum


@dataclass(frozen=True, slots=True)
class Kind:
    """Figures of a gripper: [m], [counts], [counts], [m/s]."""

    stroke: float
    opened: int
    closed: int
    speeds: tuple[float, float]

    @property
    def counts_per_metre(self) -> float:
        """Counts of closing, [1/m]."""
        return (self.closed - self.opened) / self.stroke


KINDS: Mapping[str, Kind] = {
    # spec: Robotiq's knowledge base, "encoder bytes": 3 and 230 are usual for a 2F-85
    "2f85": Kind(0.085, 3, 230, (0.02, 0.15)),
    "2f140": Kind(0.140, 3, 230, (0.03, 0.25)),  # chosen counts: the same drive
    "hande": Kind(0.050, 0, 255, (0.02, 0.15)),
}


class Fault(IntEnum):
    """Values of gFLT. spec: the manuals."""

    NONE = 0x00
    ACTIVATING = 0x05
    NOT_ACTIVATED = 0x07
    HOT = 0x08
    SILENCE = 0x09
    VOLTAGE = 0x0A
    RELEASING = 0x0B
    INTERNAL = 0x0C
    ACTIVATION = 0x0D
    CURRENT = 0x0E
    RELEASED = 0x0F


_RESET, _IN_PROGRESS, _ACTIVATED = 0, 1, 3  # spec: gSTA
_MOVING, _STOPPED_OPENING, _STOPPED_CLOSING, _ARRIVED = range(4)  # spec: gOBJ
_ENDING = frozenset((Fault.HOT, Fault.SILENCE))  # spec: minor faults end by themselves
_SILENT_TIME = 1.0  # [s] spec: fault 0x09
_FREE_CURRENT = 10  # [10 mA] spec: the manual's example of moving fingers
_MOST_CURRENT = 60  # [10 mA] chosen: at full force
_RELEASE_SPEED = 0.02  # [m/s] chosen: the slowest


class EmulatedGripper:
    """Registers and fingers; ``step`` advances them.

    Attributes:
        outputs: As written, [counts].
        position: [counts].
    """

    def __init__(self, name: str, note: Callable[[str], None]) -> None:
        """Stand half open and not activated.

        Raises:
            ValueError: If not of ``KINDS``.
        """
        if name not in KINDS:
            raise ValueError(f"gripper: expected {', '.join(KINDS)}, got '{name}'")
        self.kind, self._note = KINDS[name], note
        self.outputs = dict.fromkeys(("ACT", "GTO", "ATR", "POS", "SPE", "FOR"), 0)
        self.position = 0.5 * (self.kind.opened + self.kind.closed)
        self.fault = Fault.NONE
        self._obstacle: float | None = None
        self._is_around = False
        self._way: list[float] = []
        self._contact = _ARRIVED
        self._current = self._since_heard = 0.0
        self._state = _RESET

    @property
    def state(self) -> int:
        """Activation, gSTA."""
        return self._state

    @property
    def contact(self) -> int:
        """Objects, gOBJ; 0 without gGTO."""
        return self._contact if self.outputs["GTO"] else 0

    @property
    def current(self) -> int:
        """Motor current, gCU, [10 mA]."""
        return round(self._current)

    @property
    def opening(self) -> float:
        """Between the fingers, [m]."""
        return (self.kind.closed - self.position) / self.kind.counts_per_metre

    def hear(self) -> None:
        """Note a request; a silence fault shows once more."""
        if self._since_heard > _SILENT_TIME and self.fault is Fault.NONE:
            self.fault = Fault.SILENCE
        elif self.fault is Fault.SILENCE:
            self.fault = Fault.NONE
        self._since_heard = 0.0

    def write(self, values: Mapping[str, int]) -> None:
        """Write the named outputs."""
        before = self.outputs["ACT"]
        self.outputs.update(values)
        told = " ".join(f"{name} {value}" for name, value in values.items())
        self._note(f"gripper: {told}")
        if not self.outputs["ACT"]:
            self._reset()
        elif not before:
            self._begin_activation()
        if self.outputs["ATR"] and self._state == _ACTIVATED:
            self.fault = Fault.RELEASING
        if values.get("GTO") and self._state != _ACTIVATED and not self.fault:
            is_on = self.outputs["ACT"]
            self.fault = Fault.ACTIVATING if is_on else Fault.NOT_ACTIVATED

    def place(self, opening: float | None) -> None:
        """Place an object at an opening [m], or remove it (None).

        Fingers that are wider open grip from outside, else from inside.
        """
        self._obstacle = None
        if opening is not None:
            self._obstacle = self.kind.closed - opening * self.kind.counts_per_metre
            self._is_around = self.position <= self._obstacle

    def fail(self, fault: Fault) -> None:
        """Set a fault and stop."""
        self.fault, self._way = fault, []
        self._note(f"gripper: fault 0x{fault:02X}")
        if fault not in (*_ENDING, Fault.RELEASING, Fault.NONE):
            self._state = _RESET

    def lose_power(self) -> None:
        """Lose power, activation and outputs; the fingers stay."""
        self.outputs = dict.fromkeys(self.outputs, 0)
        self._reset()
        self._note("gripper: no power")

    def step(self, dt: float) -> None:
        """Advance dt [s]."""
        self._since_heard += dt
        self._current = 0.0
        if self.fault is Fault.RELEASING:
            if self._go(self.kind.opened, _RELEASE_SPEED, dt):
                self.fault, self._state = Fault.RELEASED, _RESET
        elif self._way:
            if self._go(self._way[0], self.kind.speeds[1], dt):
                self._way.pop(0)
            if not self._way:
                self._state = _ACTIVATED
                self._note("gripper: activated")
                if self.fault is Fault.ACTIVATING:
                    self.fault = Fault.NONE
        elif self._is_going:
            slow, fast = self.kind.speeds
            speed = slow + self.outputs["SPE"] / 255 * (fast - slow)
            self._go(float(self.outputs["POS"]), speed, dt)

    @property
    def _is_going(self) -> bool:
        is_able = self._state == _ACTIVATED and self.outputs["GTO"]
        return bool(is_able) and self.fault in (Fault.NONE, Fault.SILENCE)

    def _go(self, goal: float, speed: float, dt: float) -> bool:
        kind = self.kind
        low, high = float(kind.opened), float(kind.closed)
        at = self._obstacle
        if at is not None:
            low, high = (low, at) if self._is_around else (at, high)
        end = min(max(goal, low), high)
        most = speed * kind.counts_per_metre * dt
        step = min(max(end - self.position, -most), most)
        self.position += step
        is_there = abs(end - self.position) < 0.5
        if is_there and at is not None and end == at and abs(goal - at) >= 1.0:
            self._contact = _STOPPED_CLOSING if goal > end else _STOPPED_OPENING
            self._current = _MOST_CURRENT * self.outputs["FOR"] / 255
        else:
            self._contact = _ARRIVED if is_there else _MOVING
            self._current = 0.0 if is_there else _FREE_CURRENT
        return is_there

    def _reset(self) -> None:
        self._state, self._way = _RESET, []
        if self.fault not in _ENDING:
            self.fault = Fault.NONE

    def _begin_activation(self) -> None:
        self._state = _IN_PROGRESS
        self._way = [float(self.kind.opened), float(self.kind.closed)]
        self._way.append(float(self.kind.opened))
        self._note("gripper: activation begins")
