"""Joints of leaders: turns that are unwrapped, jumps and places nobody meant."""

import json

import numpy as np
import pytest
from lock_step import H_NS, PIPER, LockStep
from pydantic import TypeAdapter

from paprle.contracts.kit.continuity import unwrap
from paprle.contracts.settings.core import RobotSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.robot import RobotModel
from paprle.session.inputs.intake import Intake

NAMES = ("roll", "bend")
MACHINE = LeaderInfo(
    limbs=("hand",), emits="joints", joint_names={"hand": NAMES}, is_human=False
)
PERSON = LeaderInfo(
    limbs=("hand",), emits="joints", joint_names={"hand": NAMES}, is_human=True
)
URDF = """<robot name='toy'><link name='base'/><link name='one'/><link name='two'/>
<joint name='roll' type='continuous'><parent link='base'/><child link='one'/>
<axis xyz='0 0 1'/><limit velocity='2' effort='1'/></joint>
<joint name='bend' type='revolute'><parent link='one'/><child link='two'/>
<origin xyz='0.2 0 0'/><axis xyz='0 1 0'/>
<limit lower='-6.2' upper='6.2' velocity='2' effort='1'/></joint></robot>"""


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    (folder / "toy.urdf").write_text(URDF)
    limb = {"base_link": "base", "eef_link": "two", "home": [0.0, 0.0]}
    settings = {
        "urdf": "toy.urdf",
        "limbs": {"arm": limb},
        "limits": {"ddq_max": 20.0},
    }
    made = TypeAdapter(RobotSettings).validate_json(json.dumps(settings))
    return RobotModel.from_settings(made, "toy", folder)


class JointStep(LockStep):
    """A session whose leader says joints."""

    def __init__(self, robot, leader=MACHINE, **settings):
        mapped = Retargeting(robot, leader, RetargetSettings(mode="joints"))
        super().__init__(leader, pair=(robot, mapped), **settings)
        self.q = np.zeros(2)
        self.start = not leader.is_human

    def sample(self):
        self.seq += 1
        return LeaderSample(
            stamp_ns=self.clock(),
            seq=self.seq,
            limbs={"hand": LimbCommand(q=self.q.copy())},
            engaged=self.engaged,
            valid=self.valid,
            start=self.start,
        )

    def turn(self, n, *, roll=0.0, bend=0.0, is_wrapped=True):
        """Move for n periods at these speeds, [rad/s], told within one turn."""
        for _ in range(n):
            self.q = self.q + np.array([roll, bend]) * H_NS * 1e-9
            if is_wrapped:
                self.q = (self.q + np.pi) % (2 * np.pi) - np.pi
            self.step()
        return self


def begin(robot, leader=MACHINE, q=(0.0, 0.0), **settings):
    session = JointStep(robot, leader, **settings)
    session.q = np.array(q, dtype=float)
    session.until("WAITING")
    if leader.is_human:
        session.step(5).press("engage")
    return session.until("ENGAGED")


@pytest.mark.parametrize("leader", [MACHINE, PERSON], ids=["machine", "person"])
@pytest.mark.parametrize("roll", [1.5, -1.5])
def test_an_endless_joint_told_within_a_turn_goes_on(robot, leader, roll):
    session = begin(robot, leader)

    session.turn(1000, roll=roll)

    assert session.states[-1000:] == ["ENGAGED"] * 1000
    assert session.q_cmd[0] == pytest.approx(5.0 * roll, abs=0.05)
    assert session.core.leaders.n_unwrapped == 1
    assert not session.judge().violations


def test_a_robot_that_has_turned_twice_meets_its_leader_where_it_is(robot):
    session = begin(robot, start_bound=1.0, leader=PERSON)
    session.turn(1000, roll=1.5)
    session.engaged = False
    session.step(100)
    assert session.state == "CLUTCHED"
    before = session.q_cmd[0]
    session.core.leaders.wind(0, 0, 3.0)  # as after a new start of the leader
    session.engaged = True

    session.until("ENGAGED").turn(20, roll=0.1)

    assert session.q_cmd[0] == pytest.approx(before, abs=0.1)


