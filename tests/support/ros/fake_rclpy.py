"""A stand-in for rclpy where there is none: nodes, endpoints, messages and types.

It shows that our side keeps to the calls that rclpy documents, not that rclpy does.
Its executor has the rule of the real one (``rclpy/executors.py``): a round takes one
message of each subscription that has any, and with a time-out of 0 an exception ends
every round, so that the call after its last message does nothing.
"""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from types import ModuleType, SimpleNamespace

BUILT = {"sensor_msgs", "geometry_msgs", "std_msgs", "control_msgs"}
"""Packages of types that a workspace has."""


class _Handle:
    """What rclpy's C side knows of a subscription."""

    def __init__(self, depth):
        self.queue = deque(maxlen=depth)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def take_message(self, kind, raw):  # noqa: ARG002
        assert raw
        return self.queue.popleft() if self.queue else None


class _Subscription:
    def __init__(self, kind, callback, depth):
        self.msg_type, self.callback, self.raw = kind, callback, True
        self.handle = _Handle(depth)


class _Node:
    def __init__(self, graph, name):
        self._graph, self._name = graph, name
        self.subscriptions = []

    def get_name(self):
        return self._name

    def create_publisher(self, kind, topic, qos):  # noqa: ARG002
        return self._graph.add("publishers", self._name, topic)

    def create_subscription(self, kind, topic, callback, qos, *, raw):
        assert raw
        self._graph.add("subscriptions", self._name, topic)
        made = _Subscription(kind, callback, qos.depth)
        self.subscriptions.append(made)
        self._graph.readers.append((topic, made.handle.queue))
        return made

    def get_publishers_info_by_topic(self, topic):
        return self._graph.find("publishers", topic)

    def get_subscriptions_info_by_topic(self, topic):
        return self._graph.find("subscriptions", topic)

    def destroy_node(self):
        self._graph.ends = [e for e in self._graph.ends if e[1] != self._name]


class _Executor:
    def __init__(self, **_):
        self._nodes, self._round = [], None

    def add_node(self, node):
        self._nodes.append(node)

    def shutdown(self):
        self._nodes.clear()

    def spin_once(self, timeout_sec=None):
        assert timeout_sec == 0.0
        if self._round is None:
            self._round = self._wait_for_ready()
        with contextlib.suppress(TimeoutError):
            subscription, data = next(self._round)
            subscription.callback(data)
            return
        self._round = None

    def _wait_for_ready(self):
        for node in self._nodes:
            for subscription in node.subscriptions:
                taken = subscription.handle.take_message(None, raw=True)
                if taken is not None:
                    yield subscription, taken[0]
        raise TimeoutError


class FakeRclpy:
    """A graph; ``add`` is what another process does.

    Attributes:
        ends: Kind, node and topic of each endpoint.
        readers: Topic and queue of each subscription.
        source_ns: When what is published says that it was sent, [ns].
        received_ns: When it says that it came; 0 as on Cyclone DDS.
    """

    def __init__(self):
        self.ends, self.readers = [], []
        self.source_ns = self.received_ns = 0

    def add(self, kind, node, topic):
        self.ends.append((kind, node, topic))
        return SimpleNamespace(
            publish=lambda data: self._deliver(topic, data),
            get_subscription_count=lambda: sum(t == topic for t, _ in self.readers),
        )

    def _deliver(self, topic, data):
        info = {
            "source_timestamp": self.source_ns,
            "received_timestamp": self.received_ns,
        }
        for name, queue in self.readers:
            if name == topic:
                queue.append((data, info))

    def find(self, kind, topic):
        found = [node for k, node, t in self.ends if (k, t) == (kind, topic)]
        return [SimpleNamespace(node_name=node) for node in found]

    def install(self, monkeypatch):
        """Make it importable as rclpy, for one test."""
        nothing = lambda *_, **__: SimpleNamespace(  # noqa: E731
            add_node=lambda _: None, shutdown=lambda: None
        )
        words = SimpleNamespace(
            KEEP_LAST=0, RELIABLE=1, BEST_EFFORT=2, TRANSIENT_LOCAL=3, VOLATILE=4
        )
        modules = {
            "rclpy": {
                "init": nothing,
                "shutdown": nothing,
                "create_node": lambda name, **_: _Node(self, name),
            },
            "rclpy.action": {"ActionClient": nothing},
            "rclpy.context": {"Context": nothing},
            "rclpy.executors": {"SingleThreadedExecutor": _Executor},
            "rclpy.parameter": {"parameter_value_to_python": lambda value: value},
            "rclpy.qos": {
                "QoSProfile": SimpleNamespace,
                "DurabilityPolicy": words,
                "HistoryPolicy": words,
                "ReliabilityPolicy": words,
            },
            "rclpy.serialization": {"deserialize_message": nothing},
            "rosidl_runtime_py": {},
            "rosidl_runtime_py.utilities": {"get_message": _get_message},
        }
        for name, content in modules.items():
            module = ModuleType(name)
            module.__spec__ = SimpleNamespace(origin=None)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)


def _get_message(typename):
    package = typename.partition("/")[0]
    if package not in BUILT:
        raise ModuleNotFoundError(f"No module named '{package}'")
    return typename
