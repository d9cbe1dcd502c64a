"""Policies in whole sessions on the virtual clock: what they see, and who drives."""

import json

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pinocchio as pin
import pyarrow.parquet as pq
from lock_step import load_piper
from running import judge

from paprle.config import resolve
from paprle.contracts.types import SessionState
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.policy.leader import Policy
from paprle.recording.reader import Episode
from paprle_lab.dataset.create import create

PIPER = ("follower=piper", "session.clock=virtual", "session.episodes=1")
ALONE = ("leader=policy", "leader.function=paprle.leaders.policy.load:stay")
HOLD = "leftshoulder"


class Sways:
    """Turns the first joint to and fro about where it began; notes what it saw."""

    def __init__(self):
        self.seen = []

    def reset(self):
        self.k, self.begin = 0, None

    def __call__(self, observation):
        self.seen.append(observation)
        action = observation["observation.state"].astype(float)
        self.begin = action[0] if self.begin is None else self.begin
        self.k += 1
        action[0] = self.begin + 10.0 * np.sin(0.1 * self.k)
        return action


def run(policy, *words):
    session = VirtualSession(resolve([*PIPER, *words]))
    for leader in session.plan.leaders.values():
        if isinstance(leader, Policy):
            leader.use(policy)
    return session


def read_dataset(places, root):
    create([places], root, "lerobot")
    table = pq.read_table(root / "data/chunk-000/file-000.parquet")
    info = json.loads((root / "meta/info.json").read_text())
    return {n: np.array(table[n].to_pylist()) for n in table.column_names}, info


@pytest.mark.sim
@pytest.mark.long
def test_the_policy_sees_the_columns_of_the_data_set_that_is_made_of_it(tmp_path):
    policy, out = Sways(), tmp_path / "out"

    run(policy, *ALONE, "env=mujoco", "leader.duration=1.5", f"record.dir={out}").run()

    rows, info = read_dataset(out, tmp_path / "set")
    last = policy.seen[-1]
    columns = {name for name in rows if name.startswith("observation.")}
    assert set(last) == {*columns, "task", "session.state"}
    assert last["session.state"] == "ENGAGED"
    assert "observation.environment_state" in columns
    driven = rows["driven"].astype(bool).ravel()
    for name in columns:
        assert list(last[name].shape) == info["features"][name]["shape"]
        seen = np.array([one[name] for one in policy.seen[5:40]])
        told = rows[name][driven]
        spread = np.ptp(told, axis=0).max() + 1e-3
        near = [np.abs(told - one).max(axis=1).min() for one in seen]
        assert max(near) < 0.25 * spread, name
    assert not rows["driven_by_person"].any()


@pytest.mark.long
def test_a_policy_that_fails_in_motion_brakes_holds_and_comes_back(tmp_path):
    class Fails(Sways):
        def __call__(self, observation):
            action = super().__call__(observation)
            return action * np.nan if 30 < len(self.seen) < 60 else action

    words = (*ALONE, "env=kinematic", "leader.duration=3", f"record.dir={tmp_path}")
    session = run(Fails(), *words)
    session.run()

    episode = Episode.open(tmp_path / "episode_000000.mcap")
    states = episode.ticks["state"]
    engaged = np.flatnonzero(states == SessionState.ENGAGED)
    broken = np.flatnonzero(np.diff(engaged) > 1)
    assert len(broken) == 1, "one pause"
    begin, end = episode.ticks["stamp_ns"][engaged[[broken[0], broken[0] + 1]]]
    paused = (episode.gate["stamp_ns"] > begin + 0.1e9) & (
        episode.gate["stamp_ns"] < end
    )
    assert paused.sum() > 40
    assert np.abs(episode.gate["dq_cmd"][paused]).max() == 0.0
    assert session.plan.leaders[""]._mind.refused["malformed"] >= 5


