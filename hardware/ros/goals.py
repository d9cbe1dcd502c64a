"""Goals of actions, at most ten a second.

A new goal ends the running one in actionlib's simple server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from paprle.hardware.ros.bus import Publisher
from paprle.hardware.ros.joints import Vec, encode_gripper
from paprle.hardware.ros.messages import (
    GRIPPER_ACTION,
    KINOVA_ANGLES,
    KINOVA_FINGERS,
    KINOVA_FINGERS_ACTION,
    KINOVA_JOINTS_ACTION,
    Codec,
    MessageError,
)

ACTIONS = {
    "gripper_action": GRIPPER_ACTION,
    "kinova_joints": KINOVA_JOINTS_ACTION,
    "kinova_fingers": KINOVA_FINGERS_ACTION,
}
"""Kinds of commands that are goals, and the types of their actions."""

N_JOINTS = {"gripper_action": (1, 1), "kinova_joints": (4, 7), "kinova_fingers": (1, 3)}
"""Number of joints of each."""

_GOAL_NS = 100_000_000  # [ns] chosen: a goal replaces the one before, not 200 a second
_GOAL_STEP = 1e-4  # [rad] or [m] chosen: a change that is no new goal
_SETTLED_NS = 1_000_000_000  # [ns] chosen: an arm has reached its last goal by then
_TICKS = 6800.0 / math.radians(80.0)  # spec: kinova-ros: fingers 0 … 6800 are 80°


class Goals:
    """Sender of an action's goals, a key of ``ACTIONS``.

    Attributes:
        goal: In ROS, shape (m,), or None.
    """

    def __init__(
        self,
        publisher: Publisher,
        codec: Codec,
        kind: str,
        clock: Callable[[], int],
        effort: float,
    ) -> None:
        self.kind, self.sent_ns = kind, 0
        self._publisher, self._codec, self._clock = publisher, codec, clock
        self._effort = effort
        self.goal: Vec | None = None

    def send(self, q: Vec) -> None:
        """Send changes, shape (m,), [rad] or [m], at a limited rate."""
        is_same = self.goal is not None and np.abs(q - self.goal).max() <= _GOAL_STEP
        if not is_same and self._clock() - self.sent_ns >= _GOAL_NS:
            self.goal = q.copy()
            self.repeat()

    def repeat(self) -> None:
        """Resend the last goal."""
        if self.goal is not None:
            self.sent_ns = self._clock()
            data = encode_goal(self._codec, self.kind, self.goal, self._effort)
            self._publisher.publish(data)


class _HasGoals(Protocol):
    goals: Goals | None


def repeat_fingers(commanders: Iterable[_HasGoals], now_ns: int) -> None:
    """Resend fingers' goals after the arm's ended them (AdaptiX, X20)."""
    goals = [one.goals for one in commanders if one.goals is not None]
    arms = [one.sent_ns for one in goals if one.kind == "kinova_joints"]
    arm_ns = max(arms, default=0)
    for one in goals:
        is_disturbed = one.kind == "kinova_fingers" and 0 < one.sent_ns < arm_ns
        if is_disturbed and now_ns - arm_ns >= _SETTLED_NS:
            one.repeat()


def encode_goal(codec: Codec, kind: str, q: Vec, effort: float = 0.0) -> bytes:
    """Return a goal's bytes at q, shape (m,), [rad] or [m]."""
    if kind == "gripper_action":
        return encode_gripper(codec, float(q[0]), effort)
    if kind == "kinova_joints":
        names, values, typename = "joint", np.degrees(q), KINOVA_ANGLES
    else:
        names, values, typename = "finger", q * _TICKS, KINOVA_FINGERS
    n = N_JOINTS[kind][1]
    whole = {f"{names}{k + 1}": np.float32(0.0) for k in range(n)}
    whole |= {f"{names}{k + 1}": np.float32(value) for k, value in enumerate(values)}
    return codec.encode(codec.make(typename, **whole), typename)


def read_goal(kind: str, message: Any, n: int) -> Vec:
    """Return a goal's first ``n`` positions, [rad] or [m].

    Raises:
        MessageError: Not finite.
    """
    if kind == "gripper_action":
        q = np.array([message.position])
    elif kind == "kinova_joints":
        q = np.radians([getattr(message, f"joint{k + 1}") for k in range(n)])
    else:
        q = np.array([getattr(message, f"finger{k + 1}") for k in range(n)]) / _TICKS
    if not np.isfinite(q).all():
        raise MessageError(f"expected finite positions, got {q}")
    return q
