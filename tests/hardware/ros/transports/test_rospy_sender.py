"""A message that waited while the process was stopped is not sent afterwards."""

import importlib
import threading
from types import SimpleNamespace

import pytest
from ros_rig import skip_or_fail, wait_for

from paprle.hardware.ros.transports import rospy_sender
from paprle.hardware.ros.transports.rospy_bus import find_rospy


class Transport:
    """A connection whose first message takes until it is let go."""

    def __init__(self, topic):
        self.written, self.done = [], False
        self.protocol = SimpleNamespace(resolved_name=topic)
        self.is_let = threading.Event()

    def set_cleanup_callback(self, callback):
        self.close = callback

    def write_data(self, data):
        self.written.append(bytes(data))
        self.is_let.wait(20.0)
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands, in ns."""
    if not find_rospy():
        skip_or_fail("ROS 1 is not here: apt-get install python3-rospy")
    topics = importlib.import_module("rospy.topics")
    monkeypatch.setattr(topics, "QueuedConnection", topics.QueuedConnection)
    now = [0]
    monkeypatch.setattr(rospy_sender, "read_clock", lambda: now[0])
    rospy_sender.drop_old_messages("/arm/command")
    return now


@pytest.mark.parametrize(
    "topic, stalled_ms, sent",
    [
        ("/arm/command", 20, [b"a", b"b", b"c"]),
        ("/arm/command", 1500, [b"a", b"c"]),
        ("/gripper/goal", 1500, [b"a", b"b", b"c"]),
    ],
)
def test_a_message_queued_over_a_stall_is_dropped(clock, topic, stalled_ms, sent):
    transport = Transport(topic)
    queued = importlib.import_module("rospy.topics").QueuedConnection(transport, 1)
    queued.write_data(b"a")
    assert wait_for(lambda: transport.written == [b"a"], 10.0)
    queued.write_data(b"b")

    clock[0] += stalled_ms * 1_000_000
    transport.is_let.set()
    assert wait_for(lambda: not queued._queue, 10.0)
    queued.write_data(b"c")

    assert wait_for(lambda: transport.written == sent, 10.0), transport.written
    transport.done = True
    transport.close(transport)