class Takeover:
    """A policy drives an arm; a person takes it over with a pad, and hands it back."""

    WORDS = (
        "leader=mix",
        "env=kinematic",
        "leaders.pad.type=gamepad",
        "leaders.pad.pads.pad.device=Takeover pad",
        "leaders.policy.type=policy",
        "leaders.policy.function=paprle.leaders.policy.load:stay",
        "leaders.policy.duration=60",
        "retarget.limbs.arm.from=[pad.hand,policy.arm]",
    )
    PUSH = (1.0, 1.6)

    def __init__(self, out):
        self.pad = VirtualPad("Takeover pad")
        self.session = run(Sways(), *self.WORDS, f"record.dir={out}")
        self.begin_ns = None
        leader = self.session.plan.leaders["pad"]
        self._latest, leader.latest = leader.latest, self.play

    def play(self):
        now_ns = self.session.clock()
        state = self.session.core.state
        if self.begin_ns is None and state is SessionState.WAITING:
            self.begin_ns = now_ns
            self.pad.move("start", 1.0)
        if self.begin_ns is not None:
            t = (now_ns - self.begin_ns) * 1e-9
            first, last = self.PUSH
            self.pad.move("start", float(t < 0.3))
            self.pad.move(HOLD, float(first < t < last))
            self.pad.move("leftx", 0.5 * (first < t < last))
            self.pad.move("y", float(t > 3.0 and int(t * 10) % 2))
            assert t < 30.0
        return self._latest()

    def run(self):
        try:
            self.session.run()
        finally:
            self.pad.unplug()


@pytest.mark.long
def test_a_person_takes_over_and_hands_back_without_a_jump(tmp_path):
    out = tmp_path / "out"
    Takeover(out).run()

    episode = Episode.open(out / "episode_000000.mcap")
    told = [event["leader"] for event in episode.events if event["event"] == "driver"]
    assert told == ["", "pad.hand", "", "policy.arm"]
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    q_des = episode.ticks["q_des"][engaged]
    steps = np.abs(np.diff(q_des, axis=0)).max(axis=0)
    assert (steps <= 1.01 * episode.robot_info.dq_max * 0.005).all()
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    rows, _ = read_dataset(out, tmp_path / "set")
    by_person = rows["driven_by_person"].astype(bool).ravel()
    driven = rows["driven"].astype(bool).ravel()
    changes = np.diff(by_person.astype(int))
    assert (changes == 1).sum() == (changes == -1).sum() == 1, "taken, and given back"
    first, last = np.flatnonzero(by_person)[[0, -1]]
    assert driven[first:last].all()
    assert driven[1 : first - 3].all(), "by the policy"
    assert driven[last + 4 : -3].any(), "the policy goes on"
    turned = rows["observation.state"][:, 0]
    assert np.ptp(turned[last + 4 :]) > 5.0, "and moves"


class Plays:
    """Answers a chunk of poses, those of a motion of joints from home on."""

    def __init__(self, limb, q_end, n=90):
        self.k, self.opening = 0, 0.0
        share = 0.5 * (1.0 - np.cos(np.pi * np.arange(n) / (n - 1)))
        self.poses = [limb.fk(limb.home + s * (q_end - limb.home)) for s in share]

    def __call__(self, observation):
        opening = observation["observation.state"][-1]
        return np.array(
            [[*T.translation, *pin.log3(T.rotation), opening] for T in self.poses]
        )


@pytest.mark.long
def test_a_pose_policy_begins_in_a_posture_that_follows_its_chunk(tmp_path):
    limb = load_piper().limbs["arm"]
    far = limb.home + [0.4, 0.3, -0.2, 0.2, 0.2, 0.0]
    words = (*ALONE, "env=kinematic", "leader.action=ee_pose", "leader.duration=2")

    run(Plays(limb, far), *words, f"record.dir={tmp_path}").run()

    episode = Episode.open(tmp_path / "episode_000000.mcap")
    (told,) = [event for event in episode.events if event["event"] == "posture"]
    assert told["limb"] == "arm"
    assert told["reached"] == 1.0


class Raises:
    """Raises at every question."""

    def reset(self):
        pass

    def __call__(self, _observation):
        raise RuntimeError("weights are missing")


@pytest.mark.long
def test_on_the_virtual_clock_the_operator_reads_why_a_policy_does_not_answer():
    told = []
    words = [*PIPER, *ALONE, "env=kinematic", "leader.duration=1"]
    session = VirtualSession(resolve(words), told.append)
    session.plan.leaders[""].use(Raises())

    session.run()

    (warning,) = [line for line in told if "weights are missing" in line]
    assert warning.startswith("leader: ")
    assert any(line.startswith("leader: policy: ") for line in told)
