"""The follower seen from the leader: joints, grippers, poses, work."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from paprle.config import resolve
from paprle.contracts.settings.feedback import RigSettings
from paprle.haptics.arm import HapticArm
from paprle.haptics.follower_model import FollowerModel
from paprle.haptics.haptics import make_haptics
from paprle.haptics.mirror import JointLink, JointMirror, PoseMirror, find_links
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot, make_through
from paprle.ipc.records import SampleView, make_layout
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import make_pairing
from paprle.retargeting.retarget import Retargeting


def test_joints_come_back_through_gain_and_offset():
    mirror = JointMirror([JointLink(0, 1, -2.0, 0.3), JointLink(2, 0, 0.5, 0.0)], 3)
    q_leader = np.array([0.4, np.nan, -1.0])
    q_robot = np.array([0.5 * -1.0, -2.0 * 0.4 + 0.3])

    assert np.allclose(mirror.positions(q_robot), q_leader, equal_nan=True)
    assert mirror.is_driven.tolist() == [True, False, True]


def test_efforts_do_the_same_work_on_both_sides():
    """tau_leader dq_leader = tau_follower dq_follower, or feel would be free energy."""
    mirror = JointMirror([JointLink(0, 1, -2.0, 0.3), JointLink(1, 0, 0.5, 0.0)], 2)
    dq_leader, tau = np.array([0.7, -0.2]), np.array([1.5, -0.4])
    dq_robot = np.array([0.5 * -0.2, -2.0 * 0.7])

    assert mirror.efforts(tau) @ dq_leader == pytest.approx(tau @ dq_robot)


def test_unmeasured_efforts_stay_unmeasured_joint_by_joint():
    mirror = JointMirror([JointLink(0, 0, 1.0, 0.0), JointLink(1, 1, 1.0, 0.0)], 2)
    tau = mirror.efforts(np.array([np.nan, 2.0]))

    assert np.isnan(tau[0])
    assert tau[1] == 2.0


def test_one_joint_that_drives_two_feels_their_mean_and_both_efforts():
    mirror = JointMirror([JointLink(0, 0, 1.0, 0.0), JointLink(0, 1, 1.0, 0.2)], 1)

    assert mirror.positions(np.array([0.1, 0.5]))[0] == pytest.approx(0.2)
    assert mirror.efforts(np.array([1.0, 2.0]))[0] == pytest.approx(3.0)
    assert mirror.gain_squared.tolist() == [2.0]


def test_limits_come_back_in_order_whatever_the_sign():
    mirror = JointMirror([JointLink(0, 0, -2.0, 0.0)], 2)
    low, high = mirror.bounds(np.array([-1.0]), np.array([3.0]))

    assert low.tolist() == [-1.5, -np.inf]
    assert high.tolist() == [0.5, np.inf]


@pytest.fixture(scope="module")
def papras():
    args = ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic")
    resolved = resolve(args)
    return resolved, make_leader(resolved).info, make_robot(resolved)


def test_a_trigger_stands_for_the_followers_gripper(papras):
    resolved, leader, robot = papras
    pairing = make_pairing(robot, leader, resolved.retarget, load_arms(leader))
    mirror = JointMirror(find_links(robot, leader, pairing), 8)
    limb, own = robot.info.limbs[0].gripper, leader.arms["arm"].gripper
    for opening in (0.0, 0.25, 1.0):
        q = np.zeros(len(robot.joint_names))
        at = robot.joint_names.index(limb.joint)
        q[at] = limb.closed + opening * (limb.open - limb.closed)
        expected = own.closed + opening * (own.open - own.closed)

        assert mirror.positions(q)[7] == pytest.approx(expected)


class TestPoses:
    """UR5 puppeteer on PAPRAS: its pose drives, or that of the UR5e it stands for."""

    @pytest.fixture(
        params=[("world", "null"), ("body", "null"), ("world", "ur5e")],
        ids="-".join,
    )
    def pair(self, request):
        alignment, through = request.param
        args = ("leader=puppeteer_ur5", "follower=papras_7dof", "env=kinematic")
        more = (
            f"retarget.alignment={alignment}",
            f"retarget.through={through}",
            "retarget.scale=1.7",
            "retarget.rpy_xyz_extrinsic=[0.1,0.2,-0.4]",
        )
        resolved = resolve((*args, *more))
        leader, robot = make_leader(resolved).info, make_robot(resolved)
        retargeting = Retargeting(
            robot, leader, resolved.retarget, through=make_through(resolved)
        )
        return leader, robot, retargeting

    def anchor(self, pair, q_leader):
        leader, robot, retargeting = pair
        layout = make_layout(robot.info, leader)
        record = np.zeros((), layout.sample)
        record["valid"], record["pose"], record["opening"] = True, np.nan, 0.5
        record["q"][0, : len(q_leader)] = q_leader
        view = SampleView(layout)
        view.update(record)
        retargeting.arm_poses.place(view)
        state = retargeting.anchor(view, robot.home)
        return state, retargeting.retarget(view, state)

    def make_arm(self, pair):
        leader, _, retargeting = pair
        own, driving = load_arms(leader)["arm"], retargeting.pairing.arms["arm"]
        return HapticArm(own, leader.arms["arm"], driving)

    def find(self, pair, state, arm, q, q_robots):
        leader, robot, retargeting = pair
        mirror = PoseMirror(robot, retargeting.pairing, "arm")
        return mirror.find(arm.place(q), state.anchors, q_robots)

    def test_a_leader_that_has_not_moved_is_nowhere_displaced(self, pair):
        _, robot, _ = pair
        arm = self.make_arm(pair)
        q = np.array([0.3, -1.0, 1.2, -0.4, -0.5, 0.2, 0.0])
        state, _ = self.anchor(pair, q[:6])
        moves = self.find(pair, state, arm, q, (robot.home,) * 3)

        assert np.allclose(moves[:3], 0.0, atol=1e-9)

    def test_a_small_motion_of_the_leader_is_its_jacobian(self, pair):
        """dx_gate falls by S J dq, so that Jᵀ S K dx is a spring, and J is its own."""
        _, robot, _ = pair
        arm = self.make_arm(pair)
        q = np.array([0.3, -1.0, 1.2, -0.4, -0.5, 0.2, 0.0])
        state, _ = self.anchor(pair, q[:6])
        dq = 1e-5 * np.array([1.0, -2.0, 0.5, 1.5, -1.0, 0.3, 0.0])
        moves = self.find(pair, state, arm, q + dq, (robot.home,) * 3)
        S = np.array([1.7] * 3 + [1.0] * 3)
        expected = -S * (arm.place(q).J @ dq[:6])

        assert np.allclose(moves.gate, expected, atol=1e-8)

    def test_a_follower_that_lags_is_found_behind(self, pair):
        _, robot, _ = pair
        arm = self.make_arm(pair)
        q = np.array([0.3, -1.0, 1.2, -0.4, -0.5, 0.2, 0.0])
        state, _ = self.anchor(pair, q[:6])
        behind = robot.home + 0.02
        moves = self.find(pair, state, arm, q, (robot.home, behind, robot.home))

        assert np.allclose(moves.gate, 0.0, atol=1e-9)
        assert np.allclose(moves.follower, moves.model)
        assert np.linalg.norm(moves.follower[:3]) > 1e-3


def test_force_is_felt_by_the_robot_that_stands_for_the_arm_and_capped_by_its_own():
    """tau = Jᵀ F of the hand that drives; what pushes the operator is the handle."""
    words = "leader=puppeteer_ur5", "follower=papras_7dof", "env=kinematic"
    resolved = resolve((*words, "retarget.through=ur5e"))
    leader = make_leader(resolved).info
    (own,) = load_arms(leader).values()
    (robot,) = load_arms(leader, make_through(resolved)).values()
    arm = HapticArm(own, leader.arms["arm"], robot)
    q = np.array([0.3, -1.0, 1.2, -0.4, -0.5, 0.2, 0.0])
    at, alone = arm.place(q), HapticArm(own, leader.arms["arm"]).place(q)
    T = pin.SE3(leader.arms["arm"].R_base, np.zeros(3)) * robot.fk(q[:6])

    assert np.allclose(at.p, T.translation)
    assert np.allclose(at.R, T.rotation)
    assert np.allclose(at.J, robot.jacobian(q[:6]))
    assert np.allclose(at.J_handle, own.jacobian(q[:6]))
    assert np.linalg.norm(at.J[:3]) > 1.5 * np.linalg.norm(at.J_handle[:3])
    assert np.array_equal(at.gravity, alone.gravity)
    assert np.array_equal(alone.J, alone.J_handle)


@pytest.mark.parametrize("tau_max", [0.52, 100.0, None])
def test_the_largest_torque_is_the_motors_or_the_urdfs_whichever_is_less(
    papras, tau_max
):
    """The URDF of a full-size arm does not make servos larger."""
    _, leader, _ = papras
    own = load_arms(leader)["arm"]
    by_urdf = HapticArm(own, replace(leader.arms["arm"], tau_max=None)).effort
    row = None if tau_max is None else np.full(len(by_urdf), tau_max)

    effort = HapticArm(own, replace(leader.arms["arm"], tau_max=row)).effort

    assert effort.tolist() == np.minimum(by_urdf, tau_max or np.inf).tolist()


def test_weight_is_what_holds_the_arm_against_it(papras):
    """By the derivative of potential energy, turned as the arm is mounted."""
    _, leader, _ = papras
    arm = HapticArm(load_arms(leader)["arm"], leader.arms["arm"])
    q = np.linspace(-0.5, 0.6, 8)
    energies = []
    for sign in (1.0, -1.0):
        row = []
        for i in range(8):
            d = np.zeros(8)
            d[i] = sign * 1e-6
            arm.place(q + d)
            full = arm._spread(q + d)
            row.append(pin.computePotentialEnergy(arm._model, arm._data, full))
        energies.append(row)
    slope = (np.array(energies[0]) - np.array(energies[1])) / 2e-6

    assert np.allclose(arm.place(q).gravity, slope, atol=1e-6)
    assert np.abs(slope).max() > 0.05
    gradient = arm.gravity_gradient(q)
    assert np.allclose(gradient, gradient.T, atol=1e-9)


# --- what contact shows in ------------------------------------------------------------

NAMES = ("a1", "a2", "a_grip", "b1", "b_grip")
PARTS = [np.array(part) for part in ([0, 1], [2], [3], [4])]
MS = 1_000_000


def follow(model, off, duration=0.6):
    """Let the robot follow 1 rad/s but for what it is off by."""
    for ns in range(5 * MS, round(1e9 * duration), 5 * MS):
        q_cmd = np.full(len(NAMES), 1e-9 * ns)
        q_meas = np.where(np.array(off) != 0.0, q_cmd + off, model.q)
        model.update(ns, q_cmd, ns, q_meas, is_held=False)


@pytest.mark.parametrize(
    ("off", "is_free"),
    [
        ([0, 0, 0, 0, 0], [1, 1, 1, 1, 1]),
        ([0, 0, 0.5, 0, 0], [1, 1, 0, 1, 1]),
        ([0, 0.5, 0, 0, 0], [0, 0, 1, 1, 1]),
    ],
    ids=["free", "gripper", "arm"],
)
def test_a_held_object_is_no_contact_of_an_arm(off, is_free):
    model = FollowerModel(RigSettings(), NAMES, PARTS)
    follow(model, off)

    assert model.is_free.tolist() == [bool(one) for one in is_free]


def test_each_joint_has_its_own_lag():
    rig = RigSettings(dead_time=0.05, time_constant=0.1, lags={"a1": (0.01, 0.02)})
    model = FollowerModel(rig, NAMES, PARTS)
    follow(model, np.zeros(5))

    assert model.q[3] - model.q[0] == pytest.approx(0.03 - 0.15, abs=0.005)


def test_an_arm_and_its_gripper_are_told_apart_for_the_leader(papras):
    resolved, leader, robot = papras
    layout = make_layout(robot.info, leader)
    parts = resolved.feedback, robot, leader, resolved.retarget, layout
    side = make_haptics(*parts).follower
    grip = robot.joint_names.index(robot.info.limbs[0].gripper.joint)
    side.model.is_free[:] = True
    side.model.is_free[grip] = False

    assert side.find_free().tolist() == [True] * 7 + [False]
    side.model.is_free[:] = np.arange(len(robot.joint_names)) == grip
    assert side.find_free().tolist() == [False] * 7 + [True]
