"""Bus of (type, topic, bytes) to other nodes, over any installed transport.

Callbacks run in ``poll``, in the thread that calls it: nothing above a bus is locked.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paprle.hardware.ros.messages import Codec

Callback = Callable[[bytes], None]

_POLL_PERIOD = 0.002  # [s] chosen: a queue of one loses no state of 500 Hz


class BusError(OSError):
    """The middleware is not there, or does not do what was asked."""


class UnknownTypeError(BusError):
    """The middleware has no such type: its package is not built there."""


@dataclass(frozen=True, slots=True)
class Qos:
    """Quality of service, in ROS's words.

    Attributes:
        depth: Messages kept (keep last).
        reliable: Lost messages are sent again; otherwise best effort.
        latched: Late readers get the last message (transient local).
    """

    depth: int = 10
    reliable: bool = True
    latched: bool = False


COMMANDS = Qos()
"""ROS's default: what controllers subscribe with."""
SENSORS = Qos(depth=64, reliable=False)
"""Best effort and volatile: a reader that matches every publisher."""
NEWEST = Qos(depth=1, reliable=False)
"""The same for a level: what is older than the newest message is not kept."""
LATCHED = Qos(depth=1, latched=True)
"""Descriptions and levels that hardly change."""


class Publisher(ABC):
    """Publisher of one topic's bytes."""

    @abstractmethod
    def publish(self, data: bytes) -> None:
        """Send one message; never waits for a reader."""

    @abstractmethod
    def count_matched(self) -> int:
        """Return how many readers there are now."""


class Bus(ABC):
    """A node of a ROS graph.

    Attributes:
        codec: Messages of its distribution.
        name: What carries it, for people: ``dds``, ``rclpy`` or ``rospy``.
        has_actions: Whether actions may be sent over it.
        source_ns: When the message whose callback runs was sent, as its middleware
            says, by a clock of its own, [ns]; 0: not known.
        waited_ns: How long that message has waited here since the middleware received
            it, [ns]; 0 where that is not known.
    """

    name = ""
    has_actions = False

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.source_ns = self.waited_ns = 0

    @abstractmethod
    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher.

        Args:
            topic: Full name, for example ``/joint_states``.
            typename: Type, for example ``sensor_msgs/msg/JointState``.
            qos: Quality of service.

        Raises:
            UnknownTypeError: If this bus wants types to be built, and this one is not.
        """

    def advertise_action(self, name: str, typename: str) -> Publisher:
        """Return what sends goals of an action, each in place of the one before.

        What is published are the bytes of the goal; what becomes of it is not asked.

        Args:
            name: Full name, for example ``/gripper_controller/gripper_cmd``.
            typename: For example ``control_msgs/action/GripperCommand``.

        Raises:
            BusError: If this bus carries none.
        """
        raise BusError(
            f"{self.name}: expected rclpy or rospy for the action {name} [{typename}]: "
            "over DDS alone a server may take a request of another DDS library for a "
            "goal of garbage (ros2/rmw_cyclonedds 184, 577); install ROS, or give the "
            "robot a controller with a topic, such as a JointTrajectoryController"
        )

    @abstractmethod
    def subscribe(
        self, topic: str, typename: str, callback: Callback, qos: Qos = SENSORS
    ) -> None:
        """Have ``callback`` called in ``poll`` with the bytes of each message."""

    @abstractmethod
    def poll(self) -> None:
        """Call the callbacks of everything that has arrived; never blocks."""

    @abstractmethod
    def count_publishers(self, topic: str) -> int:
        """Return how many publishers of others a topic has, as far as is known."""

    @abstractmethod
    def count_subscribers(self, topic: str) -> int:
        """Return how many subscribers of others a topic has, as far as is known."""

    def list_subscribers(self, topic: str) -> tuple[str, ...]:  # noqa: ARG002
        """Return the nodes that subscribe to a topic, where they are known by name."""
        return ()

    def read_parameters(
        self,
        node: str,  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
        timeout: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return parameters of another node.

        Args:
            node: Its full name.
            names: Of the parameters.
            timeout: How long the answer is waited for, [s].

        Returns:
            Those that it has, by name; none where the transport has no services.
        """
        return {}

    @property
    def trouble(self) -> str:
        """Reason that the graph is unknown; empty if it is known."""
        return ""

    @abstractmethod
    def list_topics(self) -> dict[str, str]:
        """Return the topics of others and their types, as far as they are known."""

    @abstractmethod
    def close(self) -> None:
        """Leave the graph; may be called twice."""

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Poll until a condition holds.

        Args:
            condition: What is waited for.
            timeout: For how long, [s].

        Returns:
            Whether it holds.
        """
        end = time.monotonic() + timeout
        while True:
            self.poll()
            if condition():
                return True
            if time.monotonic() > end:
                return False
            time.sleep(_POLL_PERIOD)

    def wait_matched(self, publishers: list[Publisher], timeout: float) -> bool:
        """Wait until each publisher has a reader; returns whether it has."""
        return self.wait_until(
            lambda: all(publisher.count_matched() for publisher in publishers), timeout
        )
