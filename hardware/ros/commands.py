"""Commands to one topic or action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.goal_order import read_boottime
from paprle.hardware.ros.bus import Bus
from paprle.hardware.ros.goals import ACTIONS, Goals
from paprle.hardware.ros.joints import (
    Joints,
    Trajectory,
    Vec,
    encode_floats,
    encode_joints,
)
from paprle.hardware.ros.messages import (
    FLOATS,
    JOINT_STATE,
    JOINT_TRAJECTORY,
)
from paprle.hardware.ros.stopping import StopPlanner
from paprle.hardware.ros.trajectories import encode_trajectory

KINDS = {
    "trajectory": JOINT_TRAJECTORY,
    "positions": FLOATS,
    "joint_state": JOINT_STATE,
    **ACTIONS,
}
"""Kinds of command topics: the word in the YAML and its type."""

_LATE_NS = 15_000_000  # [ns] chosen: three periods of 200 Hz, a gap to StopPlanner
_SAME_EVERY = 8  # [periods] chosen: 40 ms of 200 Hz, two of a controller of 50 Hz


@dataclass(frozen=True, kw_only=True)
class Topic:
    """Topic of commands.

    Attributes:
        joint_names: In ROS and message order.
        indices: Joints that they are or follow.
        scale: ROS over URDF position, shape (m,).
        offset: Then added, shape (m,).
        effort: Gripper's largest, [N] or [N·m].
    """

    name: str
    kind: str
    joint_names: tuple[str, ...]
    indices: npt.NDArray[np.intp]
    scale: Vec
    offset: Vec
    effort: float = 0.0


class Commander:
    """Sender of one topic's commands."""

    def __init__(
        self, bus: Bus, topic: Topic, planner: StopPlanner, clock: Callable[[], int]
    ) -> None:
        self.topic = topic
        self._bus, self._codec = bus, bus.codec
        self.planner, self._clock = planner, clock
        self._age_clock = read_boottime  # goes on while the computer sleeps
        is_action = topic.kind in ACTIONS
        advertise = bus.advertise_action if is_action else bus.advertise
        self._publisher = publisher = advertise(topic.name, KINDS[topic.kind])
        self.goals: Goals | None = None
        if is_action:
            self.goals = Goals(publisher, bus.codec, topic.kind, clock, topic.effort)
        self._q: Vec | None = None
        self._n_same = 0

    def count_matched(self) -> int:
        """Return the number of receivers."""
        return self._publisher.count_matched()

    def describe_peer(self) -> str:
        """Return the kind of peer expected."""
        who = "an action server" if self.goals else "a reliable subscriber"
        return f"{who} of {KINDS[self.topic.kind]} on {self.topic.name}"

    def describe_takers(self) -> str:
        """Return subscribers, by name if known."""
        n, names = self.count_matched(), self._bus.list_subscribers(self.topic.name)
        whom = ", ".join(names) if len(names) >= n else f"{n} subscriber(s)"
        return f"{self.topic.name}: {whom}"

    def forget(self) -> None:
        """Forget the last command."""
        self.planner.forget()

    def send(self, q: Vec, lead: float, *, is_off: bool) -> None:
        """Send URDF positions, shape (m,), due ``lead`` [s] after arrival.

        Off its path, a robot gets unchanged commands less often.
        """
        if self.goals is not None:
            self.goals.send(q * self.topic.scale + self.topic.offset)
            return
        is_same = is_off and self._q is not None and bool((q == self._q).all())
        self._n_same = self._n_same + 1 if is_same else 0
        begin_ns = self._age_clock()
        data = self._encode(q, lead, is_off)
        # made before a standstill, it would pull back a robot that has braked since
        is_old = self._age_clock() - begin_ns >= _LATE_NS
        if is_old:
            self.planner.take_back()
            return
        self._q = q
        if self._n_same % _SAME_EVERY == 0:
            self._publisher.publish(data)

    def find_held(self) -> Vec | None:
        """Return held URDF positions, shape (m,), [rad] or [m], or None."""
        if self.goals is not None:
            goal = self.goals.goal
            return (
                None if goal is None else (goal - self.topic.offset) / self.topic.scale
            )
        return self.planner.end if self.topic.kind == "trajectory" else self._q

    def _encode(self, q: Vec, lead: float, is_off: bool) -> bytes:
        codec, topic = self._codec, self.topic
        names, scale, offset = topic.joint_names, topic.scale, topic.offset
        if topic.kind == "trajectory":
            plan = self.planner.advance(q, self._clock(), lead, is_off=is_off)
            # stamp zero: from its arrival, in the controller's own time, real or not
            q_ros, dq_ros = plan.q * scale + offset, plan.dq * scale
            return encode_trajectory(
                codec, Trajectory(names, plan.times, q_ros, dq_ros)
            )
        if topic.kind == "positions":
            return encode_floats(codec, q * scale + offset)
        missing = np.full(len(q), np.nan)
        return encode_joints(codec, Joints(names, q * scale + offset, missing, missing))
