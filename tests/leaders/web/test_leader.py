"""What somebody does at the page becomes samples; silence becomes none."""

from pathlib import Path

import numpy as np
import pytest

from paprle import leaders
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.operator.requests import Hands
from paprle.hosts.plan import make_plan
from paprle.leaders.web.config import WebConfig
from paprle.leaders.web.leader import Web
from paprle.retargeting.joint_sources import JointFinder
from paprle.testing import LeaderContract, ManualClock
from paprle.testing.robots import make_robot_info

CONFIGS = Path(leaders.__path__[0]).resolve().parent / "configs"
FOLLOWERS = sorted(path.stem for path in (CONFIGS / "follower").glob("*.yaml"))
ROBOT = make_robot_info(has_gripper=True, n_limbs=2)
N = len(ROBOT.joint_names)
POSE = [0.1, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]


def make_hands(clock, held=True, n_presses=1, limbs=(True, True)):
    poses = np.array([POSE if is_said else [np.nan] * 7 for is_said in limbs])
    return Hands(
        clock(), held, n_presses, poses, np.full(2, 0.5), np.full((2, 7), 0.25),
        np.arange(N) / N,
    )  # fmt: skip


@pytest.fixture(params=["pose", "joints", "axes"])
def emits(request):
    return request.param


class TestWeb(LeaderContract):
    @pytest.fixture(autouse=True)
    def take_kind(self, emits):
        self.emits = emits

    def make_leader(self, clock):
        leader = Web(WebConfig(emits=self.emits), clock)
        leader.meet(ROBOT)
        return leader

    def stimulate(self, leader, clock):
        leader.hear(make_hands(clock))

    def unplug(self, _):
        self.stimulate = lambda *_: None


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def leader(clock):
    made = Web(WebConfig(), clock)
    made.meet(ROBOT)
    made.open()
    return made


def say(leader, clock, dt=0.05, **what):
    leader.hear(make_hands(clock, **what))
    clock.advance(dt)
    return leader.latest()


def test_silence_while_it_is_held_is_silence(leader, clock):
    first = say(leader, clock)
    clock.advance(1.0)
    later = leader.latest()

    assert first.engaged
    assert (later.seq, later.stamp_ns) == (first.seq, first.stamp_ns)


def test_while_nothing_is_held_the_leader_itself_says_that_it_is_there(leader, clock):
    first = say(leader, clock, held=False)
    clock.advance(1.0)
    later = leader.latest()

    assert not later.engaged
    assert (later.seq, later.stamp_ns) == (first.seq + 1, clock())


def test_a_release_that_nobody_saw_is_told(leader, clock):
    assert say(leader, clock).engaged
    leader.hear(make_hands(clock, n_presses=2))
    assert not leader.latest().engaged
    clock.advance(0.03)

    assert leader.latest().engaged


def test_a_limb_that_is_not_chosen_holds(leader, clock):
    sample = say(leader, clock, limbs=(False, True))

    assert list(sample.limbs) == [ROBOT.limbs[1].name]


def test_sliders_move_the_joints_of_each_limb(clock):
    made = Web(WebConfig(emits="joints"), clock)
    made.meet(ROBOT)
    made.open()
    sample = say(made, clock)
    names = list(ROBOT.joint_names)

    for limb in ROBOT.limbs:
        columns = [names.index(joint) for joint in limb.joint_names]
        np.testing.assert_allclose(sample.limbs[limb.name].q, np.array(columns) / N)


def test_a_limb_that_the_robot_has_not_is_refused(clock):
    made = Web(WebConfig(limbs=("tail",)), clock)

    with pytest.raises(ConfigError, match=r"leader\.limbs: expected limbs of .* tail"):
        made.meet(ROBOT)


@pytest.mark.parametrize("follower", FOLLOWERS)
def test_sliders_drive_the_joints_of_any_robot(follower):
    """They are the robot's own joints, whatever these are called."""
    words = "leader=web", "leader.emits=joints", f"follower={follower}"

    plan = make_plan(resolve([*words, "env=kinematic"]))

    robot = plan.robot
    leader = plan.layout.leader
    sources = {
        name: JointFinder(robot, leader, plan.resolved.retarget, {}, []).join(
            name, name, "auto"
        )
        for name in leader.limbs
    }
    for name, found in sources.items():
        assert [leader.joint_names[name][one.index] for one in found] == list(
            robot.limbs[name].joint_names
        )