def test_a_start_beyond_a_turn_is_met_by_the_shorter_way(robot):
    session = begin(robot, q=(0.3 + 4 * np.pi, 0.0))

    assert session.q_cmd[0] == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.3, -0.4)])
@pytest.mark.parametrize("n", [1, 5, 400])
def test_one_message_of_another_sender_is_not_driven_to(robot, place, n):
    session = begin(robot, q=(0.9, 0.9))
    session.turn(50, bend=0.1)
    held = session.q_cmd
    session.q = np.array(place)

    session.step(n)

    assert session.state == "CLUTCHED"
    assert np.abs(session.q_cmd - held).max() < 0.05
    assert "jumped" in session.core.note


def test_two_senders_in_turn_are_not_followed(robot):
    session = begin(robot, q=(0.9, 0.9))
    held = session.q_cmd
    for k in range(400):
        session.q = np.zeros(2) if k % 2 else np.array([0.9, 0.9 + 1e-4 * k])
        session.step()

    assert np.abs(session.q_cmd - held).max() < 0.05


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_leader_that_jumped_is_followed_once_it_moves_on_or_is_asked_for(
    robot, goes_on
):
    session = begin(robot, q=(0.9, 0.9))
    session.q = np.array([0.9, 0.2])
    session.step(200)
    assert session.state == "CLUTCHED"

    if goes_on:
        session.turn(100, bend=0.01)
    else:
        session.press("engage")
    session.until("ENGAGED", 4000)

    assert session.q_cmd[1] == pytest.approx(session.q[1], abs=0.05)


def jump_far(session):
    """Come back from an absence more than half a turn away, and move on from there."""
    session.valid = False
    session.step(60)
    session.valid = True
    session.q = np.array([0.0, 4.0])
    return session.turn(300, bend=0.01, is_wrapped=False)


def test_no_joint_is_realigned_by_more_than_half_a_turn_unasked(robot):
    session = begin(robot)

    jump_far(session)

    assert session.state == "CLUTCHED"
    assert np.abs(session.q_cmd).max() < 0.05
    assert "'bend' is 4.0" in session.core.note
    assert "press Enter" in session.core.note
    session.press("engage").until("ENGAGED", 12000)
    assert session.q_cmd[1] == pytest.approx(4.0, abs=0.05)


def test_with_nobody_to_ask_the_session_ends_instead(robot):
    session = begin(robot, interactive=False)

    jump_far(session)

    assert session.core.end_reason == "cannot align"
    assert np.abs(session.q_cmd).max() < 0.05


@pytest.mark.parametrize("q", [(57.3, 0.0), (0.0, 28.6)])
def test_degrees_are_no_place_to_begin(robot, q):
    session = JointStep(robot)
    session.q = np.array(q)

    session.step(600)

    assert "ENGAGED" not in session.states
    assert session.core.leaders.refused["range"] > 500
    assert not session.q_cmd.any()


@pytest.mark.parametrize("speed", [0.5, -3.0])
def test_files_and_live_samples_are_unwrapped_alike(speed):
    t = np.arange(400) * 0.01
    q = (3.0 + speed * t + np.pi) % (2 * np.pi) - np.pi
    info = LeaderInfo(limbs=("hand",), emits="joints", joint_names={"hand": ("a",)})
    layout = make_layout(PIPER.info, info)
    intake, live = Intake(layout, 0.1), []
    for k, value in enumerate(q):
        limbs = {"hand": LimbCommand(q=np.array([value]))}
        sample = LeaderSample(stamp_ns=k * 10_000_000, seq=k, limbs=limbs)
        intake.update(pack_sample(layout, sample), k * 10_000_000)
        live.append(float(intake.sample.q[0, 0]))

    whole, turns = unwrap(q[:, None], np.diff(t), np.array([20.0]))

    np.testing.assert_allclose(live, whole[:, 0], atol=1e-12)
    assert intake.n_unwrapped == turns[0] > 0
