"""Drop of rospy's messages from before a stall.

rospy queues messages for threads; one queued over a stall would move the robot
afterwards. Goals of actions and latched messages are kept.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

_OLDEST = 100_000_000  # [ns] spec: safety.md A1: an older command counts no more
_streams: set[str] = set()
"""Resolved names of the topics whose old messages are dropped."""


class _Stamped(bytes):
    queued_ns: int


class _DroppingTransport:
    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write_data(self, data: _Stamped) -> Any:
        """Write the message unless it is old."""
        if read_clock() - data.queued_ns > _OLDEST:
            return True
        return self._transport.write_data(data)


def read_clock() -> int:
    """Return a time that also counts while suspended, [ns]."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def drop_old_messages(topic: str) -> None:
    """Drop old messages of a topic's later publishers."""
    _streams.add(import_module("rospy").resolve_name(topic))
    topics: Any = import_module("rospy.topics")
    queued = import_module("rospy.impl.tcpros_pubsub").QueuedConnection

    class FreshConnection(queued):  # type: ignore[misc, valid-type]
        """Queue of messages with their times."""

        def __init__(self, connection: Any, queue_size: int) -> None:
            self._is_stream = connection.protocol.resolved_name in _streams
            if self._is_stream:
                connection = _DroppingTransport(connection)
            super().__init__(connection, queue_size)

        def write_data(self, data: bytes) -> Any:
            """Queue a message."""
            if not self._is_stream:
                return super().write_data(data)
            stamped = _Stamped(data)
            stamped.queued_ns = read_clock()
            return super().write_data(stamped)

    topics.QueuedConnection = FreshConnection
