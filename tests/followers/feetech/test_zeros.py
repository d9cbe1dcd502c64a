"""Joint positions and servo angles of a calibrated arm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.types import GripperInfo
from paprle.followers.feetech.zeros import find_unreachable, make_map
from paprle.hardware.feetech.calibration import MotorCalibration
from paprle.hardware.feetech.eeprom import Stored

UNIT = 2.0 * math.pi / 4096
GRIPPER = GripperInfo(joint="gripper", closed=-0.17, open=1.74)
ranges = st.tuples(st.integers(0, 1900), st.integers(2100, 4095))


def make(motor, homing=None):
    now = motor.homing_offset if homing is None else homing
    return make_map([motor], [now], [0.0], None)


@given(ranges, st.integers(-2047, 2047), st.integers(-2047, 2047), st.integers(0, 1))
def test_a_file_and_a_servo_with_other_homings_give_the_same_joint(
    ends, in_file, at_servo, mode
):
    """The encoder's position of the middle of the range is joint position 0."""
    motor = MotorCalibration(1, mode, in_file, *ends)
    encoder = 0.5 * sum(ends) + in_file
    present = (encoder - at_servo) % 4096

    q = make(motor, at_servo).to_joints(np.array([(present - 2048) * UNIT]))

    assert math.remainder(q[0], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


@given(ranges, st.integers(-2047, 2047), st.floats(-0.99, 0.99))
def test_positions_within_the_range_come_back(ends, homing, share):
    found = make(MotorCalibration(1, 0, homing, *ends))
    q = share * found.q_max

    assert found.to_joints(found.to_servos(q)) == pytest.approx(q)


@given(ranges, st.integers(-2047, 2047), st.integers(-2047, 2047))
def test_no_goal_of_an_arm_that_is_taken_passes_the_end_of_the_counts(
    ends, in_file, at_servo
):
    found = make(MotorCalibration(1, 0, in_file, *ends), at_servo)
    if find_unreachable(["a"], found, [Stored(at_servo, 0, 4095)]):
        return

    goals = [found.to_servos(q)[0] / UNIT + 2048 for q in (found.q_min, found.q_max)]

    slack = math.radians(3.1) / UNIT
    assert -slack <= min(goals)
    assert max(goals) <= 4095 + slack


@pytest.mark.parametrize("mode", [0, 1])
def test_a_gripper_is_closed_at_lerobots_zero(mode):
    motor = MotorCalibration(6, mode, 0, 1500, 2600)
    found = make_map([motor], [0], [0.0], GRIPPER)
    closed = 2600 if mode else 1500

    assert found.to_joints(np.array([(closed - 2048) * UNIT])) == pytest.approx(-0.17)
    assert found.q_max - found.q_min == pytest.approx(1100 * UNIT)
