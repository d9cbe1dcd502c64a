"""A stand-in for rclpy where there is none: nodes, endpoints and types in memory.

It shows that our side keeps to the calls that rclpy documents, not that rclpy does.
"""

from __future__ import annotations

import itertools
import sys
from types import ModuleType, SimpleNamespace

BUILT = {"sensor_msgs", "geometry_msgs", "std_msgs", "control_msgs"}
"""Packages of types that a workspace has."""


class _Node:
    def __init__(self, graph, name):
        self._graph, self._name = graph, name

    def get_name(self):
        return self._name

    def create_publisher(self, kind, topic, qos):  # noqa: ARG002
        return self._graph.add("publishers", self._name, topic)

    def create_subscription(self, kind, topic, callback, qos, *, raw):  # noqa: ARG002
        assert raw
        return self._graph.add("subscriptions", self._name, topic)

    def get_publishers_info_by_topic(self, topic):
        return self._graph.find("publishers", topic)

    def get_subscriptions_info_by_topic(self, topic):
        return self._graph.find("subscriptions", topic)

    def destroy_node(self):
        self._graph.ends = [e for e in self._graph.ends if e[1] != self._name]


class FakeRclpy:
    """A graph; ``add`` is what another process does.

    Attributes:
        ends: Kind, node and topic of each endpoint.
    """

    def __init__(self):
        self.ends, self._gids = [], itertools.count()

    def add(self, kind, node, topic):
        self.ends.append((kind, node, topic))
        return SimpleNamespace(publish=lambda _: None, get_subscription_count=lambda: 0)

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
            "rclpy.executors": {"SingleThreadedExecutor": nothing},
            "rclpy.qos": {
                "QoSProfile": nothing,
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
