"""Several arms as one robot: shares, joined states, faults of one arm."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from mixed_arms import make_config, make_follower, make_robot

from paprle.contracts.errors import CommandError, DeviceError
from paprle.contracts.types import RobotInfo
from paprle.followers.mix.follower import MixFollower
from paprle.followers.mix.parts import take_robot
from paprle.testing import ManualClock


@pytest.fixture
def follower():
    made = make_follower()
    made.open()
    yield made
    made.close("hold")


def test_each_arm_is_the_robot_that_it_is_alone():
    robot, config = make_robot(), make_config()

    left, right = (take_robot(robot, name, part) for name, part in config.parts.items())

    assert isinstance(left, RobotInfo)
    assert (left.name, right.name) == ("left_arm", "right_arm")
    assert left.joint_names == ("joint0", "joint1", "joint2")
    assert right.joint_names == ("joint0", "joint1", "finger")
    assert [limb.name for limb in right.limbs] == ["arm"]
    assert right.limbs[0].gripper.joint == "finger"
    assert (left.limbs[0].base_link, left.limbs[0].eef_link) == ("base", "eef")
    assert left.q_min.tolist() == robot.q_min[:3].tolist()
    assert right.home.tolist() == robot.home[3:].tolist()
    assert left.ignored == (("a", "b"),), "pairs of two arms are of neither"
    assert (left.sliding, right.sliding) == ((), ("finger",))


def test_each_arm_gets_its_share_and_the_state_is_joined(follower):
    q_cmd = follower.robot.home + np.arange(6) * 1e-3

    follower.write(q_cmd)

    assert follower.read().q == pytest.approx(q_cmd)
    assert follower.read().tau is None
    assert follower.read().sim_time == pytest.approx(1 / 200)


def test_shares_follow_the_joints_names_whatever_their_order():
    robot = make_robot()
    order = [3, 0, 4, 1, 5, 2]
    mixed = {
        key: getattr(robot, key)[order]
        for key in ("q_min", "q_max", "dq_max", "ddq_max", "home")
    }
    names = tuple(robot.joint_names[k] for k in order)
    robot = replace(robot, joint_names=names, **mixed)
    follower = make_follower(robot=robot)
    follower.open()
    q_cmd = robot.home + np.arange(6) * 1e-3

    follower.write(q_cmd)

    assert follower.read().q == pytest.approx(q_cmd)


def test_efforts_of_an_arm_without_are_nan():
    follower = make_follower(right={"goes_on": True})
    info = follower.open()

    tau = follower.read().tau

    assert info.has_effort
    assert np.isnan(tau).tolist() == [True] * 3 + [False] * 3


def test_says_the_worst_of_all_arms():
    follower = make_follower({"dead_time": 0.02}, {"goes_on": True, "sag": 0.1})

    info = follower.open()

    assert (info.lag, info.sag, info.tool_speed) == (0.02, 0.1, 1.0)
    assert (info.power_off, info.has_unattended_stop) == ("falls", False)
    assert follower.goes_on_unattended
    assert not make_follower().goes_on_unattended
    assert math.isinf(make_follower().open().tool_speed)


def test_the_oldest_state_counts_and_the_silent_arm_is_named(shaky):
    clock = ManualClock()
    follower = make_follower(clock=clock)
    follower.open()
    begin_ns = follower.read().stamp_ns
    shaky.FAILS.add(("right_arm", "silent"))
    clock.advance(0.15)

    stamps = [follower.read().stamp_ns for _ in range(2)]

    assert stamps == [begin_ns, begin_ns]
    assert follower.take_warnings() == [
        "right: no new state for 0.15 [s]; look at its power and its cable"
    ]
    assert follower.take_warnings() == []


def test_a_stop_of_one_arm_is_the_robots_and_named(follower, shaky):
    shaky.FAILS.add(("left_arm", "stop"))

    assert follower.read().stop_reason == "left: protective stop"


def test_an_arm_that_cannot_be_read_is_named(follower, shaky):
    shaky.FAILS.add(("right_arm", "read"))

    with pytest.raises(DeviceError, match=r"^right: OSError: no cable$"):
        follower.read()


def test_the_others_are_told_where_to_go_after_one_takes_no_command(follower, shaky):
    shaky.FAILS.add(("left_arm", "write"))
    q_cmd = follower.robot.home + 1e-3

    follower.write(q_cmd)
    follower.write(q_cmd)

    with pytest.raises(DeviceError, match=r"^left: ValueError: a bug$"):
        follower.read()
    parts = follower._parts
    assert parts[1].follower.read().q == pytest.approx(q_cmd[3:])


@pytest.mark.parametrize("bad", [np.zeros(5), np.full(6, np.nan)])
def test_a_malformed_command_reaches_no_arm(follower, bad):
    with pytest.raises(CommandError, match="env 'mix': expected 6 finite positions"):
        follower.write(bad)

    assert follower.read().q == pytest.approx(follower.robot.home)


def test_no_arm_stays_open_after_one_failed_to_open(shaky):
    shaky.FAILS.add(("left_arm", "open"))
    follower = make_follower()

    with pytest.raises(DeviceError, match="^left: env 'shaky': expected an arm"):
        follower.open()

    assert ("right_arm", "close hold") in shaky.CALLS
    with pytest.raises(DeviceError, match=r"call open\(\) first"):
        follower.read()


def test_all_that_do_not_open_are_named(shaky):
    shaky.FAILS.update((f"{limb}_arm", "open") for limb in ("left", "right"))

    with pytest.raises(DeviceError, match=r"(?s)left: env.*\nright: env"):
        make_follower().open()


def test_arms_of_different_rates_are_refused():
    follower = make_follower(left={"rate": 500.0}, right={"rate": 200.0})

    with pytest.raises(DeviceError, match=r"env\.rate: .*such as env\.rate=200"):
        follower.open()


def test_closing_closes_all_with_one_policy_and_never_raises(shaky):
    follower = make_follower()
    follower.open()
    shaky.FAILS.add(("left_arm", "close"))
    shaky.CALLS.clear()

    follower.close("off")
    follower.close("off")

    assert shaky.CALLS == [("left_arm", "close off"), ("right_arm", "close off")]


def test_words_of_an_arm_have_its_limb_and_the_keys_that_it_has_here(shaky):
    shaky.FAILS.update({("right_arm", "preflight"), ("left_arm", "warm")})
    follower = make_follower()

    assert follower.notes[2:] == [
        "right: warm",
        "right: set env.right.host=… or follower.limits.q_min.right_joint0=0",
    ]
    assert follower.preflight() == ["right: env.right.host: expected an address"]
    assert list(follower.diagnose()) == [
        (True, "left: looked at"),
        (True, "right: looked at"),
    ]
    follower.open()
    assert follower.take_warnings() == ["left: hot"]


def test_an_openable_mix_has_no_obstacles():
    assert make_follower().preflight() == []


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (None, "none", r"env\.right: expected an arm of each limb of 'test_robot'"),
        (
            {"host": "a"},
            {"host": "a"},
            r"env\.right\.host: expected an address of its own, got 'a', .*env\.left",
        ),
    ],
    ids=["a limb without an arm", "one address"],
)
def test_arms_that_do_not_fit_are_refused_before_the_start(left, right, message):
    config = make_config(left, right)
    follower = MixFollower(config, make_robot(), ManualClock())

    assert re.search(message, "\n".join(follower.preflight()))
    assert [is_well for is_well, _ in follower.diagnose()] == [False]
    with pytest.raises(DeviceError, match=message):
        follower.open()


def test_joints_that_are_of_no_limb_are_refused():
    robot = make_robot()
    robot = replace(robot, joint_names=("waist", *robot.joint_names[1:]))

    with pytest.raises(DeviceError, match=r"named after their limb \(left_…\).*waist"):
        make_follower(robot=robot).open()
