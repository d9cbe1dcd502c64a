"""Bus of (type, topic, bytes); callbacks run in ``poll``."""

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
    """Missing or failing middleware."""


class UnknownTypeError(BusError):
    """Unknown type."""


@dataclass(frozen=True, slots=True)
class Qos:
    """Quality of service.

    Attributes:
        depth: Kept messages.
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
    """Publisher of bytes."""

    @abstractmethod
    def publish(self, data: bytes) -> None:
        """Send without waiting."""

    @abstractmethod
    def count_matched(self) -> int:
        """Return the number of readers."""


class Bus(ABC):
    """A node of a ROS graph.

    Attributes:
        name: ``dds``, ``rclpy`` or ``rospy``.
        source_ns: Current message's sending, middleware's clock, [ns]; 0: unknown.
        waited_ns: Since its receipt there, [ns]; 0: unknown.
    """

    name = ""
    has_actions = False

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.source_ns = self.waited_ns = 0

    @abstractmethod
    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher of a type such as ``sensor_msgs/msg/JointState``.

        Raises:
            UnknownTypeError: No such type.
        """

    def advertise_action(self, name: str, typename: str) -> Publisher:
        """Return a publisher of goals, without results.

        Raises:
            BusError: No actions here.
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
        """Call ``callback`` in ``poll`` with each message's bytes."""

    @abstractmethod
    def poll(self) -> None:
        """Run callbacks of arrived messages; never blocks."""

    @abstractmethod
    def count_publishers(self, topic: str) -> int:
        """Return the number of other publishers."""

    @abstractmethod
    def count_subscribers(self, topic: str) -> int:
        """Return the number of other subscribers."""

    def list_subscribers(self, topic: str) -> tuple[str, ...]:  # noqa: ARG002
        """Return the known subscribers."""
        return ()

    def read_parameters(
        self,
        node: str,  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
        timeout: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return another node's parameters within ``timeout``, [s]."""
        return {}

    @property
    def trouble(self) -> str:
        """Reason that the graph is unknown, or empty."""
        return ""

    @abstractmethod
    def list_topics(self) -> dict[str, str]:
        """Return the types of others' topics."""

    @abstractmethod
    def close(self) -> None:
        """Leave the graph."""

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Return whether a condition comes true within ``timeout``, [s]."""
        end = time.monotonic() + timeout
        while True:
            self.poll()
            if condition():
                return True
            if time.monotonic() > end:
                return False
            time.sleep(_POLL_PERIOD)

    def wait_matched(self, publishers: list[Publisher], timeout: float) -> bool:
        """Return whether each publisher gets a reader in time."""
        return self.wait_until(
            lambda: all(publisher.count_matched() for publisher in publishers), timeout
        )
