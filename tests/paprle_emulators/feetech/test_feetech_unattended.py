"""An emulated leader whose client has gone: a duty pushes on, a goal is kept."""

from __future__ import annotations

import math

import pytest
from feetech_rig import FeetechBench

PWM = 2  # Operating_Mode
DUTY = 300  # [0.1 %]
PAN = 1


@pytest.fixture
def bench():
    bench = FeetechBench("so101_leader")
    bench.read(PAN, "ID")  # the hand's program begins with a client's first packet
    bench.order(b'{"cmd": "let_go"}')
    return bench


def test_a_duty_runs_a_joint_to_its_stop_and_goes_on_pushing(bench):
    servo = bench.servo(PAN)
    bench.write(PAN, "Operating_Mode", PWM)
    bench.write(PAN, "Goal_Time", DUTY)
    bench.write(PAN, "Torque_Enable", 1)

    bench.wait(1.5)
    at_stop = bench.limb.arm.q[0]
    bench.wait(20.0)

    _, upper = bench.limb.spec.servos[0].stops
    assert at_stop == pytest.approx(upper, abs=0.05)
    assert servo.torque == pytest.approx(0.3 * servo.model.stall_torque, rel=0.05)
    assert servo.error == 0


def test_a_goal_near_the_position_moves_a_joint_no_farther(bench):
    before = bench.limb.arm.q[0]
    place = bench.read(PAN, "Present_Position")
    bench.write(PAN, "Torque_Limit", DUTY)
    bench.write(PAN, "Goal_Position", place + 65)  # 0.1 rad
    bench.write(PAN, "Torque_Enable", 1)

    bench.wait(5.0)

    assert abs(bench.limb.arm.q[0] - before) < math.radians(7.0)
    assert abs(bench.limb.arm.dq[0]) < 1e-3
