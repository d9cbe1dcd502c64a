from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.ros.joints import Trajectory, decode_trajectory
from paprle.hardware.ros.messages import MessageError, load_codec
from paprle.hardware.ros.trajectories import TrajectoryReader, encode_trajectory

NAMES = ("robot1/joint1", "b", "joint_three")


@pytest.fixture(params=["noetic", "jazzy"])
def codec(request):
    return load_codec(request.param)


def make(k, names=NAMES, *, has_dq=True, seed=1, stamp_ns=0):
    rng = np.random.default_rng(seed)
    q, dq = rng.normal(size=(2, k, len(names)))
    times = np.cumsum(rng.uniform(0.001, 1.5, k))
    return Trajectory(names, times, q, dq if has_dq else None, stamp_ns)


def check_equal(found, told):
    assert found.names == told.names
    assert found.stamp_ns == told.stamp_ns
    np.testing.assert_allclose(found.times, told.times, atol=1e-9)
    np.testing.assert_array_equal(found.q, told.q)
    assert (found.dq is None) == (told.dq is None)
    if told.dq is not None:
        np.testing.assert_array_equal(found.dq, told.dq)


@pytest.mark.parametrize("has_dq", [True, False], ids=["dq", "no_dq"])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_codec_and_the_reader_read_what_was_written(codec, n, k, has_dq):
    reader = TrajectoryReader()
    for seed, stamp_ns in ((1, 0), (2, 1_700_000_000_000_000_007)):
        told = make(k, NAMES[:n], has_dq=has_dq, seed=seed, stamp_ns=stamp_ns)

        data = encode_trajectory(codec, told)

        check_equal(decode_trajectory(codec, data), told)
        check_equal(reader.read(codec, data), told)
        again = codec.encode(
            codec.decode(data, "trajectory_msgs/msg/JointTrajectory"),
            "trajectory_msgs/msg/JointTrajectory",
        )
        assert again == data


def test_equal_lengths_are_not_taken_for_equal_forms(codec):
    reader, others = TrajectoryReader(), ("robot2/joint1", *NAMES[1:])
    reader.read(codec, encode_trajectory(codec, make(2)))

    found = reader.read(codec, encode_trajectory(codec, make(2, others)))

    assert found.names == others


def test_times_that_do_not_increase_are_refused_in_a_known_form_too(codec):
    reader, told = TrajectoryReader(), make(3)
    reader.read(codec, encode_trajectory(codec, told))
    back = Trajectory(told.names, told.times[::-1], told.q, told.dq)

    with pytest.raises(MessageError, match="increasing"):
        reader.read(codec, encode_trajectory(codec, back))


def test_torn_bytes_of_a_known_form_raise_the_declared_error(codec):
    reader, data = TrajectoryReader(), encode_trajectory(codec, make(2))
    reader.read(codec, data)

    with pytest.raises(MessageError):
        reader.read(codec, data[:-9])
    with pytest.raises(MessageError):
        reader.read(codec, b"\xff" * len(data))
