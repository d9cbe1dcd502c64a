"""Sender of rospy's messages that drops those that a stall of the process made old.

rospy queues each message for a thread per subscriber. One that waits there while the
process is stopped would move the robot when the process goes on.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

_OLDEST = 50_000_000  # [ns] chosen: ten periods of a gate; a thread is woken sooner


class _Stamped(bytes):
    """A message and the time at which it was queued, [ns]."""

    queued_ns: int


class _DroppingTransport:
    """A transport of rospy that writes no old message."""

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
    """Return a time that goes on while the machine is suspended, [ns]."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def drop_old_messages() -> None:
    """Let all publishers of this process drop old messages; may be called twice."""
    topics: Any = import_module("rospy.topics")
    queued = import_module("rospy.impl.tcpros_pubsub").QueuedConnection

    class FreshConnection(queued):  # type: ignore[misc, valid-type]
        """A queue of messages that become old."""

        def __init__(self, connection: Any, queue_size: int) -> None:
            super().__init__(_DroppingTransport(connection), queue_size)

        def write_data(self, data: bytes) -> Any:
            """Queue a message."""
            stamped = _Stamped(data)
            stamped.queued_ns = read_clock()
            return super().write_data(stamped)

    topics.QueuedConnection = FreshConnection
