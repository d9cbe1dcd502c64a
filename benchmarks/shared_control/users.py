"""Users of bounded skill.

A user sees a reaction time late, needs time for presses, moves one axis, and slows near
the goal. Goals are common, means differ by device. Times are no model of people's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_REACTION = 0.25  # [s] chosen: of a person to what is seen
_PRESS = 0.1  # [s] chosen: a button is down, and up, for so long
_THINK = 0.4  # [s] chosen: from one press to the next
_NEAR = 0.05  # [m] chosen: from here on a person goes slowly
_SLOW = 0.35  # chosen: share of full deflection there
_SPREAD = 0.3  # chosen: no two users, and no two moments, are equally quick
_NOTICED = 0.08  # chosen: a third of a right angle; less does not look different
_CREEP = 0.3  # chosen: twice the dead zone of a pad
_GRASP = 0.01  # [m] chosen: above the middle of a block, with the table below
_PLACE = 0.03  # [m] chosen: above the target, with the block in the hand

DOWN = np.array([0.0, 0.0, -1.0])


class Scene(NamedTuple):
    """Visible scene at one moment.

    Attributes:
        t: [s].
        p: Between the fingertips, in world, (3,), [m].
        forward: Of the fingers, in world, (3,).
        block: (3,), [m].
        target: (3,), [m].
        opening: 0 … 1.
        difference: Of the best suggestion; NaN: no cue.
    """

    t: float
    p: Vec
    forward: Vec
    block: Vec
    target: Vec
    opening: float
    is_held: bool
    difference: float
    is_shown: bool


class User(ABC):
    """User with one axis and one button.

    Attributes:
        axis: Deflection, -1 … 1.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 7])
        self._seen: deque[Scene] = deque()
        self._delay = self._vary(_REACTION)
        self._ready = 0.0
        self._up = 0.0
        self.axis, self.button, self.n_presses = 0.0, False, 0

    def look(self, scene: Scene) -> None:
        """Act on the scene a reaction time ago."""
        self._seen.append(scene)
        if scene.t >= self._up:
            self.button = False
        old: Scene | None = None
        while self._seen and self._seen[0].t <= scene.t - self._delay:
            old = self._seen.popleft()
        if old is not None and scene.t >= self._ready:
            self.act(old, scene.t)

    @abstractmethod
    def act(self, scene: Scene, t: float) -> None:
        """Decide at ``t`` [s]."""

    def press(self, t: float) -> None:
        """Release the axis, press, and wait."""
        self.axis, self.button = 0.0, True
        self.n_presses += 1
        self._up = t + self._vary(_PRESS)
        self._delay = self._vary(_REACTION)
        self._ready = self._up + self._vary(_THINK) + self._delay

    def _vary(self, value: float) -> float:
        return value * float(self._rng.uniform(1.0 - _SPREAD, 1.0 + _SPREAD))


class Adaptive(User):
    """Follows the active suggestion; switches on a cue."""

    def __init__(self, seed: int, *, waits_for_cue: bool) -> None:
        super().__init__(seed)
        self._waits_for_cue = waits_for_cue

    def act(self, scene: Scene, t: float) -> None:
        """Press for a better suggestion, else push."""
        if np.isnan(scene.difference):
            self.axis = 0.0
            return
        noticed = self._vary(_NOTICED)
        is_other = scene.is_shown if self._waits_for_cue else scene.difference > noticed
        if is_other:
            self.press(t)
            return
        goal = scene.target if scene.is_held else scene.block
        is_near = float(np.linalg.norm(goal - scene.p)) < _NEAR
        self.axis = _SLOW if is_near else 1.0


class Classic(User):
    """Moves x, y, z, roll, pitch, yaw, gripper in turn."""

    def __init__(self, seed: int, hover: float) -> None:
        super().__init__(seed)
        self._hover = hover
        self._mode = 0
        self._freedom: int | None = None

    def act(self, scene: Scene, t: float) -> None:
        """Switch to the wanted freedom, or push."""
        errors, tolerances = self._judge(scene)
        wanted = self._choose(errors, tolerances)
        self._freedom = wanted
        if wanted is None:
            self.axis = 0.0
        elif wanted != self._mode:
            self.press(t)
            self._mode = (self._mode + 1) % len(errors)
        else:
            error = float(errors[wanted])
            slow = _NEAR if wanted < 3 else 4.0 * _NEAR
            size = 1.0 if wanted == 6 else min(1.0, max(abs(error) / slow, _CREEP))
            self.axis = float(np.copysign(size, error))

    def _choose(self, errors: Vec, tolerances: Vec) -> int | None:
        wrong = np.abs(errors) > tolerances
        if self._freedom is not None and abs(errors[self._freedom]) > (
            0.5 * tolerances[self._freedom]
        ):
            return self._freedom
        order = (0, 1, 2, 3, 4, 6)
        return next((k for k in order if wrong[k]), None)

    def _judge(self, scene: Scene) -> tuple[Vec, Vec]:
        goal = scene.target if scene.is_held else scene.block
        goal = goal + np.array([0.0, 0.0, _PLACE if scene.is_held else _GRASP])
        errors, tolerances = np.zeros(7), np.array([0.008] * 3 + [0.12] * 3 + [0.05])
        if scene.is_held:
            tolerances[:3] = 0.02
        errors[:3] = goal - scene.p
        errors[3:5] = np.cross(scene.forward, DOWN)[:2]
        wrong = np.abs(errors) > 1.5 * tolerances
        is_above = not wrong[[0, 1, 3, 4]].any()
        is_there = is_above and not wrong[2]
        if not is_above:
            errors[2] += self._hover
            if errors[2] > tolerances[2]:  # up first
                errors[[0, 1, 3, 4]] = 0.0
        if is_there and not scene.is_held:
            errors[6] = -1.0
        elif is_there or (not scene.is_held and scene.opening < 0.9):
            errors[6] = 1.0
        if errors[6] != 0.0:
            errors[:5] = 0.0
        return errors, tolerances


def point_of(T: pin.SE3, point: Vec, axis: int) -> tuple[Vec, Vec]:
    """Return fingertips' middle and direction, in world."""
    return T.act(point), T.rotation[:, axis].copy()
