"""Commands of some joints to one topic, or to a gripper's action."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hardware.ros.bus import Bus
from hardware.ros.joints import (
    Joints,
    Trajectory,
    Vec,
    encode_floats,
    encode_gripper,
    encode_joints,
)
from hardware.ros.messages import (
    FLOATS,
    GRIPPER_ACTION,
    JOINT_STATE,
    JOINT_TRAJECTORY,
)
from hardware.ros.stopping import StopPlanner
from hardware.ros.trajectories import encode_trajectory

KINDS = {
    "trajectory": JOINT_TRAJECTORY,
    "positions": FLOATS,
    "joint_state": JOINT_STATE,
    "gripper_action": GRIPPER_ACTION,
}
"""What a command topic takes: the word in the YAML and its type."""

_LATE_NS = 15_000_000  # [ns] chosen: three periods of 200 Hz, a gap to StopPlanner
_SAME_EVERY = 8  # [periods] chosen: 40 ms of 200 Hz, two of a controller of 50 Hz
_GOAL_NS = 100_000_000  # [ns] chosen: a goal replaces the one before, not 200 a second
_GOAL_STEP = 1e-4  # [rad] or [m] chosen: a change that is no new goal


@dataclass(frozen=True, kw_only=True)
class Topic:
    """Where commands for some joints go.

    Attributes:
        name: Full name of the topic.
        kind: Key of ``KINDS``.
        joint_names: What ROS calls its joints, in the message's order.
        indices: The robot's joints that they are, or that they follow.
        scale: Position in ROS over position of that joint in the URDF, shape (m,).
        offset: Added to it, in ROS's units, shape (m,).
        effort: Largest effort of a gripper's action, [N] or [N·m].
    """

    name: str
    kind: str
    joint_names: tuple[str, ...]
    indices: npt.NDArray[np.intp]
    scale: Vec
    offset: Vec
    effort: float = 0.0


class Commander:
    """Sends the commands of one topic.

    Attributes:
        topic: Where they go.
        planner: Makes trajectories of them.
    """

    def __init__(
        self, bus: Bus, topic: Topic, planner: StopPlanner, clock: Callable[[], int]
    ) -> None:
        self.topic = topic
        self._bus, self._codec = bus, bus.codec
        self.planner, self._clock = planner, clock
        self._is_action = topic.kind == "gripper_action"
        advertise = bus.advertise_action if self._is_action else bus.advertise
        self._publisher = advertise(topic.name, KINDS[topic.kind])
        self._goal, self._sent_ns = math.inf, 0
        self._q: Vec | None = None
        self._n_same = 0

    def count_matched(self) -> int:
        """Return how many take these commands."""
        return self._publisher.count_matched()

    def describe_peer(self) -> str:
        """Say who should take them."""
        who = "an action server" if self._is_action else "a reliable subscriber"
        return f"{who} of {KINDS[self.topic.kind]} on {self.topic.name}"

    def describe_takers(self) -> str:
        """Say who does take them: by name where the bus knows names."""
        n, names = self.count_matched(), self._bus.list_subscribers(self.topic.name)
        whom = ", ".join(names) if len(names) >= n else f"{n} subscriber(s)"
        return f"{self.topic.name}: {whom}"

    def forget(self) -> None:
        """Begin anew: what was commanded last is no past any more."""
        self.planner.forget()

    def send(self, q: Vec, lead: float, *, is_off: bool) -> None:
        """Send a command.

        Args:
            q: Positions of the topic's joints as the URDF has them, shape (m,).
            lead: From a trajectory's arrival to the command, [s].
            is_off: The robot is not where it was told to be. A controller that begins
                each message where the robot is then needs time between them: what
                stays the same is sent every so often.
        """
        if self._is_action:
            self._send_goal(float((q * self.topic.scale + self.topic.offset)[0]))
            return
        is_same = is_off and self._q is not None and bool((q == self._q).all())
        self._n_same = self._n_same + 1 if is_same else 0
        self._q = q
        begin_ns = self._clock()
        data = self._encode(q, lead, is_off)
        # made before a standstill, it would pull back a robot that has braked since
        is_old = self._clock() - begin_ns >= _LATE_NS
        if not is_old and self._n_same % _SAME_EVERY == 0:
            self._publisher.publish(data)

    def _send_goal(self, position: float) -> None:
        """Send a goal when it is another one, and not too often."""
        now_ns = self._clock()
        is_other = abs(position - self._goal) > _GOAL_STEP
        if is_other and now_ns - self._sent_ns >= _GOAL_NS:
            self._goal, self._sent_ns = position, now_ns
            data = encode_gripper(self._codec, position, self.topic.effort)
            self._publisher.publish(data)

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
