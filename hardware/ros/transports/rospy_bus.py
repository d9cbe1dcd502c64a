"""Bus over rospy, for ROS 1."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paprle.hardware.ros.bus import (
    COMMANDS,
    SENSORS,
    Bus,
    BusError,
    Callback,
    Publisher,
    Qos,
)
from paprle.hardware.ros.messages import Codec
from paprle.hardware.ros.transports.rospy_graph import MasterWatch
from paprle.hardware.ros.transports.rospy_sender import drop_old_messages

_DEBIAN = Path("/usr/lib/python3/dist-packages")  # spec: Debian's Python policy
_IGNORED = "/rosout"


def find_rospy() -> bool:
    """Return whether rospy exists; Debian's packages come last."""
    if find_spec("rospy") is None and (_DEBIAN / "rospy").is_dir():
        sys.path.append(str(_DEBIAN))
    return find_spec("rospy") is not None


class RospyPublisher(Publisher):
    """Publisher of one topic."""

    def __init__(self, publisher: Any, message_type: Any) -> None:
        self._publisher = publisher
        self._message_type = message_type

    def publish(self, data: bytes) -> None:
        """Publish bytes, through rospy's thread.

        Raises:
            BusError: Closed node.
        """
        message = self._message_type()
        message.deserialize(data)
        try:
            self._publisher.publish(message)
        except Exception as err:
            raise BusError(f"rospy: {self._publisher.name}: {err}") from err

    def count_matched(self) -> int:
        """Return the number of connected subscribers."""
        return int(self._publisher.get_num_connections())


class _GoalPublisher(Publisher):
    def __init__(self, publisher: Publisher, codec: Codec, name: str) -> None:
        self._publisher, self._codec, self._name = publisher, codec, name
        self._n = 0

    def publish(self, data: bytes) -> None:
        """Send a goal's header, id and bytes."""
        self._n += 1
        codec, goal_id = self._codec, "actionlib_msgs/msg/GoalID"
        header = codec.encode(codec.make_header(), "std_msgs/msg/Header")
        named = codec.make(goal_id, id=f"{self._name}-{self._n}")
        self._publisher.publish(header + codec.encode(named, goal_id) + data)

    def count_matched(self) -> int:
        """Return the number of listening servers."""
        return self._publisher.count_matched()


class RospyBus(Bus):
    """A process's only node in ROS 1."""

    name = "rospy"
    has_actions = True

    def __init__(self, codec: Codec, node_name: str) -> None:
        """Join ``ROS_MASTER_URI``; the name gets a number.

        Raises:
            BusError: No rospy, or no master.
        """
        super().__init__(codec)
        if not codec.is_ros1:
            raise BusError(f"rospy: expected the distro noetic, got {codec.distro}")
        if not find_rospy():
            raise BusError(
                "rospy: expected ROS 1, got none; install it with: apt-get install "
                "python3-rospy"
            )
        rospy, rosgraph = import_module("rospy"), import_module("rosgraph")
        if not rosgraph.is_master_online():
            uri = os.environ.get("ROS_MASTER_URI", "http://localhost:11311")
            raise BusError(f"rospy: expected a master at {uri}, got none; run: roscore")
        self._rospy = rospy
        # signals are the process's own to handle: a gate brakes before it ends
        rospy.init_node(node_name, anonymous=True, disable_signals=True)
        self._master = rosgraph.Master(rospy.get_name())
        self._waiting: list[tuple[Callback, deque[tuple[bytes, int]]]] = []
        self._ends: list[Any] = []
        # a proxy is no thing for two threads
        self._watch = MasterWatch(rosgraph.Master(rospy.get_name()))

    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher."""
        if not qos.latched:
            drop_old_messages(topic)
        return self._advertise(topic, typename, qos)

    def _advertise(self, topic: str, typename: str, qos: Qos) -> Publisher:
        message_type = self._make_type(typename)
        made = self._rospy.Publisher(
            topic,
            message_type,
            queue_size=qos.depth,
            latch=qos.latched,
            tcp_nodelay=True,
        )
        self._ends.append(made)
        return RospyPublisher(made, message_type)

    def advertise_action(self, name: str, typename: str) -> Publisher:
        """Return a publisher of goals."""
        package, _, kind = typename.split("/")
        typename = f"{package}/msg/{kind}ActionGoal"
        goals = self._advertise(f"{name}/goal", typename, COMMANDS)
        return _GoalPublisher(goals, self.codec, self._rospy.get_name())

    def subscribe(
        self, topic: str, typename: str, callback: Callback, qos: Qos = SENSORS
    ) -> None:
        """Subscribe to a topic."""
        waiting: deque[tuple[bytes, int]] = deque(maxlen=qos.depth)
        self._waiting.append((callback, waiting))
        made = self._rospy.Subscriber(
            topic,
            self._make_type(typename),
            lambda message: waiting.append(
                (bytes(message._buff), time.monotonic_ns())  # noqa: SLF001
            ),
            queue_size=qos.depth,
            tcp_nodelay=True,
        )
        self._ends.append(made)

    def poll(self) -> None:
        """Run arrived messages' callbacks."""
        for callback, waiting in self._waiting:
            for _ in range(len(waiting)):
                data, received_ns = waiting.popleft()
                self.waited_ns = time.monotonic_ns() - received_ns
                callback(data)

    def count_publishers(self, topic: str) -> int:
        """Return the number of other publishers."""
        return len(self._find_others(0, topic))

    def count_subscribers(self, topic: str) -> int:
        """Return the number of other subscribers."""
        return len(self._find_others(1, topic))

    def list_subscribers(self, topic: str) -> tuple[str, ...]:
        """Return the others, sorted."""
        return tuple(sorted(self._find_others(1, topic)))

    @property
    def trouble(self) -> str:
        """Reason that the graph is unknown, or empty."""
        return self._watch.trouble

    def list_topics(self) -> dict[str, str]:
        """Return topics with types in ROS 2's spelling."""
        listed = self._master.getTopicTypes()
        return {
            topic: typename.replace("/", "/msg/")
            for topic, typename in listed
            if not topic.startswith(_IGNORED)
        }

    def close(self) -> None:
        """Unregister; the process's node stays."""
        self._watch.close()
        for end in self._ends:
            end.unregister()
        self._ends.clear()

    def _make_type(self, typename: str) -> Any:
        package, _, name = typename.split("/")
        return type(
            name,
            (self._rospy.AnyMsg,),
            {
                "_type": f"{package}/{name}",
                "_md5sum": self.codec.hash_type(typename),
                "_full_text": self.codec.describe(typename),
                "_has_header": False,
                "__slots__": ["_buff"],
            },
        )

    def _find_others(self, part: int, topic: str) -> set[str]:
        return self._watch.graph[part].get(topic, set()) - {self._rospy.get_name()}
