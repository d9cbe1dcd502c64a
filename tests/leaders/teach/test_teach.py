"""Teach-in: poses are kept while somebody leads, edited, and played by the gate."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
import yaml
from lock_step import PIPER
from running import judge

from paprle.config import resolve
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.observing_leader import Sight, Window
from paprle.contracts.types import Actions, Feedback, GateState, SessionState
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.teach.config import TeachConfig
from paprle.leaders.teach.leader import Teach
from paprle.leaders.teach.poses import keep_pose, read_poses
from paprle.recording.reader import Episode
from paprle.testing import AutomaticLeaderContract, ManualClock
from paprle.testing.samples import make_feedback

ROBOT = PIPER.info
NAMES = ROBOT.limbs[0].joint_names
OFFSETS = np.array(
    [[0.3, 0.2, 0, 0, 0, 0, -0.01], [0.1, 0.4, -0.2, 0, 0.2, 0.5, -0.03]]
)
MARGIN = 1e-6  # what the file's digits leave


def make_leader(clock, path, q=None, **settings):
    """A leader that sees the robot stand where ``q`` says."""
    q = np.array(ROBOT.home if q is None else q)
    place = SimpleNamespace(q=q, q_meas=np.full(len(q), np.nan), gate=GateState.READY)
    leader = Teach(TeachConfig(path=str(path), **settings), clock)
    leader.meet(ROBOT)

    def look():
        return Sight(
            SimpleNamespace(q_cmd=place.q, q=place.q_meas, gate_state=place.gate), {}
        )

    leader.watch(Window(look, {}, (), is_waited_for=True))
    return leader, place


def teach(path, places):
    """Keep these joint vectors, as a press of the key does."""
    leader, place = make_leader(ManualClock(), path, starts="on_key")
    leader.open()
    feedback = make_feedback(SessionState.CLUTCHED)
    leader.apply(feedback)
    for n, q in enumerate(places, start=1):
        place.q = q
        leader.apply(Feedback(**_fields(feedback) | {"n_keeps": n}))
    return leader.take_warnings()


def _fields(feedback):
    return {name: getattr(feedback, name) for name in feedback.__dataclass_fields__}


@pytest.fixture
def path(tmp_path):
    teach(tmp_path / "poses.yaml", ROBOT.home + OFFSETS)
    return tmp_path / "poses.yaml"


class TestContract(AutomaticLeaderContract):
    emits = "joints"

    @pytest.fixture(autouse=True)
    def keep(self, tmp_path):
        self.path = tmp_path / "poses.yaml"
        teach(self.path, ROBOT.home + OFFSETS)

    def make_leader(self, clock):
        leader, _ = make_leader(clock, self.path, emits=self.emits, episodes=2)
        return leader


class TestContractOfPoses(TestContract):
    emits = "pose"


def test_kept_poses_are_read_with_the_joints_of_the_hand(path):
    poses = read_poses(path, "piper")

    links = LinkPoses(ROBOT)
    for pose, offset in zip(poses, OFFSETS, strict=True):
        q = ROBOT.home + offset
        one = pose.limbs["arm"]
        assert [one.q[name] for name in NAMES] == pytest.approx(list(q[:6]), abs=MARGIN)
        assert one.opening == pytest.approx(q[6] / 0.035, abs=MARGIN)
        links.update(q)
        T = links.place("base_link").actInv(links.place("gripper_base"))
        assert np.linalg.norm(pin.log6(T.actInv(one.T_base_eef))) < 1e-5


def test_keeping_leaves_what_a_person_wrote(path):
    text = path.read_text().replace("pose 1", "above # by hand\n    # mind the cup")
    path.write_text(text)

    told = teach(path, [ROBOT.home])

    assert "kept 'pose 3', the 3." in told[0]
    assert path.read_text().startswith(text)
    assert [pose.name for pose in read_poses(path, "piper")] == [
        "above", "pose 2", "pose 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t + "speed: 1\n", "speed"),
        (lambda t: t.replace("joint1: ", "joint9: "), "expected q of joint1"),
        (lambda t: t.replace("joint1: 0.3", "joint1: 30.3"), "expected joint1 in"),
        (lambda t: t.replace("robot: piper", "robot: ur5e"), "expected poses of piper"),
        (lambda t: t.replace("arm:", "leg:"), "expected the limbs arm"),
        (lambda t: t.replace("wait: 0", "wait: -1"), "greater than or equal to 0"),
        (lambda t: t.replace("    wait: 0\n", "   wait: 0\n"), "expected YAML"),
        (lambda t: t.replace("0.300000", ".nan"), "finite"),
        (lambda _: "poses: &a [*a, *a]\n", "expected plain YAML"),
        (lambda _: "", "the file"),
    ],
)
def test_a_file_that_was_spoiled_says_where(path, change, why):
    path.write_text(change(path.read_text()))
    leader, _ = make_leader(ManualClock(), path)

    with pytest.raises((DeviceError, ConfigError), match=why):
        leader.open()


def test_of_a_stopped_robot_its_measured_arm_and_commanded_gripper_are_kept(tmp_path):
    path = tmp_path / "led.yaml"
    leader, place = make_leader(ManualClock(), path, starts="on_key")
    leader.open()
    place.gate, place.q_meas = GateState.STOPPED, ROBOT.home + OFFSETS[0]
    feedback = make_feedback(SessionState.STOPPED)
    leader.apply(feedback)
    leader.apply(Feedback(**_fields(feedback) | {"n_keeps": 1}))

    (pose,) = read_poses(path, "piper")
    kept = [pose.limbs["arm"].q[name] for name in NAMES]
    assert kept == pytest.approx(list(place.q_meas[:6]), abs=MARGIN)
    assert pose.limbs["arm"].opening == pytest.approx(ROBOT.home[6] / 0.035, abs=MARGIN)


def test_an_unwritable_pose_is_reported_and_the_file_is_unchanged(path, tmp_path):
    spoilt = path.read_text().replace("poses:", "poses: []\nrobots:")
    path.write_text(spoilt)

    assert "not kept" in teach_into(path)
    assert path.read_text() == spoilt
    pose = read_poses_of(tmp_path)
    last = tmp_path / "last.yaml"
    last.write_text("poses: []\nrobot: piper\n")
    with pytest.raises(ValueError, match="as the last key"):
        keep_pose(last, "piper", pose)
    assert last.read_text() == "poses: []\nrobot: piper\n"


def teach_into(path):
    leader, _ = make_leader(ManualClock(), path.with_name("none.yaml"), starts="on_key")
    leader.open()
    leader._path = path
    leader.apply(make_feedback(SessionState.CLUTCHED))
    feedback = make_feedback(SessionState.CLUTCHED)
    leader.apply(Feedback(**_fields(feedback) | {"n_keeps": 1}))
    return leader.take_warnings()[0]


def read_poses_of(folder):
    teach(folder / "one.yaml", [ROBOT.home])
    return read_poses(folder / "one.yaml", "piper")[0]


def test_nothing_to_play_is_refused_before_anything_moves(tmp_path):
    leader, _ = make_leader(ManualClock(), tmp_path / "none.yaml")

    with pytest.raises(ConfigError, match="expected kept poses, got none"):
        leader.open()


@pytest.mark.parametrize("emits", ["joints", "pose"])
@pytest.mark.parametrize("env", ["kinematic", "mujoco"])
@pytest.mark.sim
@pytest.mark.long
def test_a_session_passes_the_poses_within_the_limits(path, tmp_path, emits, env):
    text = path.read_text()
    path.write_text(text.replace("wait: 0", "wait: 0.5", 1))
    words = ("leader=teach", f"leader.path={path}", "follower=piper", f"env={env}")
    words += ("session.clock=virtual", "session.episodes=1", f"leader.emits={emits}")

    VirtualSession(resolve([*words, f"record.dir={tmp_path / 'out'}"])).run()

    episode = Episode.open(tmp_path / "out" / "episode_000000.mcap")
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    q = episode.gate["q_cmd"]
    for offset, wait in zip(OFFSETS, (0.5, 0.0), strict=True):
        off = np.abs(q - ROBOT.home - offset)[:, :6].max(axis=1)
        bound = 2e-3 if emits == "joints" else 0.05  # other joints reach a pose, too
        assert off.min() < bound
        assert (off < 2 * bound).sum() / 200.0 >= wait
    driven = episode.ticks["state"] == SessionState.ENGAGED
    asked = episode.ticks["q_des"][driven]
    v = np.diff(asked, axis=0) / 0.005
    pace = np.full(7, 0.25 if emits == "joints" else 1.0)
    pace[6] = 1.0  # the gripper's own
    assert (np.abs(v) <= 1.01 * pace * ROBOT.dq_max + 1e-6).all()
    assert np.abs(np.diff(v, axis=0)).max() / 0.005 < ROBOT.ddq_max.max(), "C1"


def test_a_play_that_is_handed_its_limb_late_begins_at_its_beginning(path):
    clock = ManualClock()
    leader, _ = make_leader(clock, path, starts="on_key")
    leader.open()
    waits = _fields(make_feedback(SessionState.ENGAGED)) | {"drives": (False,)}
    drives = waits | {"n_plays": 1, "drives": (True,)}
    leader.apply(Feedback(**waits))
    for _ in range(200):
        clock.advance(0.005)
        leader.apply(Feedback(**waits | {"n_plays": 1}))
        leader.latest()
    clock.advance(0.005)
    leader.apply(Feedback(**drives))

    np.testing.assert_allclose(leader.latest().limbs["arm"].q, ROBOT.home[:6])
    clock.advance(0.5)
    assert np.abs(leader.latest().limbs["arm"].q - ROBOT.home[:6]).max() > 1e-3


class TaughtByHand:
    """A person leads with a pad, keeps two poses by key, and plays them by key."""

    WORDS = (
        "leader=mix", "follower=piper", "env=kinematic", "session.clock=virtual",
        "session.episodes=1", "leaders.pad.type=gamepad",
        "leaders.pad.pads.pad.device=Teaching pad", "leaders.taught.type=teach",
        "leaders.taught.starts=on_key",
        "retarget.limbs.arm.from=[taught.arm,pad.hand]",
    )  # fmt: skip

    def __init__(self, path, out):
        self.pad = VirtualPad("Teaching pad")
        words = (*self.WORDS, f"leaders.taught.path={path}", f"record.dir={out}")
        self.session = VirtualSession(resolve(words), self.told, has_operator=True)
        self.begin_ns, self.marks, self.lines = None, {}, []
        leader = self.session.plan.leaders["pad"]
        self._latest, leader.latest = leader.latest, self.play
        self.actions = Actions()

    def told(self, line):
        self.lines.append(line)

    def press(self, name):
        self.actions = self.actions._replace(**{name: getattr(self.actions, name) + 1})
        self.session.actions = self.actions

    def at(self, t, moment, what):
        """Do something once, from a moment on."""
        if t >= moment and moment not in self.marks:
            self.marks[moment] = self.session.status["q_cmd"].copy()
            what()

    def play(self):
        now_ns, state = self.session.clock(), self.session.core.state
        if self.begin_ns is None and state is SessionState.WAITING:
            self.begin_ns = now_ns
            self.pad.move("leftshoulder", 1.0)
        if self.begin_ns is not None:
            t = (now_ns - self.begin_ns) * 1e-9
            self.pad.move("lefty", -0.6 * (0.3 < t < 1.2))
            self.pad.move("leftx", 0.6 * (2.0 < t < 3.0))
            self.at(t, 1.8, lambda: self.press("keep"))
            self.at(t, 3.6, lambda: self.press("keep"))
            self.at(t, 4.0, lambda: self.press("play"))
            self.at(t, 12.0, lambda: self.press("next_episode"))
            assert t < 30.0
        return self._latest()

    def run(self):
        try:
            self.session.run()
        finally:
            self.pad.unplug()


@pytest.mark.long
def test_a_person_leads_keeps_poses_and_plays_them(tmp_path):
    path, out = tmp_path / "poses.yaml", tmp_path / "out"
    taught = TaughtByHand(path, out)
    taught.run()

    kept = yaml.safe_load(path.read_text())["poses"]
    assert [pose["name"] for pose in kept] == ["pose 1", "pose 2"]
    episode = Episode.open(out / "episode_000000.mcap")
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    events = [event for event in episode.events if event["event"] == "driver"]
    assert [event["leader"] for event in events] == ["", "taught.arm", "", "pad.hand"]
    begin, end = (events[k]["t_ns"] for k in (1, 2))
    gate = episode.gate
    played = (gate["stamp_ns"] > begin) & (gate["stamp_ns"] < end)
    q = gate["q_cmd"][played]
    for moment in (1.8, 3.6):
        assert np.abs(q - taught.marks[moment]).max(axis=1).min() < 2e-3, moment
    first, last = taught.marks[1.8], taught.marks[3.6]
    assert np.abs(first - last).max() > 0.05, "two poses"
    assert np.abs(q[-1] - last).max() < 2e-3, "it ends with the last"
