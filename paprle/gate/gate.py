"""The gate: turns what is asked into what may be sent, one period at a time.

A pure class: no clock, no I/O, no thread. Whatever it is given (NaN, wrong shapes,
stale or absurd commands), the vectors it returns keep the invariants M1–M4 and V1 of
``docs/SAFETY.md``: finite, within position limits, |v| ≤ V, |Δv| ≤ A·h, and always
able to stop before the limits. A refusal brakes, then holds. ``paprle.oracle`` judges
the same without sharing a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from paprle.errors import CommandError
from paprle.gate.limits import (
    Groups,
    Mask,
    compute_braking_velocity,
    compute_stopping_speed,
)
from paprle.gate.reasons import Reason
from paprle.settings import GateSettings
from paprle.types import RobotInfo, Vec, readonly

GateConfig = GateSettings

_MARGIN_SHARE = 0.05  # chosen: the margin never takes more than this of a joint's range
_LONGEST_DT = 1.0  # [s] chosen: no follower is commanded less often
_AT_REST = 1e-9  # [rad/s] chosen: below this a commanded joint counts as standing


class HasRobotInfo(Protocol):
    """Anything that knows its ``RobotInfo``, such as a ``RobotModel``."""

    @property
    def info(self) -> RobotInfo:
        """The robot."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one step gave.

    Attributes:
        q_cmd: The vector to send, shape (n,), read-only.
        events: Clauses that acted in this step.
        clearance: Smallest distance seen to anything, [m]; +inf: not looked at.
    """

    q_cmd: Vec
    events: tuple[Reason, ...]
    clearance: float


class Gate:
    """Limits of one follower: all its actuated joints in one vector.

    Attributes:
        ddq_max: Acceleration limits A, shape (n,), [rad/s²].
        dq_max: Velocity limits V, shape (n,), [rad/s].
        q_min: Lower command limits, margin included, shape (n,), [rad].
        q_max: Upper command limits, margin included, shape (n,), [rad].
        q_cmd: Last command, shape (n,).
        dq_cmd: Its velocity, shape (n,).
    """

    def __init__(
        self, robot: RobotInfo | HasRobotInfo, settings: GateSettings | None = None
    ) -> None:
        info = robot if isinstance(robot, RobotInfo) else robot.info
        self.settings = settings or GateSettings()
        self.ddq_max = readonly(info.ddq_max)
        self.dq_max = readonly(info.dq_max)
        self._groups = Groups(info)
        self._is_arm = self._groups.is_arm
        low, high = compute_command_limits(info, self.settings)
        self.q_min, self.q_max = readonly(low), readonly(high)
        self.speed_scale = 1.0
        self._h = 0.0
        self.reset(info.home)

    def reset(self, q_meas: Vec) -> None:
        """Stand at the measured position; the next step's dt becomes the period.

        Args:
            q_meas: Measured joint positions, shape (n,), [rad]; may be outside the
                limits, then only inward motion is allowed.

        Raises:
            CommandError: If it has the wrong shape or is not finite.
        """
        q = _as_vector(q_meas, len(self.dq_max))
        if q is None:
            raise CommandError(
                f"gate: expected {len(self.dq_max)} finite joint positions to start "
                f"from, got {q_meas!r}; check the follower's joint states"
            )
        self.q_cmd = readonly(q)
        self.dq_cmd = readonly(np.zeros_like(q))
        self._feed = np.zeros_like(q)
        self._h = 0.0

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command stood still."""
        return bool((np.abs(self.dq_cmd) <= _AT_REST).all())

    def step(
        self,
        q_des: Vec | None,
        dt: float,
        age: float = 0.0,
        q_meas: Vec | None = None,
        *,
        dq_des: Vec | None = None,
    ) -> GateResult:
        """Take one period toward the desired positions, within every limit.

        Args:
            q_des: Desired positions at this instant, shape (n,), [rad]; None brakes.
            dt: Period h, [s]; fixed by the first step after ``reset``.
            age: Age of ``q_des`` by arrival, [s].
            q_meas: Measured positions, shape (n,), when the command is to be leashed
                to within E of them (L1, blocked); None otherwise.
            dq_des: Velocity of the desired positions, shape (n,), [rad/s]; fed forward
                as far as the joint could have it, within V and changing by A.

        Returns:
            The vector to send, and which clauses acted.
        """
        events: list[Reason] = []
        if self._h == 0.0 and 0.0 < dt < _LONGEST_DT:
            self._h = dt
        if dt != self._h or self._h == 0.0:
            events.append(Reason.DT_CHANGED)
        if self._h == 0.0:
            return GateResult(self.q_cmd, tuple(events), float("inf"))
        target = None if q_des is None else _as_vector(q_des, len(self.q_cmd))
        if q_des is not None and target is None:
            events.append(Reason.NOT_FINITE)
        if target is not None and not 0.0 <= age <= self.settings.stale_after:
            events.append(Reason.COMMAND_STALE)
            target = None
        goal = None if target is None else self._clip_goal(target, q_meas)
        if goal is not None and (goal != target).any():
            events.append(Reason.POSITION)
        v, q = self._advance(goal, dq_des, events)
        self.q_cmd, self.dq_cmd = readonly(q), readonly(v)
        return GateResult(self.q_cmd, tuple(events), float("inf"))

    def _clip_goal(self, target: Vec, q_meas: Vec | None) -> Vec:
        """Clip a target to the position limits and, if leashed, to near q_meas (L1)."""
        # A joint outside its limits is not sent farther out; a leashed command that is
        # too far ahead is drawn back.
        low = np.minimum(self.q_min, self.q_cmd)
        high = np.maximum(self.q_max, self.q_cmd)
        goal: Vec = np.minimum(np.maximum(target, low), high)
        leash = None if q_meas is None else _as_vector(q_meas, len(self.q_cmd))
        if leash is None:
            return goal
        bound = np.where(self._is_arm, self.settings.lag_bound, np.inf)
        goal = np.minimum(np.maximum(goal, leash - bound), leash + bound)
        return np.minimum(np.maximum(goal, low), high)

    def _advance(
        self, goal: Vec | None, dq_des: Vec | None, events: list[Reason]
    ) -> tuple[Vec, Vec]:
        """Return the next velocity and position; without a goal, brake."""
        h, A, c = self._h, self.ddq_max, self.q_cmd
        v_brake = compute_braking_velocity(self.dq_cmd, A, h)
        if goal is None:
            self._feed = np.zeros_like(c)
            return v_brake, c + v_brake * h
        # a joint that stands outside its limits may only come back in
        lower, upper = np.minimum(self.q_min, c), np.maximum(self.q_max, c)
        speed = np.maximum(self.dq_max * self.speed_scale, np.abs(v_brake))
        v_low = np.maximum(-speed, self.dq_cmd - A * h)
        v_low = np.maximum(v_low, -compute_stopping_speed(c - lower, A, h))
        v_high = np.minimum(speed, self.dq_cmd + A * h)
        v_high = np.minimum(v_high, compute_stopping_speed(upper - c, A, h))
        # V1 says braking is inside; this is for its rounding
        v_low, v_high = np.minimum(v_low, v_brake), np.maximum(v_high, v_brake)
        wanted, is_exact = self._want(goal - c, dq_des, speed, events)
        v, is_free = self._groups.limit_along(wanted, v_brake, v_low, v_high)
        if not is_free.all():
            events.append(Reason.ACCELERATION)
        # the goal itself, so that a resting target is held to the bit
        q = np.where(is_exact & is_free, goal, c + v * h)
        return v, np.minimum(np.maximum(q, lower), upper)

    def _want(
        self, error: Vec, dq_des: Vec | None, speed: Vec, events: list[Reason]
    ) -> tuple[Vec, Mask]:
        """Return velocities that reach the target soonest and straight, and which do.

        The error is taken relative to a target that moves at the feed-forward velocity.
        One factor for the group keeps the direction, and the stopping speed of the
        distance that is left keeps it from overshooting.
        """
        h = self._h
        feed = self._follow_feed(dq_des)
        relative = error - feed * h
        distance = np.abs(relative)
        stopping = compute_stopping_speed(distance, self.ddq_max, h)
        moving = distance > 0.0
        rates = np.where(moving, stopping / np.where(moving, distance, 1.0), 1.0 / h)
        rate = self._groups.min(rates)
        wanted = feed + rate * relative
        over = self._groups.max(np.abs(wanted) / speed)
        is_fast = over > 1.0
        if is_fast.any():
            events.append(Reason.VELOCITY)
            wanted = wanted / np.where(is_fast, over, 1.0)
        return wanted, (rate * h >= 1.0 - 1e-12) & ~is_fast

    def _follow_feed(self, dq_des: Vec | None) -> Vec:
        """Feed-forward: the target's velocity, as far as the joint could have it."""
        feed = None if dq_des is None else _as_vector(dq_des, len(self.q_cmd))
        if feed is None:
            feed = np.zeros_like(self.q_cmd)
        speed, change = self.dq_max * self.speed_scale, self.ddq_max * self._h
        feed = np.minimum(np.maximum(feed, -speed), speed)
        self._feed = np.minimum(
            np.maximum(feed, self._feed - change), self._feed + change
        )
        return self._feed


def compute_command_limits(info: RobotInfo, settings: GateSettings) -> tuple[Vec, Vec]:
    """Return the position limits of commands (M2): margin off arms, not grippers."""
    margin = np.minimum(
        settings.position_margin, _MARGIN_SHARE * (info.q_max - info.q_min)
    )
    margin = np.where(Groups(info).is_arm, margin, 0.0)
    return info.q_min + margin, info.q_max - margin


def _as_vector(values: Any, n: int) -> Vec | None:
    """Return values as n finite float64 numbers, or None; never raises."""
    try:
        array = np.asarray(values)
        if array.shape != (n,) or array.dtype.kind not in "fiu":
            return None
        vector: Vec = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return vector if np.isfinite(vector).all() else None
