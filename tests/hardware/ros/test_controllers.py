"""The emulator's controllers do what ros2_control's do."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.ros.joints import (
    Joints,
    Trajectory,
    encode_floats,
    encode_joints,
)
from paprle.hardware.ros.messages import load_codec
from paprle.hardware.ros.trajectories import encode_trajectory
from paprle_emulators.ros.controllers import (
    ForwardController,
    JointStateController,
    TrajectoryController,
)
from paprle_emulators.ros.wire import Refused

CODEC = load_codec("jazzy")
S = 1_000_000_000


def trajectory(times, q, dq=None, names=("a", "b"), stamp_ns=0):
    dq = None if dq is None else np.array(dq, float)
    return encode_trajectory(
        CODEC, Trajectory(names, np.array(times), np.array(q, float), dq, stamp_ns)
    )


@pytest.fixture
def controller():
    return TrajectoryController(("a", "b"), np.zeros(2), begins="desired")


def at(controller, seconds, q_meas=(0.0, 0.0), dq_meas=(0.0, 0.0)):
    controller.update(int(seconds * S), np.array(q_meas), np.array(dq_meas))
    return controller.q


def test_positions_alone_are_interpolated_linearly(controller):
    controller.accept(CODEC, trajectory([1.0, 2.0], [[1, 2], [1, 0]]), 10 * S)

    np.testing.assert_allclose(at(controller, 10.5), [0.5, 1.0])
    np.testing.assert_allclose(at(controller, 11.5), [1.0, 1.0])
    np.testing.assert_allclose(controller.dq, [0.0, -2.0])
    np.testing.assert_allclose(at(controller, 13.0), [1.0, 0.0])
    assert not controller.dq.any()


def test_velocities_make_it_cubic_and_a_parabola_exact(controller):
    # from (1, 2) at 2 rad/s to rest within a second: q = 1 + 2 t − t²
    message = trajectory([1.0, 2.0], [[1, 0], [2, 0]], [[2, 0], [0, 0]])
    controller.accept(CODEC, message, 10 * S)

    np.testing.assert_allclose(at(controller, 11.5), [1 + 1 - 0.25, 0], atol=1e-12)
    np.testing.assert_allclose(controller.dq, [1.0, 0.0], atol=1e-12)


def test_a_message_replaces_the_trajectory_from_the_state_desired_then(controller):
    controller.accept(CODEC, trajectory([1.0], [[1, 0]]), 10 * S)
    at(controller, 10.5)
    controller.accept(CODEC, trajectory([1.0], [[0.5, 0]]), int(10.5 * S))

    np.testing.assert_allclose(at(controller, 10.75), [0.5, 0])
    np.testing.assert_allclose(at(controller, 12.0), [0.5, 0])


def test_a_stock_controller_begins_each_message_where_the_joints_are():
    controller = TrajectoryController(("a", "b"), np.zeros(2))
    controller.accept(CODEC, trajectory([1.0], [[1, 0]], [[0, 0]]), 10 * S)
    at(controller, 10.9, (0.4, 0.0))

    controller.accept(CODEC, trajectory([1.0], [[1, 0]], [[0, 0]]), 11 * S)

    np.testing.assert_array_equal(at(controller, 11.0, (0.5, 0.1)), [0.5, 0.1])
    np.testing.assert_array_equal(at(controller, 12.0, (0.6, 0.1)), [1, 0])


def test_a_first_point_at_time_zero_is_where_a_stock_controller_begins():
    controller = TrajectoryController(("a", "b"), np.zeros(2))
    points = [[0.8, 0.0], [1, 0]]
    q = controller.accept(
        CODEC, trajectory([0.0, 1.0], points, np.zeros((2, 2))), 10 * S
    )

    np.testing.assert_array_equal(q, [1, 0])
    np.testing.assert_array_equal(at(controller, 10.0, (0.5, 0.1)), [0.8, 0])
    np.testing.assert_allclose(at(controller, 10.5, (0.5, 0.1)), [0.9, 0])


def test_joints_are_found_by_name(controller):
    message = trajectory([1.0], [[3, 4]], names=("b", "a"))
    q = controller.accept(CODEC, message, 10 * S)

    np.testing.assert_array_equal(q, [4, 3])


def test_a_stamp_says_when_it_begins(controller):
    controller.accept(CODEC, trajectory([1.0], [[1, 0]], stamp_ns=11 * S), 10 * S)

    np.testing.assert_allclose(at(controller, 12.0), [1, 0])
    with pytest.raises(Refused, match="future"):
        controller.accept(CODEC, trajectory([1.0], [[2, 0]], stamp_ns=9 * S), 12 * S)


@pytest.mark.parametrize(
    "message, why",
    [
        (trajectory([1.0], [[1]], names=("a",)), "joints a, b"),
        (trajectory([1.0], [[1, np.nan]]), "finite"),
        (trajectory([1.0], [[1, 1]], [[1, 0]]), "at rest"),
        (trajectory([1.0, 1.0], [[1, 1], [1, 1]]), "increasing"),
        (b"\x00\x01\x00\x00", "JointTrajectory"),
    ],
)
def test_a_refused_trajectory_changes_nothing(controller, message, why):
    controller.accept(CODEC, trajectory([1.0], [[1, 0]]), 10 * S)
    with pytest.raises(Refused, match=why):
        controller.accept(CODEC, message, 10 * S)

    np.testing.assert_allclose(at(controller, 11.0), [1, 0])


def test_forward_commands_take_effect_at_once_and_by_order():
    controller = ForwardController(("a", "b"), np.zeros(2))
    controller.accept(CODEC, encode_floats(CODEC, np.array([1.0, 2.0])), S)

    np.testing.assert_array_equal(controller.q, [1, 2])
    for bad in ([1.0], [1.0, np.nan]):
        with pytest.raises(Refused):
            controller.accept(CODEC, encode_floats(CODEC, np.array(bad)), S)
    np.testing.assert_array_equal(controller.q, [1, 2])


def test_joint_state_commands_are_found_by_name():
    controller = JointStateController(("a", "b"), np.zeros(2))
    none = np.full(2, np.nan)
    message = encode_joints(CODEC, Joints(("b", "a"), np.array([1.0, 2]), none, none))
    controller.accept(CODEC, message, S)

    np.testing.assert_array_equal(controller.q, [2, 1])
