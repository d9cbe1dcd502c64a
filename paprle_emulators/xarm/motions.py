"""Planned motions, one after another: joints, lines and pauses."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.kinematics import find_turn, make_turn, solve
from paprle_emulators.xarm.models import Model

Vec = npt.NDArray[np.float64]
Token = tuple[int, int]

KINEMATIC, JOINT_LIMIT, SPEED = 21, 23, 24  # spec: control box error codes
_MOST_STEPS = 8  # chosen: of the solver in a cycle
_STEPS_TO_GOAL = 60  # chosen: of the solver before a line begins
_TURN_SPEED = math.pi / 2  # [rad/s] chosen: of the tool on a line; no figure
_FASTEST = math.pi  # [rad/s] spec: p04robot-specifications
_SLOWEST = 1e-3  # [rad/s], [m/s] chosen: what a client may ask for
_EDGE = math.radians(0.1)  # [rad] spec: SDK, what it lets pass beyond a limit


class MotionError(Exception):
    """A motion that the box gives up, with an error code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"C{code}")
        self.code = code


class Motion(Protocol):
    """One entry of the box's buffer.

    Attributes:
        token: Transaction and protocol of the message of its end, if asked for.
    """

    token: Token | None

    def begin(self, q: Vec) -> None:
        """Begin at joints (n,), [rad]."""

    def advance(self, dt: float, q: Vec) -> Vec:
        """Return joints (n,) after dt [s].

        Raises:
            MotionError: If it cannot go on.
        """

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""


class Pace:
    """Share of a way, 0 … 1: even speed between even accelerations."""

    def __init__(self, seconds: float, rise: float) -> None:
        """Describe a way that takes ``seconds`` at full speed, reached in ``rise``."""
        if seconds <= 0.0:
            seconds = rise = 1e-9
        self._speed, self._rise = 1.0 / seconds, max(rise, 1e-9)
        if self._speed * self._rise > 1.0:  # it never reaches its full speed
            self._rise = math.sqrt(seconds * rise)
            self._speed = 1.0 / self._rise
        self.total = 1.0 / self._speed + self._rise

    def find_share(self, t: float) -> float:
        """Return the share after t [s]."""
        left = self.total - t
        if left <= 0.0:
            return 1.0
        half = 0.5 * self._speed / self._rise
        if t < self._rise:
            return half * t * t
        if left < self._rise:
            return 1.0 - half * left * left
        return self._speed * (t - 0.5 * self._rise)


class _Timed:
    """A motion along a pace."""

    def __init__(self, speed: float, acceleration: float, token: Token | None) -> None:
        self.token = token
        self._speed = max(speed, _SLOWEST)
        self._rise = self._speed / max(acceleration, _SLOWEST)
        self._pace, self._t = Pace(0.0, 0.0), 0.0

    @property
    def is_done(self) -> bool:
        """Whether its time is over."""
        return self._t >= self._pace.total

    def _pass(self, dt: float) -> float:
        self._t += dt
        return self._pace.find_share(self._t)


class JointMotion(_Timed):
    """All joints together, straight; infinite numbers stay as they are."""

    def __init__(
        self,
        model: Model,
        goal: Vec,
        speed: float,
        acceleration: float,
        *,
        is_relative: bool = False,
        token: Token | None = None,
    ) -> None:
        super().__init__(min(speed, _FASTEST), acceleration, token)
        self._model, self._goal, self._is_relative = model, goal, is_relative
        self._start = goal

    def begin(self, q: Vec) -> None:
        """Begin at joints (n,), [rad].

        Raises:
            MotionError: Beyond a limit.
        """
        self._start = q.copy()
        goal = q + self._goal if self._is_relative else self._goal
        self._goal = np.where(np.isposinf(goal), q, goal)
        low, high = np.radians(self._model.limits).T
        is_inside = (self._goal >= low - _EDGE) & (self._goal <= high + _EDGE)
        if not is_inside.all():  # as it is written, NaN is outside
            raise MotionError(JOINT_LIMIT)
        way = float(np.abs(self._goal - q).max())
        self._pace = Pace(way / self._speed, self._rise)

    def advance(self, dt: float, q: Vec) -> Vec:
        """Return joints (n,) after dt [s]."""
        del q
        found: Vec = self._start + self._pass(dt) * (self._goal - self._start)
        return found


class Target(Protocol):
    """Goal of a line."""

    def __call__(self, pose: Vec) -> Vec:
        """Return the goal of a line that begins at a pose, (4, 4), [m]."""


class LineMotion(_Timed):
    """The tool on a line, turning evenly; joints near the posture before."""

    def __init__(
        self,
        model: Model,
        tool: Vec,
        target: Target,
        speed: float,
        acceleration: float,
        *,
        token: Token | None = None,
    ) -> None:
        super().__init__(speed, acceleration, token)
        self._model, self._tool, self._target = model, tool, target
        self._start, self._goal = np.eye(4), np.eye(4)
        self._turn = np.zeros(3)

    def begin(self, q: Vec) -> None:
        """Begin at joints (n,), [rad].

        Raises:
            MotionError: Out of reach.
        """
        self._start = self._model.compute_frames(q)[-1] @ self._tool
        self._goal = self._target(self._start)
        if not np.isfinite(self._goal).all() or not self._is_in_reach(q):
            raise MotionError(KINEMATIC)
        self._turn = find_turn(self._goal[:3, :3] @ self._start[:3, :3].T)
        way = float(np.linalg.norm(self._goal[:3, 3] - self._start[:3, 3]))
        angle = float(np.linalg.norm(self._turn))
        self._pace = Pace(max(way / self._speed, angle / _TURN_SPEED), self._rise)

    def advance(self, dt: float, q: Vec) -> Vec:
        """Return joints (n,) after dt [s].

        Raises:
            MotionError: Out of reach, or too fast for a joint.
        """
        share = self._pass(dt)
        pose = np.eye(4)
        pose[:3, :3] = make_turn(share * self._turn) @ self._start[:3, :3]
        pose[:3, 3] = self._start[:3, 3] + share * (
            self._goal[:3, 3] - self._start[:3, 3]
        )
        found = solve(self._model, self._tool, pose, q, _MOST_STEPS)
        if found is None:
            raise MotionError(KINEMATIC)
        if np.abs(found - q).max() > _FASTEST * dt:
            raise MotionError(SPEED)
        return found

    def _is_in_reach(self, q: Vec) -> bool:
        found = solve(self._model, self._tool, self._goal, q, _STEPS_TO_GOAL)
        return found is not None


class Pause:
    """Rest between motions."""

    def __init__(self, seconds: float) -> None:
        self.token: Token | None = None
        self._left = seconds

    @property
    def is_done(self) -> bool:
        """Whether its time is over."""
        return not self._left > 0.0

    def begin(self, q: Vec) -> None:
        """Begin at joints (n,), [rad]."""

    def advance(self, dt: float, q: Vec) -> Vec:
        """Return the joints (n,) after dt [s]."""
        self._left -= dt
        return q
