"""A DDS node that ROS 2 takes for one of its own; what other software says of it."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from ros_rig import MUST_RUN, choose_domain

from paprle.hardware.ros.bus import BusError, Qos
from paprle.hardware.ros.joints import Joints, decode_joints, encode_joints
from paprle.hardware.ros.messages import JOINT_STATE, POSE_STAMPED, load_codec

if not MUST_RUN:
    pytest.importorskip("cyclonedds")

from paprle.hardware.ros.transports.dds import DdsBus
from paprle.hardware.ros.transports.dds_graph import make_gid, mangle_topic
from paprle.hardware.ros.transports.dds_types import TypeMaker, mangle_type

CODEC = load_codec("jazzy")
NINE = (
    "sensor_msgs/msg/JointState",
    "trajectory_msgs/msg/JointTrajectory",
    "std_msgs/msg/Float64MultiArray",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/TwistStamped",
    "geometry_msgs/msg/WrenchStamped",
    "sensor_msgs/msg/Image",
    "std_msgs/msg/Bool",
    "std_msgs/msg/Empty",
)


@pytest.fixture
def join():
    """Return a function that joins a loopback domain of this process."""
    buses = []

    def make(name="node", codec=CODEC):
        bus = DdsBus(codec, name, domain=choose_domain(), interface="loopback")
        buses.append(bus)
        return bus

    yield make
    for bus in buses:
        bus.close()
        bus.close()


def joints(q):
    none = np.full(1, np.nan)
    return encode_joints(CODEC, Joints(("a",), np.array([q]), none, none))


def test_names_are_mangled_as_the_rmw_does():
    assert mangle_topic("/a/joint_states") == "rt/a/joint_states"
    assert mangle_type(JOINT_STATE) == "sensor_msgs.msg.dds_.JointState_"
    for bad in ("joint_states", "/a/", "//a", ""):
        with pytest.raises(BusError, match="full name"):
            mangle_topic(bad)
    with pytest.raises(ValueError, match="package/msg/Name"):
        mangle_type("JointState")


@pytest.mark.parametrize("distro, n", [("humble", 24), ("jazzy", 16), ("kilted", 16)])
def test_gids_have_the_size_of_the_distribution(distro, n):
    guid = uuid.UUID(int=2**127 + 5)
    gid = make_gid(load_codec(distro), guid)

    assert len(gid.data) == n
    assert bytes(gid.data[:16]) == guid.bytes


@pytest.mark.parametrize("typename", NINE)
def test_types_are_final_and_plain_cdr(typename):
    cls = TypeMaker(CODEC).make(typename)
    cls.__idl__.populate()

    assert cls.__idl_annotations__["extensibility"] == "final"
    assert cls.__idl__.default_version == 1


def test_messages_arrive_in_order_and_both_ways(join):
    ours, theirs = join("ours"), join("theirs")
    heard, echoed = [], []
    theirs.subscribe("/there", JOINT_STATE, heard.append, Qos(depth=64))
    ours.subscribe("/back", JOINT_STATE, echoed.append, Qos(depth=64))
    there = ours.advertise("/there", JOINT_STATE, Qos(depth=64))
    back = theirs.advertise("/back", JOINT_STATE, Qos(depth=64))
    assert ours.wait_matched([there], 5.0)
    assert theirs.wait_matched([back], 5.0)

    for i in range(50):
        there.publish(joints(float(i)))
        back.publish(joints(-float(i)))
    theirs.wait_until(lambda: len(heard) == 50, 5.0)
    ours.wait_until(lambda: len(echoed) == 50, 5.0)

    assert [decode_joints(CODEC, data).q[0] for data in heard] == list(range(50))
    assert [-decode_joints(CODEC, data).q[0] for data in echoed] == list(range(50))


def test_publishers_are_known_until_they_leave(join):
    ours, theirs = join("ours"), join("theirs")
    theirs.advertise("/x", JOINT_STATE)
    ours.advertise("/x", JOINT_STATE)
    ours.subscribe("/y", POSE_STAMPED, print)

    assert ours.wait_until(lambda: ours.count_publishers("/x") == 1, 5.0)
    assert theirs.wait_until(lambda: theirs.count_subscribers("/y") == 1, 5.0)
    assert theirs.list_topics()["/y"] == POSE_STAMPED
    theirs.close()
    assert ours.wait_until(lambda: ours.count_publishers("/x") == 0, 5.0)


def test_a_best_effort_writer_does_not_match_a_reliable_reader(join):
    ours, theirs = join("ours"), join("theirs")
    publisher = ours.advertise("/q", JOINT_STATE, Qos(reliable=False))
    theirs.subscribe("/q", JOINT_STATE, print, Qos(reliable=True))
    ours.wait_until(lambda: ours.count_subscribers("/q") == 1, 5.0)

    assert not ours.wait_matched([publisher], 0.3)


def test_late_readers_get_what_is_latched(join):
    ours, theirs = join("ours"), join("theirs")
    latched = Qos(depth=1, latched=True)
    ours.advertise("/l", JOINT_STATE, latched).publish(joints(7.0))
    heard = []
    theirs.subscribe("/l", JOINT_STATE, heard.append, latched)

    assert theirs.wait_until(lambda: heard, 5.0)


def test_bytes_that_are_no_message_do_not_leave(join):
    publisher = join().advertise("/x", JOINT_STATE)

    with pytest.raises(BusError, match="rt/x"):
        publisher.publish(b"\x00\x01\x00\x00\xff\xff\xff\xff")


def test_a_topic_has_one_type_and_a_domain_one_network(join):
    bus = join()
    bus.advertise("/x", JOINT_STATE)

    with pytest.raises(BusError, match="rt/x"):
        bus.advertise("/x", POSE_STAMPED)
    with pytest.raises(BusError, match="same network"):
        DdsBus(CODEC, "other", domain=choose_domain(), interface="lo")


def test_a_closed_node_says_so(join):
    bus = join()
    publisher = bus.advertise("/x", JOINT_STATE)
    bus.close()

    for act in (lambda: publisher.publish(b""), lambda: bus.count_publishers("/x")):
        with pytest.raises(BusError, match="closed"):
            act()
