"""A robot on another host, as the observers of ``paprle lead`` are shown it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from sessions_view import make_view

from paprle.cli.doctor import resolve_leader
from paprle.contracts.errors import ConfigError
from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import GateState, SessionState
from paprle.hosts.operator.operator_messages import NEWS, NEWS_DTYPE, News
from paprle.hosts.operator.terminal import Operator
from paprle.hosts.plan import make_robot
from paprle.hosts.two_hosts.lead import Lead
from paprle.hosts.views.posed_robot import PosedRobot
from paprle.hosts.views.remote_view import (
    HEARD,
    HEARD_DTYPE,
    HeardReader,
    carry_over,
    pack_heard,
)
from paprle.ipc.ports import LatestPort, make_ports
from paprle.ipc.process import Role
from paprle.ipc.records import pose_to_row
from paprle.link.remote_leader.robot_view import pack_view
from paprle.observers.view.view_json import Shown
from paprle.testing.samples import make_feedback

MS = 1_000_000
L = pin.utils.rotate("z", np.pi / 2)


@pytest.fixture(scope="module")
def robot():
    return make_robot(resolve_leader(["leader=autopilot", "follower=piper"])).info


class Told:
    """What the leader's process writes, and the reader of an observer's process."""

    def __init__(self, robot):
        ports = make_ports(
            {HEARD: LatestPort(HEARD_DTYPE), NEWS: LatestPort(NEWS_DTYPE)}
        )
        self.box, self.news = ports[HEARD], News(ports[NEWS])
        fds = {name: port.fd for name, port in ports.items()}
        self.reader = HeardReader(Role({}, fds), robot)

    def write(self, view, came_ns=0, offset_ns=0, predicted=None, held=(), standing=""):
        told = replace(make_feedback(view.state), standing=standing)
        data = pack_view(view, told, 5)
        stamps = came_ns, offset_ns
        self.box.write(pack_heard(data, stamps, predicted or {}, set(held)))


def look(robot, q, **rest):
    n = len(robot.joint_names)
    values = {"q": q, "dq": np.zeros(n), "q_cmd": q, "measured_ns": 100 * MS}
    targets = {"arm": np.full(7, np.nan)}
    return make_view(stamp_ns=100 * MS, targets=targets, **{**values, **rest})


def test_a_pose_is_met_by_joints_that_move_little(robot):
    posed, [limb] = PosedRobot(robot), robot.limbs
    q = np.array(robot.home)
    T = posed.find_poses(q)[limb.name]
    turned = pin.exp3(np.array([0.0, 0.1, -0.05])) @ T.rotation
    there = pin.SE3(turned, T.translation + [0.03, -0.02, -0.02])

    moved = posed.move_to(q, limb, there)

    found = posed.find_poses(moved)[limb.name]
    assert np.abs(pin.log6(found.actInv(there)).vector).max() < 2e-4
    assert np.abs(moved - q).max() < 0.5


def test_a_hands_motion_is_carried_over_as_the_robot_follows_it():
    a = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.1])), np.array([0.1, 0.2, 0.3]))
    b = pin.SE3(pin.exp3(np.array([0.1, 0.4, 0.2])), np.array([0.2, 0.1, 0.35]))
    K = pin.utils.rotate("y", 0.7)
    p_0, scale = np.array([0.4, 0.0, 0.2]), 2.0

    def follow(T):  # R = L R K, p = p₀ + s L p
        return pin.SE3(L @ T.rotation @ K, p_0 + scale * L @ T.translation)

    turn = pin.Quaternion(L).coeffs()
    one = HeldHand(0, 0.0, pose_to_row(a), np.zeros(6), 0, turn, scale)

    later = carry_over(one, pose_to_row(b), follow(a))

    assert later.isApprox(follow(b), 1e-9)


def test_the_view_has_this_hosts_times_and_the_robot_as_predicted(robot):
    told, q = Told(robot), np.array(robot.home)
    hand = pin.SE3(np.eye(3), np.zeros(3))
    held = HeldHand(0, 0.0, pose_to_row(hand), np.zeros(6))
    ahead = pin.SE3(np.eye(3), np.array([0.02, 0.0, 0.0]))
    told.news.write({"far": {"hand to robot": "3 mm"}}, [])
    told.write(look(robot, q, holds=(held,)), 7050 * MS, 6950 * MS, {0: ahead}, [0])

    view = told.reader.read(7150 * MS)

    assert view.measured_ns == 7050 * MS
    assert view.mirror.age == pytest.approx(0.1)
    assert view.mirror.is_predicted
    assert view.mirror.held == (robot.limbs[0].name,)
    assert view.news["far"] == {"hand to robot": "3 mm"}
    posed, name = PosedRobot(robot), robot.limbs[0].name
    moved = posed.find_poses(view.mirror.q)[name].translation
    moved = moved - posed.find_poses(view.q)[name].translation
    assert moved == pytest.approx([0.02, 0.0, 0.0], abs=1e-3)
    assert view.drivers == {name: "hand 1"}


def test_a_robot_that_is_silent_is_shown_where_it_was_and_said_to_be_lost(robot):
    told, q = Told(robot), np.array(robot.home)
    told.write(look(robot, q), 1000 * MS, 900 * MS)

    assert told.reader.read(1500 * MS).mirror.is_lost is False
    view = told.reader.read(5000 * MS)

    assert view.mirror.is_lost
    assert view.mirror.q == pytest.approx(q, abs=1e-6)
    assert view.gate_state is GateState.HOLD  # as nobody may call it driving
    assert view.latched == "nothing was heard of it for 4 s"


def test_a_hand_that_is_beyond_all_records_is_left_out(robot):
    told, q = Told(robot), np.array(robot.home)
    hand = pin.SE3(np.eye(3), np.zeros(3))
    beyond = HeldHand(9, 0.0, pose_to_row(hand), np.zeros(6))
    told.write(look(robot, q, holds=(beyond,)), predicted={7: hand}, held=[7])

    view = told.reader.read(1)

    assert view.mirror.q == pytest.approx(q)
    assert view.mirror.held == ()


def test_a_robot_that_does_not_move_is_held_on_the_operators_page(robot):
    told, q = Told(robot), np.array(robot.home)
    view = look(robot, q, state=SessionState.ENGAGED)
    told.write(view, standing="arm: link2 kept clear of link6")

    shown = Shown(robot).make(told.reader.read(100 * MS))

    assert shown["word"] == "Held"
    assert "link2 kept clear of link6" in str(shown)


def test_the_reason_of_a_hold_crosses_in_words(robot):
    told, q = Told(robot), np.array(robot.home)
    view = look(robot, q, gate_state=GateState.HOLD, latched="silence")
    told.write(view)

    seen = told.reader.read(1)

    assert seen.gate_state is GateState.HOLD
    assert seen.latched == "silence"


def test_another_robot_than_the_one_that_is_led_is_refused_by_its_joints(robot):
    told = Told(robot)
    told.write(make_view())

    with pytest.raises(ConfigError, match="has 2 joints and 1 limbs, got one with"):
        told.reader.read(1)


def test_nothing_is_shown_before_the_robots_host_has_spoken(robot):
    assert Told(robot).reader.read(1) is None


def test_a_page_needs_to_know_the_robot():
    words = ["leader=autopilot", "observers.view.port=8190", "link.peer=127.0.0.1"]

    with pytest.raises(ConfigError, match="expected follower=NAME of the robot"):
        Lead(resolve_leader(words), Operator())
