"""One message layer for ROS 2 and ROS 1, without ROS."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.ros.joints import (
    Joints,
    Joy,
    Pose,
    Trajectory,
    decode_bool,
    decode_floats,
    decode_joints,
    decode_joy,
    decode_pose,
    decode_trajectory,
    encode_bool,
    encode_floats,
    encode_joints,
    encode_joy,
    encode_pose,
)
from paprle.hardware.ros.messages import (
    DISTROS,
    JOINT_STATE,
    JOINT_TRAJECTORY,
    Codec,
    MessageError,
    load_codec,
)
from paprle.hardware.ros.trajectories import encode_trajectory

NAN = np.nan
JOINTS = Joints(
    ("a", "b"), np.array([1.0, -2.0]), np.array([0.1, NAN]), np.full(2, NAN), 1234567890
)
TRAJECTORY = Trajectory(
    ("a", "b"), np.array([0.005, 1.25]), np.arange(4.0).reshape(2, 2), np.ones((2, 2))
)


@pytest.fixture(params=DISTROS)
def codec(request) -> Codec:
    return load_codec(request.param)


def test_joint_states_come_back_with_what_was_not_measured(codec):
    back = decode_joints(codec, encode_joints(codec, JOINTS))

    assert back.names == JOINTS.names
    assert back.stamp_ns == JOINTS.stamp_ns
    np.testing.assert_array_equal(back.q, JOINTS.q)
    np.testing.assert_array_equal(back.dq, JOINTS.dq)
    assert np.isnan(back.tau).all()


def test_trajectories_come_back(codec):
    back = decode_trajectory(codec, encode_trajectory(codec, TRAJECTORY))

    assert back.names == TRAJECTORY.names
    np.testing.assert_allclose(back.times, TRAJECTORY.times, atol=1e-9)
    np.testing.assert_array_equal(back.q, TRAJECTORY.q)
    np.testing.assert_array_equal(back.dq, TRAJECTORY.dq)


def test_the_other_messages_come_back(codec):
    pose = Pose(np.array([1.0, 2, 3]), np.array([0.1, 0.2, 0.3, 0.9]), "base", 5)
    back = decode_pose(codec, encode_pose(codec, pose))
    joy = decode_joy(codec, encode_joy(codec, Joy(np.array([0.5, -1]), (True, False))))

    np.testing.assert_array_equal(back.p, pose.p)
    np.testing.assert_array_equal(back.quat_xyzw, pose.quat_xyzw)
    assert (back.frame_id, back.stamp_ns) == ("base", 5)
    assert joy.buttons == (True, False)
    np.testing.assert_array_equal(joy.axes, [0.5, -1])
    assert decode_bool(codec, encode_bool(codec, True)) is True
    floats = decode_floats(codec, encode_floats(codec, np.array([1.0, NAN])))
    np.testing.assert_array_equal(floats, [1.0, NAN])


def test_surplus_bytes_behind_a_message_are_no_mistake(codec):
    data = encode_joints(codec, JOINTS)

    for n in (1, 3, 4, 16):
        assert decode_joints(codec, data + b"\xa5" * n).names == JOINTS.names


@pytest.mark.parametrize("kind", [JOINT_STATE, JOINT_TRAJECTORY])
def test_torn_messages_raise_one_declared_error(codec, kind):
    parse = decode_joints if kind == JOINT_STATE else decode_trajectory
    data = {
        JOINT_STATE: encode_joints(codec, JOINTS),
        JOINT_TRAJECTORY: encode_trajectory(codec, TRAJECTORY),
    }[kind]

    for n in range(len(data) - 8):
        with pytest.raises(MessageError):
            parse(codec, data[:n])


def test_any_bytes_are_a_message_or_one_declared_error(codec):
    rng = np.random.default_rng(3)
    data = bytearray(encode_trajectory(codec, TRAJECTORY))
    for _ in range(300):
        spoilt = bytearray(data)
        for at in rng.integers(0, len(data), 4):
            spoilt[at] = rng.integers(0, 256)
        try:
            decode_trajectory(codec, bytes(spoilt))
        except MessageError:
            continue


@pytest.mark.parametrize(
    "names, q", [(("a", "a"), [1.0, 2.0]), (("a", "b"), [1.0]), ((), [1.0])]
)
def test_joint_states_without_a_position_for_each_name_are_refused(names, q):
    codec = load_codec("jazzy")
    message = codec.make(JOINT_STATE, name=list(names), position=np.array(q))

    with pytest.raises(MessageError, match="one position for each"):
        decode_joints(codec, codec.encode(message, JOINT_STATE))


def test_velocities_may_be_fewer_than_names_as_agilex_sends_them():
    codec = load_codec("humble")
    message = codec.make(
        JOINT_STATE,
        name=["j1", "j2", "gripper"],
        position=np.zeros(3),
        velocity=np.ones(2),
    )

    dq = decode_joints(codec, codec.encode(message, JOINT_STATE)).dq

    np.testing.assert_array_equal(dq, [1, 1, NAN])


def test_hashes_are_those_that_ros_shows():
    for distro in ("humble", "jazzy", "kilted"):  # ros2 topic info -v, of a public log
        assert load_codec(distro).hash_type(JOINT_STATE).startswith("RIHS01_a13ee3a3")
    # rosmsg md5 sensor_msgs/JointState
    assert load_codec("noetic").hash_type(JOINT_STATE) == (
        "3066dcd76a6cfaef579bd0f34173e9fd"
    )


def test_types_that_are_not_shipped_come_from_text(codec):
    codec.register("my_msgs/msg/Thing", "float64 x\nstring[] names\n")
    made = codec.make("my_msgs/msg/Thing", x=1.5, names=["n"])

    back = codec.decode(codec.encode(made, "my_msgs/msg/Thing"), "my_msgs/msg/Thing")

    assert (back.x, back.names) == (1.5, ["n"])
    made = codec.make("control_msgs/msg/JointTrajectoryControllerState")
    assert codec.encode(made, "control_msgs/msg/JointTrajectoryControllerState")


def test_unknown_types_fields_and_distributions_are_said(codec):
    with pytest.raises(MessageError, match="no_msgs/msg/None"):
        codec.make("no_msgs/msg/None")
    with pytest.raises(MessageError, match="positions"):
        codec.make(JOINT_STATE, positions=np.zeros(1))
    with pytest.raises(MessageError, match="humble, jazzy, kilted, noetic"):
        Codec("foxy")


def test_an_independent_decoder_reads_ours():
    dynamic = pytest.importorskip("mcap_ros2._dynamic")
    codec = load_codec("jazzy")
    parsers = dynamic.generate_dynamic(JOINT_STATE, codec.describe(JOINT_STATE))

    message = parsers[JOINT_STATE](encode_joints(codec, JOINTS))

    assert list(message.name) == ["a", "b"]
    assert list(message.position) == [1.0, -2.0]
    assert message.header.stamp.nanosec == 234567890
