"""Joints without limits, whose drivers report angles between −π and π."""

from __future__ import annotations

import math

import numpy as np
import pytest
from adversary import Servo
from lock_step import H_NS, HUMAN

from paprle.contracts.plugins import Follower
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerInfo, FollowerState, GateState
from paprle.gate.controller import GateController
from paprle.gate.reasons import Reason, from_bits
from paprle.ipc.records import Request, make_layout
from paprle.testing.robots import make_robot_info

ROBOT = make_robot_info(
    2, q_min=[-math.inf, -2.0], q_max=[math.inf, 2.0], home=[3.0, 0.0]
)
SPEED, LAG = 1.5, 0.03  # [rad/s], [s]


class Wrapping(Follower):
    """Lags behind, and knows no angle beyond half a turn."""

    def __init__(self):
        self.servo = Servo(ROBOT.home, LAG)
        self.now_ns, self.dq, self.sent = 0, np.zeros(2), []
        self.spoil = lambda q: q

    def open(self):
        return FollowerInfo(joint_names=ROBOT.joint_names, rate=200.0, lag=LAG)

    def read(self):
        wrapped = (self.servo.q + math.pi) % math.tau - math.pi
        q = self.spoil(np.array([wrapped[0], self.servo.q[1]]))
        return FollowerState(stamp_ns=self.now_ns, q=q, dq=self.dq)

    def write(self, q_cmd):
        before = self.servo.q
        self.dq = (self.servo.step(q_cmd) - before) * 1e9 / H_NS
        self.sent.append(q_cmd)

    def close(self, policy):
        pass


class Rig:
    """A gate that is asked to turn a joint at a steady speed."""

    def __init__(self):
        layout = make_layout(ROBOT, HUMAN)
        self.follower = Wrapping()
        info = self.follower.open()
        self.gate = GateController(
            ROBOT, GateSettings(), self.follower, info, layout, 0.005
        )
        self.setpoint = np.zeros((), dtype=layout.setpoint)
        self.setpoint["valid_for_ns"] = 50_000_000
        self.setpoint["q_des"] = ROBOT.home
        self.step(Request.READY)

    def step(self, request, speed=0.0):
        self.follower.now_ns += H_NS
        self.setpoint["seq"] += 1
        for name in ("stamp_ns", "at_ns", "source_ns"):
            self.setpoint[name] = self.follower.now_ns
        self.setpoint["request"] = request
        self.setpoint["q_des"][0] += speed * H_NS * 1e-9
        self.setpoint["dq_des"][0] = speed
        return self.gate.step(self.setpoint, self.follower.now_ns)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_turn_through_half_a_turn_is_neither_a_lag_nor_a_jump(direction):
    rig, seen, measured = Rig(), set(), []
    rig.step(Request.READY)

    for k in range(1200):  # 9 rad
        status = rig.step(Request.MOVE, direction * min(SPEED, 0.03 * k))
        seen |= set(from_bits(int(status["reasons"])))
        measured.append(status["q_meas"][0])

    assert rig.gate.state is GateState.ENGAGED
    assert not seen & {Reason.LAG, Reason.BLOCKED, Reason.OVERSPEED, Reason.REVERSED}
    assert abs(measured[-1] - ROBOT.home[0]) > math.tau
    assert np.abs(np.diff(measured)).max() < 1.1 * SPEED * H_NS * 1e-9
    assert np.abs(np.diff(rig.follower.sent, 2, axis=0)).max() < 10.1 * 0.005**2


def test_a_joint_with_limits_is_taken_as_it_reads():
    rig = Rig()
    rig.step(Request.READY)
    rig.follower.spoil = lambda q: q + [0.0, math.tau]

    status = rig.step(Request.READY)

    assert Reason.STATE_BAD in from_bits(int(status["reasons"]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_invalid_angle_is_not_unwrapped(bad):
    rig = Rig()
    rig.step(Request.READY)
    rig.follower.spoil = lambda q: q + [bad, 0.0]

    status = rig.step(Request.READY)

    assert Reason.STATE_BAD in from_bits(int(status["reasons"]))


def test_a_vector_of_another_length_is_bad_not_unwrapped():
    rig = Rig()
    rig.step(Request.READY)
    rig.follower.spoil = lambda q: q[:1]

    status = rig.step(Request.READY)

    assert Reason.STATE_BAD in from_bits(int(status["reasons"]))
