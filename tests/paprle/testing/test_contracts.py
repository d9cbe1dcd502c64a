"""The suites accept what keeps the contract and catch what does not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from paprle.contracts.plugins import FeedbackLaw, Follower, Leader, Stiffness
from paprle.contracts.types import (
    FollowerInfo,
    FollowerState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    RobotInfo,
    readonly,
)
from paprle.testing import (
    FeedbackLawContract,
    FollowerContract,
    LeaderContract,
    ManualClock,
    check_sample,
)

N = 3
ROBOT = RobotInfo(
    name="toy",
    urdf_path=Path("toy.urdf"),
    joint_names=("a", "b", "c"),
    q_min=readonly([-1, -1, -np.inf]),
    q_max=readonly([1, 1, np.inf]),
    dq_max=readonly([1, 1, 1]),
    ddq_max=readonly([10, 10, 10]),
    home=readonly([0, 0, 0]),
    limbs=(),
)


class Ideal(Follower):
    def open(self):
        self.q, self.t = np.zeros(N), 0.0
        return FollowerInfo(joint_names=ROBOT.joint_names, rate=200.0, simulated=True)

    def read(self):
        return FollowerState(
            stamp_ns=self.clock(),
            q=readonly(self.q),
            dq=readonly(np.zeros(N)),
            sim_time=self.t,
        )

    def write(self, q_cmd):
        self.q, self.t = np.array(q_cmd), self.t + 0.005

    def close(self, policy):
        pass


class Keeping(Ideal):
    """Keeps the very array it was given."""

    def write(self, q_cmd):
        self.q, self.t = q_cmd, self.t + 0.005


class Deaf(Ideal):
    """Never moves."""

    def write(self, q_cmd):  # noqa: ARG002
        self.t += 0.005


class TestFollowerContract(FollowerContract):
    def make_follower(self, clock):
        return Ideal(None, ROBOT, clock)


@pytest.mark.parametrize(
    ("follower", "test"),
    [
        (Keeping, "test_does_not_keep_or_change_what_it_is_given"),
        (Deaf, "test_goes_where_it_is_told"),
    ],
)
def test_bad_follower_is_caught(follower, test):
    suite, clock = TestFollowerContract(), ManualClock()
    bad = follower(None, ROBOT, clock)
    suite.info = bad.open()

    with pytest.raises(AssertionError):
        getattr(suite, test)(bad, clock)


class Still(Leader):
    info = LeaderInfo(limbs=("hand",))

    def open(self):
        self.seq = 0

    def latest(self):
        self.seq += 1
        command = LimbCommand(T_leader_base_leader_eef=pin.SE3.Identity())
        return LeaderSample(
            stamp_ns=self.clock(), seq=self.seq, limbs={"hand": command}
        )

    def close(self):
        pass


class Stuck(Still):
    """Repeats its sequence number with new stamps."""

    def latest(self):
        return replace(super().latest(), seq=1)


class Moving(Still):
    """Hands out the pose that it goes on changing."""

    T = pin.SE3.Identity()

    def latest(self):
        self.T.translation = self.T.translation + 0.01
        command = LimbCommand(T_leader_base_leader_eef=self.T)
        return replace(super().latest(), limbs={"hand": command})


class TestLeaderContract(LeaderContract):
    def make_leader(self, clock):
        return Still(None, clock)


@pytest.mark.parametrize(
    ("leader", "test"),
    [
        (Stuck, "test_stamps_and_sequence_never_go_back"),
        (Moving, "test_samples_do_not_change_once_given"),
    ],
)
def test_bad_leader_is_caught(leader, test):
    suite, clock = TestLeaderContract(), ManualClock()
    bad = leader(None, clock)
    bad.open()

    with pytest.raises(AssertionError):
        getattr(suite, test)(bad, clock)


JOINTS = LeaderInfo(limbs=("arm",), emits="joints", joint_names={"arm": ("a", "b")})
POSE = LeaderInfo(limbs=("arm",))


def pose(rotation=((1, 0, 0), (0, 1, 0), (0, 0, 1)), translation=(0, 0, 0), **fields):
    T = pin.SE3(np.array(rotation, dtype=float), np.array(translation, dtype=float))
    return LimbCommand(T_leader_base_leader_eef=T, **fields)


@pytest.mark.parametrize(
    ("info", "command"),
    [
        (JOINTS, LimbCommand(q=np.zeros(2))),
        (JOINTS, LimbCommand(q=readonly([0]))),
        (JOINTS, LimbCommand(q=readonly([0, np.nan]))),
        (JOINTS, pose()),
        (POSE, LimbCommand(q=readonly([0, 0]))),
        (POSE, LimbCommand()),
        (POSE, pose(rotation=1.001 * np.eye(3))),
        (POSE, pose(rotation=np.diag([1, 1, -1]))),
        (POSE, pose(translation=(0, np.inf, 0))),
        (POSE, pose(opening=0.5)),
        (replace(POSE, has_gripper=True), pose(opening=1.1)),
    ],
    ids=[
        "writable",
        "too short",
        "nan",
        "pose for joints",
        "joints for pose",
        "nothing",
        "not unit",
        "mirrored",
        "inf",
        "undeclared gripper",
        "too open",
    ],
)
def test_bad_sample_is_caught(info, command):
    sample = LeaderSample(stamp_ns=1, seq=1, limbs={"arm": command})

    with pytest.raises(AssertionError):
        check_sample(info, sample)


class Spring(FeedbackLaw):
    def initial(self):
        return None

    def compute(self, inputs, state):
        return np.nan_to_num(inputs.q_follower - inputs.q), state

    def stiffness(self, inputs):
        K = np.diag(1.0 * np.isfinite(inputs.q_follower))
        return Stiffness(np.zeros_like(K), K)


class Remembering(Spring):
    """Has a memory beside its state."""

    n_calls = 0

    def compute(self, inputs, state):
        self.n_calls += 1
        return self.n_calls * super().compute(inputs, state)[0], state


class TestFeedbackLawContract(FeedbackLawContract):
    def make_law(self):
        return Spring(None)


def test_law_with_a_memory_is_caught():
    with pytest.raises(AssertionError):
        TestFeedbackLawContract().test_the_same_inputs_give_the_same_torques(
            Remembering(None)
        )


def test_manual_clock_moves_by_hand_and_never_back():
    clock = ManualClock(now_ns=5)

    assert clock() == clock() == 5
    assert clock.advance(1e-9) == 6
    with pytest.raises(ValueError, match="dt >= 0"):
        clock.advance(-1.0)
