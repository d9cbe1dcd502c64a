"""Bus of (type, topic, bytes) to other nodes; its callbacks run in ``poll`` alone."""

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
    """The middleware is missing or fails."""


class UnknownTypeError(BusError):
    """The middleware has no such type."""


@dataclass(frozen=True, slots=True)
class Qos:
    """Quality of service of ROS.

    Attributes:
        depth: Messages kept (keep last).
        latched: Transient local.
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
        """Send one message without waiting for a reader."""

    @abstractmethod
    def count_matched(self) -> int:
        """Return the number of readers."""


class Bus(ABC):
    """A node of a ROS graph.

    Attributes:
        name: ``dds``, ``rclpy`` or ``rospy``.
        source_ns: Send time of the current message by its middleware's clock, [ns]; or
            0.
        waited_ns: Time since the middleware received that message, [ns]; 0: unknown.
    """

    name = ""
    has_actions = False

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.source_ns = self.waited_ns = 0

    @abstractmethod
    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher of, for example, ``sensor_msgs/msg/JointState``.

        Raises:
            UnknownTypeError: If the type is not built on this bus.
        """

    def advertise_action(self, name: str, typename: str) -> Publisher:
        """Return a publisher of an action's goals, whose results are ignored.

        Raises:
            BusError: If this bus carries no actions.
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
        """Call ``callback`` in ``poll`` with the bytes of each message."""

    @abstractmethod
    def poll(self) -> None:
        """Call the callbacks of messages that have arrived; never blocks."""

    @abstractmethod
    def count_publishers(self, topic: str) -> int:
        """Return the number of other publishers."""

    @abstractmethod
    def count_subscribers(self, topic: str) -> int:
        """Return the number of other subscribers."""

    def list_subscribers(self, topic: str) -> tuple[str, ...]:  # noqa: ARG002
        """Return the known names of a topic's subscribers."""
        return ()

    def read_parameters(
        self,
        node: str,  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
        timeout: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return another node's parameters; wait ``timeout`` [s] at most."""
        return {}

    @property
    def trouble(self) -> str:
        """Reason that the graph is unknown; empty if it is known."""
        return ""

    @abstractmethod
    def list_topics(self) -> dict[str, str]:
        """Return the types of others' topics."""

    @abstractmethod
    def close(self) -> None:
        """Leave the graph."""

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Poll until a condition holds, for ``timeout`` [s]; return whether it does."""
        end = time.monotonic() + timeout
        while True:
            self.poll()
            if condition():
                return True
            if time.monotonic() > end:
                return False
            time.sleep(_POLL_PERIOD)

    def wait_matched(self, publishers: list[Publisher], timeout: float) -> bool:
        """Wait until each publisher has a reader; return whether it has."""
        return self.wait_until(
            lambda: all(publisher.count_matched() for publisher in publishers), timeout
        )
