"""Bus over rclpy, Humble to Kilted; verification: ``docs/ros2.md``.

An executor with time-out 0 takes one message a round (``rclpy/executors.py``,
``TimeoutException``), so subscriptions are drained directly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from paprle.hardware.ros.bus import (
    COMMANDS,
    SENSORS,
    Bus,
    Callback,
    Publisher,
    Qos,
    UnknownTypeError,
)
from paprle.hardware.ros.messages import Codec

_BATCH = 64  # chosen: messages a poll takes from one topic at most


class RclpyPublisher(Publisher):
    """Publisher of one topic."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher

    def publish(self, data: bytes) -> None:
        """Publish CDR bytes."""
        self._publisher.publish(data)

    def count_matched(self) -> int:
        """Return the number of matched subscriptions."""
        return int(self._publisher.get_subscription_count())


class _GoalPublisher(Publisher):
    def __init__(self, client: Any, goal_type: Any) -> None:
        self._client, self._goal_type = client, goal_type

    def publish(self, data: bytes) -> None:
        """Send a goal from its CDR bytes."""
        self._client.send_goal_async(deserialize_message(data, self._goal_type))

    def count_matched(self) -> int:
        """Return 1 if the server is there."""
        return int(self._client.server_is_ready())


@dataclass(frozen=True, slots=True)
class _Reader:
    subscription: Any
    kind: Any
    callback: Callback


class RclpyBus(Bus):
    """Node of rclpy in its own context."""

    name = "rclpy"
    has_actions = True

    def __init__(
        self, codec: Codec, node_name: str, *, domain: int | None = None
    ) -> None:
        """Make the node, by default in ``ROS_DOMAIN_ID``."""
        super().__init__(codec)
        self._context = Context()
        # signals are the process's own to handle: a gate brakes before it ends
        rclpy.init(context=self._context, domain_id=domain)
        self._node = rclpy.create_node(node_name, context=self._context)
        self._readers: list[_Reader] = []
        self._client: tuple[Any, Any] | None = None
        self._ours: Counter[tuple[str, str]] = Counter()
        self._is_open = True

    def advertise(self, topic: str, typename: str, qos: Qos = COMMANDS) -> Publisher:
        """Return a publisher."""
        made = self._node.create_publisher(_load(typename), topic, _translate(qos))
        self._ours["publishers", topic] += 1
        return RclpyPublisher(made)

    def advertise_action(self, name: str, typename: str) -> Publisher:
        """Return a publisher of goals."""
        kind = _load(typename, "get_action")
        node, _ = self._open_client()
        return _GoalPublisher(ActionClient(node, kind, name), kind.Goal)

    def read_parameters(
        self, node: str, names: tuple[str, ...], timeout: float
    ) -> Mapping[str, Any]:
        """Return another node's parameters."""
        ours, executor = self._open_client()
        kind = _load("rcl_interfaces/srv/GetParameters", "get_service")
        client = ours.create_client(kind, f"{node}/get_parameters")
        try:
            if not client.wait_for_service(timeout_sec=timeout):
                return {}
            future = client.call_async(kind.Request(names=list(names)))
            executor.spin_until_future_complete(future, timeout_sec=timeout)
            if not future.done() or future.result() is None:
                return {}
            values = map(parameter_value_to_python, future.result().values)
            found = zip(names, values, strict=False)  # undeclared ones end the list
            return {name: value for name, value in found if value is not None}
        finally:
            ours.destroy_client(client)

    def subscribe(
        self, topic: str, typename: str, callback: Callback, qos: Qos = SENSORS
    ) -> None:
        """Subscribe to a topic."""
        kind = _load(typename)
        made = self._node.create_subscription(
            kind, topic, callback, _translate(qos), raw=True
        )
        self._readers.append(_Reader(made, kind, callback))
        self._ours["subscriptions", topic] += 1

    def poll(self) -> None:
        """Drain each subscription."""
        for reader in self._readers:
            handle = reader.subscription.handle
            for _ in range(_BATCH):
                with handle:
                    taken = handle.take_message(reader.kind, True)
                if taken is None:
                    break
                data, info = taken
                stamps = (info["source_timestamp"], info["received_timestamp"])
                self.source_ns = next(filter(None, stamps), 0)
                reader.callback(data)
        if self._client is not None:
            self._client[1].spin_once(timeout_sec=0.0)

    def count_publishers(self, topic: str) -> int:
        """Return the number of other publishers."""
        found = self._node.get_publishers_info_by_topic(topic)
        return self._count_others(found, self._ours["publishers", topic])

    def count_subscribers(self, topic: str) -> int:
        """Return the number of other subscribers."""
        found = self._node.get_subscriptions_info_by_topic(topic)
        return self._count_others(found, self._ours["subscriptions", topic])

    def list_subscribers(self, topic: str) -> tuple[str, ...]:
        """Return the subscribed nodes."""
        found = self._node.get_subscriptions_info_by_topic(topic)
        return tuple(info.node_name for info in found)

    def list_topics(self) -> dict[str, str]:
        """Return all topics and their first types."""
        listed = self._node.get_topic_names_and_types()
        return {topic: typenames[0] for topic, typenames in listed}

    def close(self) -> None:
        """Leave the graph."""
        if self._is_open:
            self._is_open = False
            if self._client is not None:
                node, executor = self._client
                executor.shutdown()
                node.destroy_node()
            self._node.destroy_node()
            rclpy.shutdown(context=self._context)

    def _open_client(self) -> tuple[Any, Any]:
        if self._client is None:
            name = f"{self._node.get_name()}_client"
            node = rclpy.create_node(name, context=self._context)
            executor = SingleThreadedExecutor(context=self._context)
            executor.add_node(node)
            self._client = node, executor
        return self._client

    def _count_others(self, infos: list[Any], n_ours: int) -> int:
        """Return the number of others; one may have our name."""
        named = sum(info.node_name == self._node.get_name() for info in infos)
        return len(infos) - min(n_ours, int(named))


def _load(typename: str, getter: str = "get_message") -> Any:
    try:
        return getattr(import_module("rosidl_runtime_py.utilities"), getter)(typename)
    except (ModuleNotFoundError, AttributeError, ValueError) as err:
        package = typename.partition("/")[0]
        raise UnknownTypeError(
            f"rclpy: expected the type {typename}, got none ({err}); source the "
            f"workspace that has {package}"
        ) from err


def _translate(qos: Qos) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE
        if qos.reliable
        else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if qos.latched
        else DurabilityPolicy.VOLATILE,
    )
