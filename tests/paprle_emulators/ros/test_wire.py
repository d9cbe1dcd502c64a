"""The robot reads trajectories by itself: rosbags packs what it must understand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.hardware.ros.messages import load_codec
from paprle_emulators.ros.wire import JOINT_TRAJECTORY, Refused, read_trajectory

POINT = "trajectory_msgs/msg/JointTrajectoryPoint"
DURATION = "builtin_interfaces/msg/Duration"


def pack(distro, names, times, q, dq, frame=""):
    codec = load_codec(distro)
    points = [
        codec.make(
            POINT,
            positions=np.array(positions, float),
            velocities=np.array(velocities, float),
            time_from_start=codec.make(
                DURATION, sec=int(t), nanosec=round(t % 1 * 1e9)
            ),
        )
        for t, positions, velocities in zip(times, q, dq, strict=True)
    ]
    header = codec.make_header(3_000_000_007, frame)
    message = codec.make(
        JOINT_TRAJECTORY, header=header, joint_names=list(names), points=points
    )
    return codec, codec.encode(message, JOINT_TRAJECTORY)


@pytest.mark.parametrize("distro", ["jazzy", "noetic"])
@pytest.mark.parametrize("names", [("a",), ("joint1", "j2", "wrist_3"), ("ä", "bb")])
@pytest.mark.parametrize("frame", ["", "x", "base_link"])
def test_a_trajectory_is_read_as_it_was_packed(distro, names, frame):
    n = len(names)
    q, dq = np.arange(2 * n).reshape(2, n) + 0.5, np.ones((2, n))

    found = read_trajectory(*pack(distro, names, [0.25, 1.5], q, dq, frame))

    assert found.names == names
    assert found.stamp_ns == 3_000_000_007
    assert found.times == pytest.approx([0.25, 1.5])
    np.testing.assert_array_equal(found.q, q)
    np.testing.assert_array_equal(found.dq, dq)


def test_velocities_are_those_of_all_points_or_none():
    packed = pack("jazzy", ("a",), [1, 2], [[1], [2]], [[0], []])

    assert read_trajectory(*packed).dq is None


@given(data=st.binary(max_size=200), is_ros1=st.booleans())
def test_no_bytes_upset_it(data, is_ros1):
    codec = load_codec("noetic" if is_ros1 else "jazzy")

    try:
        read_trajectory(codec, data)
    except Refused:
        return


@pytest.mark.parametrize("distro", ["jazzy", "noetic"])
def test_a_message_that_was_cut_is_refused(distro):
    codec, whole = pack(distro, ("a", "b"), [1], [[1, 2]], [[0, 0]])

    for length in range(len(whole)):
        with pytest.raises(Refused):
            read_trajectory(codec, whole[:length])
