"""What the IK of a stream of poses asks for can be done, whatever is asked of it."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from adversary import judge_joints
from retargeting import load_robot

from paprle.contracts.settings.core import GateSettings, IkSettings
from paprle.gate.gate import Gate
from paprle.kinematics.robot_solver import LimbSolver

H = 0.005
MARGIN = GateSettings().position_margin
ARMS = ["papras_7dof", "ur5e"]


class Follower:
    """The first limb of a robot, led by poses; what the gate makes of it beside."""

    def __init__(self, name, q=None, **ik):
        self.robot = load_robot(name)
        self.limb = next(iter(self.robot.limbs.values()))
        self.solver = LimbSolver(self.robot, IkSettings(**ik), MARGIN)
        self.gate = Gate(self.robot.info, GateSettings(), h=H)
        q_limb = self.limb.home if q is None else q
        self.q = self.limb.put(self.robot.home, q_limb)
        self.gate.reset(self.q)
        self.asked = np.zeros(len(self.robot.limbs), dtype=bool)
        self.asked[0] = True
        self.anywhere = np.full(len(self.q), np.nan)

    def step(self, T, h=H):
        """Return the joints of the limb, and the error that is left, [m] and [rad]."""
        poses = np.array([np.eye(4)] * len(self.asked))
        poses[0] = T
        before = self.q
        self.q, errors, _ = self.solver.solve(
            poses, self.asked, self.anywhere, self.q, self.gate.q_cmd, h
        )
        if h > 0.0:
            self.gate.step(self.q, h, dq_des=(self.q - before) / h)
        return self.limb.take(self.q), errors[:, 0]

    def follow(self, poses):
        """Return what was answered, shape (k, n), and the errors, shape (k, 2)."""
        answers = [self.step(T) for T in poses]
        return np.array([a[0] for a in answers]), np.array([a[1] for a in answers])


def fk(limb, qs):
    return [limb.fk(q).homogeneous for q in qs]


def make_sines(limb, rng, n, speed):
    """Joints that begin at rest, within V, A and the limits; shape (n, joints)."""
    t = np.arange(n)[:, None] * H
    omega = rng.uniform(1.0, 2.5, len(limb.home))
    grown = np.minimum(t / 0.5, 1.0) ** 2 * (3.0 - 2.0 * np.minimum(t / 0.5, 1.0))
    return limb.home + grown * speed / omega * np.sin(omega * t)


@pytest.mark.long
@pytest.mark.parametrize("name", ARMS)
def test_motion_within_the_limits_is_followed(name):
    limb = next(iter(load_robot(name).limbs.values()))
    qs = make_sines(limb, np.random.default_rng(1), 300, 0.4)

    _, errors = Follower(name).follow(fk(limb, qs))

    assert np.median(errors[:, 0]) < 1e-6
    assert errors[:, 0].max() < 1e-5
    assert errors[:, 1].max() < 1e-5


def test_a_smooth_motion_goes_straight_through_a_straight_elbow():
    t, rng = np.arange(1200) * H, np.random.default_rng(3)
    for _ in range(4):
        omega, phase = rng.uniform(0.8, 1.6, 6), rng.uniform(0, 2 * np.pi, 6)
        slow = np.where(t < 1.0, 0.5 * t * t, t - 0.5)
        qs = 0.5 * (np.sin(np.outer(slow, omega) + phase) - np.sin(phase))
        qs += np.where(np.arange(6) == 2, -0.2, 0.8)
        follower = Follower("ur5e", qs[0])

        found, errors = follower.follow(fk(follower.limb, qs))

        assert np.ptp(np.sign(qs[:, 2])) == 2.0
        assert np.max(np.abs(found - qs)) < 0.05
        assert np.max(errors, axis=0) == pytest.approx([0.0, 0.0], abs=1e-3)


def draw_poses(limb, rng, kind, n):
    """Targets that ask for more than an arm can do."""
    low, high = np.maximum(limb.q_min, -3.0), np.minimum(limb.q_max, 3.0)
    ends = [limb.fk(rng.uniform(low, high)).homogeneous for _ in range(2)]
    if kind == "leaps":
        return [ends[k // 37 % 2] for k in range(n)]
    if kind == "far":
        out = ends[0].copy()
        out[:3, 3] *= 3.0 / np.linalg.norm(out[:3, 3])
        return [out if k // 80 % 2 else ends[1] for k in range(n)]
    if kind == "noise":
        return [limb.fk(rng.uniform(low, high)).homogeneous for _ in range(n)]
    spoilt = np.full((4, 4), np.nan)
    return [spoilt if k % 11 == 0 else ends[k // 50 % 2] for k in range(n)]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["leaps", "far", "noise"])
def test_any_request_gives_an_answer_within_every_limit(name, kind):
    follower = Follower(name)
    rng, limb = np.random.default_rng(5), follower.limb
    asked, sent = [], []
    for T in draw_poses(limb, rng, kind, 300):
        follower.step(T)
        asked.append(follower.q)
        sent.append(follower.gate.q_limited.copy())

    unlimited = replace(follower.robot.info, dddq_max=None)  # J is the gate's alone
    assert judge_joints(asked, unlimited, H).is_ok
    # so the gate has nothing to do but to send it
    np.testing.assert_allclose(sent, asked, rtol=0, atol=1e-9)


def test_an_invalid_pose_moves_nothing_and_is_forgotten():
    follower = Follower("papras_7dof")
    poses = draw_poses(follower.limb, np.random.default_rng(5), "spoilt", 60)

    answers, errors = follower.follow(poses)

    assert np.isnan(errors[::11]).all()
    assert np.isfinite(answers).all()
    np.testing.assert_array_equal(answers[11], answers[10])


@pytest.mark.parametrize("name", ARMS)
def test_a_target_that_stays_is_rested_at(name):
    follower = Follower(name)
    goal = follower.limb.home + 0.2
    T = follower.limb.fk(goal).homogeneous

    answers, errors = follower.follow([T] * 700)

    assert errors[-1, 0] < 1e-6
    np.testing.assert_array_equal(answers[-1], answers[-2])


@pytest.mark.parametrize("name", ARMS)
def test_out_of_reach_it_settles_and_comes_back(name):
    follower = Follower(name)
    T = follower.limb.fk(follower.limb.home).homogeneous
    out = T.copy()
    out[:3, 3] *= 3.0 / np.linalg.norm(out[:3, 3])

    answers, errors = follower.follow([out] * 800)
    _, back = follower.follow([T] * 600)

    assert np.abs(np.diff(answers[-20:], axis=0)).max() < 0.01 * H
    reach = sum(np.linalg.norm(p) for p in (*follower.limb.tree.p, follower.limb.p_eef))
    assert errors[-1, 0] < 3.0 - 0.5 * reach
    assert back[-1, 0] < 1e-6


def test_a_moment_of_no_length_moves_nothing():
    follower = Follower("papras_7dof")
    goal = follower.limb.home + 0.2
    T = follower.limb.fk(goal).homogeneous
    moving, _ = follower.step(T)

    still, _ = follower.step(T, 0.0)
    going_on, _ = follower.step(T)

    np.testing.assert_array_equal(still, moving)
    A = follower.robot.ddq_max[follower.limb.indices]
    first, second = moving - follower.limb.home, going_on - moving
    assert (np.abs(second - first) <= A * H**2 * (1.0 + 1e-6)).all()
    assert np.abs(second).max() > 1.5 * np.abs(first).max()


def test_a_jump_from_the_last_answer_starts_from_rest():
    follower = Follower("papras_7dof")
    limb = follower.limb
    T = limb.fk(limb.home + 0.2).homogeneous
    follower.follow([T] * 20)

    follower.q = limb.put(follower.q, limb.home)
    follower.gate.reset(follower.q)
    answer, _ = follower.step(T)

    A = follower.robot.ddq_max[limb.indices]
    assert (np.abs(answer - limb.home) <= A * H**2).all()


def test_a_joint_without_mobility_stays():
    name = "papras_7dof"
    still = next(iter(load_robot(name).limbs.values())).joint_names[2]
    follower = Follower(name, mobility={still: 0.0})
    T = follower.limb.fk(follower.limb.home + 0.1).homogeneous

    answers, _ = follower.follow([T] * 50)

    assert (answers[:, 2] == follower.limb.home[2]).all()
    assert not np.array_equal(answers[-1], follower.limb.home)


@pytest.mark.parametrize("free_axis", ["x", "z"])
def test_a_tool_without_a_side_is_followed(free_axis):
    follower = Follower("ur5e", free_axis=free_axis)
    limb = follower.limb
    turn = np.zeros(3)
    turn["xyz".index(free_axis)] = 1.0
    T = limb.fk(limb.home) * pin.SE3(pin.exp3(turn), np.full(3, 0.02))

    _, errors = follower.follow([T.homogeneous] * 300)

    assert errors[-1].max() < 1e-6


@pytest.mark.long
def test_a_limb_with_few_joints_moves_within_v_and_a_on_a_leaping_target():
    follower, rng = Follower("open_manipulator_x"), np.random.default_rng(5)
    limb, robot = follower.limb, follower.robot
    poses = [limb.fk(rng.uniform(limb.q_min, limb.q_max)).homogeneous for _ in range(9)]

    qs, _ = follower.follow([T for T in poses for _ in range(60)])

    dq = np.diff(np.vstack([limb.home, qs]), axis=0) / H
    ddq = np.diff(np.vstack([np.zeros_like(limb.home), dq]), axis=0) / H
    assert (np.abs(dq) <= limb.dq_max * (1 + 1e-6)).all()
    assert (np.abs(ddq) <= robot.ddq_max[limb.indices] * (1 + 1e-6)).all()
    assert (qs >= limb.q_min).all()
    assert (qs <= limb.q_max).all()
