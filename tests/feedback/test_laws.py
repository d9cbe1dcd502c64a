"""Each law moves a passive leader the right way and lets it come to rest there.

The leader is let go: motors with inertia and friction, and nobody's hand.
"""

import itertools
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from cells import spread
from feel_rig import Motors

from paprle.feedback.bias import Bias, BiasConfig
from paprle.feedback.damping import Damping, DampingConfig
from paprle.feedback.effort import Effort, EffortConfig
from paprle.feedback.friction import Friction, FrictionConfig
from paprle.feedback.gravity import Gravity, GravityConfig
from paprle.feedback.gripper import Gripper, GripperConfig
from paprle.feedback.posture import Posture, PostureConfig
from paprle.feedback.task_tracking import TaskTracking, TaskTrackingConfig
from paprle.feedback.tracking import Tracking, TrackingConfig
from paprle.feedback.wall import Wall, WallConfig
from paprle.testing import make_feedback_input

DT = 0.005
ARM = 3


def let_go(law, place, q_0, duration=6.0, sign=1.0, viscous=0.05):
    """Where the leader is in the end, and how fast; ``place(q)`` gives the inputs."""
    motors, state = Motors(q_0, viscous=viscous), law.initial()
    for _ in range(round(duration / DT)):
        inputs = replace(place(motors.q), q=motors.q, dq=motors.dq, dt=DT)
        tau, state = law.compute(inputs, state)
        motors.step(sign * tau, DT)
        if np.abs(motors.q).max() > 20.0:  # it has run away
            break
    return motors.q, motors.dq


def still(**changes):
    """Inputs in which nothing is in the way, and the follower stands at zero."""
    zero = np.zeros(ARM + 1)
    base = replace(
        make_feedback_input(ARM),
        **dict.fromkeys(("q_gate", "q_follower", "q_model", "q_base"), zero),
        **dict.fromkeys(("dx_gate", "dx_follower", "dx_model"), np.zeros(6)),
        q_min=zero - np.inf,
        q_max=zero + np.inf,
        clearance=np.inf,
        gravity=zero,
        held=zero + 1.0,
        held_limb=1.0,
    )
    return lambda _q: replace(base, **changes)


FREE = np.ones(ARM + 1, dtype=bool)
Q_0 = np.array([0.4, -0.3, 0.2, 0.5])
HERE = np.array([0.1, 0.2, -0.1, 0.0])
AT_REST = 1e-3


def test_bias_comes_to_rest_at_the_base():
    law = Bias(BiasConfig(stiffness=0.3))
    q, dq = let_go(law, still(q_base=HERE), Q_0)

    assert np.allclose(q, HERE, atol=AT_REST)
    assert np.allclose(dq, 0.0, atol=AT_REST)


@pytest.mark.parametrize("compensated", [True, False])
def test_tracking_comes_to_rest_where_the_gate_is(compensated):
    law = Tracking(TrackingConfig(is_compensated=compensated))
    here = HERE.copy()
    q, dq = let_go(law, still(q_gate=here, q_follower=here, q_model=here), Q_0)

    assert np.allclose(q[:ARM], here[:ARM], atol=AT_REST)
    assert np.allclose(dq, 0.0, atol=AT_REST)
    assert q[ARM] == Q_0[ARM]


def test_tracking_gives_way_to_what_holds_the_follower_back():
    """The follower is 0.1 rad short of where its command would have it."""
    law = Tracking(TrackingConfig(k_gate=0.3, k_follower=0.3))
    short = HERE - 0.1
    q, _ = let_go(law, still(q_gate=HERE, q_model=HERE, q_follower=short), Q_0)

    assert np.allclose(q[:ARM], HERE[:ARM] - 0.1, atol=AT_REST)


def test_gripper_comes_to_rest_at_the_followers():
    q, dq = let_go(Gripper(GripperConfig()), still(q_follower=HERE), Q_0)

    assert q[ARM] == pytest.approx(HERE[ARM], abs=AT_REST)
    assert np.array_equal(q[:ARM], Q_0[:ARM])
    assert np.allclose(dq, 0.0, atol=AT_REST)


@pytest.mark.parametrize(
    ("law", "place", "q_0"),
    [
        (Bias(BiasConfig(stiffness=0.3)), still(q_base=HERE), Q_0),
        (Tracking(TrackingConfig()), still(q_gate=HERE), Q_0),
        (Gripper(GripperConfig()), still(q_follower=HERE), Q_0),
    ],
    ids=["Eq. 7", "Eq. 8", "gripper"],
)
def test_with_the_printed_sign_the_leader_runs_away(law, place, q_0):
    q, _ = let_go(law, place, q_0, sign=-1.0)

    assert np.abs(q).max() > 20.0


class Elbow:
    """Three joints in a plane and out of it, so that J is worth its name."""

    def __init__(self):
        self.model = pin.buildSampleModelManipulator()
        self.data = self.model.createData()
        self.eef = self.model.nframes - 1

    def place(self, q):
        full = np.zeros(self.model.nq)
        full[:ARM] = q[:ARM]
        pin.forwardKinematics(self.model, self.data, full)
        T = pin.updateFramePlacement(self.model, self.data, self.eef).copy()
        J = pin.computeFrameJacobian(self.model, self.data, full, self.eef, pin.LOCAL)
        return T, J[:, :ARM]


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "scale", "sign"),
    spread(
        itertools.product(("transpose", "inverse"), (1.0, 3.0, 0.0), (1.0, -1.0)),
        ("transpose", 3.0, 1.0),
        ("transpose", 1.0, -1.0),
        ("inverse", 3.0, 1.0),
        ("inverse", 3.0, -1.0),
        ("inverse", 0.0, 1.0),
    ),
)
def test_task_tracking_brings_the_hand_to_where_the_follower_is(method, scale, sign):
    """With Eq. 9's frames and the scale undone; the other sign leads away."""
    arm = Elbow()
    T_there, _ = arm.place(HERE)
    config = TaskTrackingConfig(method=method, k_gate_rot=0.3)

    def place(q):
        T, J = arm.place(q)
        dx = np.concatenate(
            [
                scale * T.rotation.T @ (T_there.translation - T.translation),
                T.rotation.T @ pin.log3(T_there.rotation @ T.rotation.T),
            ]
        )
        return replace(still()(q), J=J, dx_gate=dx, scale=scale)

    def distance(q):
        T, _ = arm.place(q)
        turn = pin.log3(T_there.rotation @ T.rotation.T)
        return np.linalg.norm(turn) + (scale > 0) * np.linalg.norm(
            T_there.translation - T.translation
        )

    q_0 = HERE + np.array([0.15, -0.1, 0.1, 0.0])
    q, dq = let_go(TaskTracking(config), place, q_0, 5.0, sign)

    if sign < 0:
        assert distance(q) > 2 * distance(q_0)
    else:
        assert distance(q) < 0.1 * distance(q_0)
        assert np.allclose(dq, 0.0, atol=0.02)


def test_near_a_singularity_the_inverse_stays_bounded():
    """Rank one and a half: J† alone would ask for 1e6 times as much."""
    J = np.zeros((6, ARM))
    J[0, 0], J[1, 1] = 0.2, 1e-7
    config = TaskTrackingConfig(method="inverse", k_gate=1.0, damping=0.1)
    inputs = replace(still()(Q_0), J=J, scale=1.0, dx_gate=np.full(6, 0.1))
    tau, _ = TaskTracking(config).compute(inputs, None)

    assert np.abs(tau).max() <= 0.1 * np.sqrt(6) / 0.2 / (2 * 0.1)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_joint_limit_pushes_back_into_the_range(side):
    zero = np.zeros(ARM + 1)
    place = still(q_min=zero - 0.2, q_max=zero + 0.2)
    q, dq = let_go(Wall(WallConfig(margin=0.1)), place, zero + 0.3 * side)

    assert np.all(np.abs(q[:ARM]) <= 0.1 + AT_REST)
    assert np.all(q * side > 0.0)
    assert q[ARM] == 0.3 * side  # a trigger may rest at its end
    assert np.allclose(dq, 0.0, atol=AT_REST)


@pytest.mark.parametrize(
    ("clearance", "is_near", "is_felt"),
    [(np.inf, False, False), (0.01, False, True), (np.inf, True, True)],
)
def test_a_body_near_by_pushes_towards_the_gate(clearance, is_near, is_felt):
    place = still(q_gate=HERE, clearance=clearance, is_near=is_near)
    q, _ = let_go(Wall(WallConfig()), place, Q_0)
    expected = HERE[:ARM] if is_felt else Q_0[:ARM]

    assert np.allclose(q[:ARM], expected, atol=0.01)


def test_gravity_is_carried_by_its_share():
    inputs = make_feedback_input(ARM)
    tau, _ = Gravity(GravityConfig(share=0.7)).compute(inputs, None)

    assert np.allclose(tau, 0.7 * inputs.gravity)


def test_friction_helps_motion_and_never_more_than_there_is():
    law = Friction(FrictionConfig(viscous_share=0.5, coulomb_share=0.8))
    inputs = replace(make_feedback_input(ARM), dq=np.array([1.0, -1.0, 0.0, 9.0]))
    tau, state = law.compute(inputs, law.initial())
    for _ in range(40):
        tau, state = law.compute(inputs, state)
    there_is = inputs.viscous * np.abs(inputs.dq) + inputs.coulomb

    assert np.all(tau * inputs.dq >= 0.0)
    assert tau[2] == 0.0
    assert np.all(np.abs(tau) < there_is)
    assert np.all(law.damping(inputs) < 0.0)


def test_friction_is_as_smooth_as_the_motion_however_coarse_its_encoder():
    """0.3 rad/s in counts of 4096 a turn: a count in every second sample or none."""
    law, dt = Friction(FrictionConfig(coulomb_share=0.5)), 0.0025
    inputs, state, taus = make_feedback_input(ARM), law.initial(), []
    q = np.round(0.3 * dt * np.arange(400) * 4096 / (2 * np.pi)) * 2 * np.pi / 4096
    for dq in np.diff(q) / dt:
        tau, state = law.compute(replace(inputs, dq=np.full(4, dq), dt=dt), state)
        taus.append(tau[0] / (0.5 * inputs.coulomb[0]))

    assert np.mean(taus[100:]) == pytest.approx(np.tanh(1.0), abs=0.1)
    assert np.ptp(taus[100:]) < 0.25  # of what is cancelled; 0.97 without the filter


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_damping_stops_a_leader_sooner_and_the_other_sign_later(sign):
    """0.004 kg·m² at 1 rad/s with 0.05 N·m·s/rad of its own and as much again."""
    law = Damping(DampingConfig(lag=0.005))
    motors, state = Motors(np.zeros(ARM + 1), viscous=0.05), law.initial()
    motors.dq[:] = 1.0
    for _ in range(200):
        inputs = replace(still(is_free=~FREE)(None), q=motors.q, dq=motors.dq, dt=1e-3)
        tau, state = law.compute(inputs, state)
        motors.step(sign * tau, 1e-3)
    undamped = 0.004 / 0.05  # how far it coasts

    assert np.all(motors.q < 0.7 * undamped if sign > 0 else motors.q > 1.3 * undamped)


@pytest.mark.parametrize(
    ("changes", "is_felt", "is_in_grip"),
    [
        ({"is_free": FREE}, False, False),
        ({"is_free": FREE, "held_limb": 0.5}, True, False),
        ({"is_free": FREE, "held_by_gate": np.array([0, 0.5, 0, 0])}, True, False),
        ({"is_free": ~FREE}, False, True),
        ({"is_free": FREE, "is_near": True}, True, False),
        ({"is_free": FREE, "q_max": np.array([0.1, 9.0, 9.0, 9.0])}, True, False),
        ({"is_free": FREE, "q_max": np.array([9.0, 9.0, 9.0, 0.1])}, False, False),
    ],
)
def test_damping_is_for_contact_and_limits_alone(changes, is_felt, is_in_grip):
    law = Damping(DampingConfig())
    state, none = law.initial(), {"held_limb": 0.0, "held_by_gate": np.zeros(ARM + 1)}
    for _ in range(100):
        place = still(**{**none, **changes})
        inputs = replace(place(None), q=np.zeros(ARM + 1), dt=0.0025)
        tau, state = law.compute(replace(inputs, dq=np.ones(ARM + 1)), state)

    expected = [-0.05 * is_felt] * ARM + [-0.05 * is_in_grip]
    assert np.allclose(tau, expected, atol=1e-3)


class TestEffort:
    """A follower that moves freely unless said otherwise: 0.05 rad a step of 50 ms."""

    def feel(self, efforts, is_free=True, moves=True, **changes):
        law = Effort(EffortConfig(gain=0.1, deadband=0.2))
        state, q = law.initial(), np.zeros(ARM + 1)
        for k, effort in enumerate(efforts):
            q = q + 0.05 * (moves if np.isscalar(moves) else moves[k])
            free = is_free if np.isscalar(is_free) else is_free[k]
            inputs = replace(
                make_feedback_input(ARM),
                tau_follower=np.full(ARM + 1, effort),
                q_follower=q,
                dq=np.zeros(ARM + 1),
                held=np.zeros(ARM + 1),
                is_free=np.full(ARM + 1, free),
                dt=0.05,
            )
            tau, state = law.compute(replace(inputs, **changes), state)
        return tau[0]

    def test_pushes_against_what_the_drives_push_against(self):
        assert self.feel([0.5, 2.5], [True, False]) == pytest.approx(-0.1 * 1.8)

    def test_forgets_the_effort_of_free_motion_and_no_other(self):
        steady = [0.5] + [2.5] * 200

        assert self.feel(steady) == 0.0
        assert self.feel(steady, [True] + [False] * 200) == pytest.approx(-0.18)

    def test_a_steady_press_of_a_stiff_drive_is_felt_for_as_long(self):
        """Its position says nothing: 6.6 N·m at 600 N·m/rad are 11 mrad."""
        press = [0.5] * 20 + [7.1] * 400
        moves = [True] * 20 + [False] * 400

        assert self.feel(press, moves=moves) == pytest.approx(-0.1 * 6.4)

    def test_an_effort_that_jumps_while_the_arm_slides_on_is_not_learnt_at_once(self):
        slide = [0.5] * 20 + [7.1] * 6

        assert self.feel(slide) == pytest.approx(-0.1 * 6.4)

    def test_a_held_joint_learns_nothing(self):
        steady = [0.5] + [2.5] * 200

        assert self.feel(steady, held=np.full(ARM + 1, 0.5)) == pytest.approx(-0.18)

    def test_the_stiffness_is_that_of_the_measured_drives(self):
        law = Effort(EffortConfig(gain=0.1))
        drives = replace(make_feedback_input(ARM), drives=np.array([50, 200, 0, 100.0]))

        assert np.diag(law.stiffness(drives).delayed) == pytest.approx([5, 20, 0, 10])

    def test_effort_of_a_held_object_is_not_learned_as_free_effort(self):
        law, state = Effort(EffortConfig(gain=0.1, deadband=0.0)), None
        arm_alone, q = np.arange(ARM + 1) < ARM, np.zeros(ARM + 1)
        for k, effort in enumerate((0.0, *[1.0] * 200)):
            inputs = replace(
                make_feedback_input(ARM),
                tau_follower=np.full(ARM + 1, effort),
                q_follower=q + 0.05 * k,
                held=np.zeros(ARM + 1),
                is_free=arm_alone,
                dt=0.05,
            )
            tau, state = law.compute(inputs, state)

        assert tau == pytest.approx([0.0] * ARM + [-0.1], abs=1e-6)

    def test_not_measured_is_not_zero_effort(self):
        """Zeros would be an effort that went away; NaN says nothing at all."""
        assert self.feel([3.0, np.nan], [True, False]) == 0.0
        assert self.feel([3.0, 0.0], [True, False]) == pytest.approx(0.1 * 2.8)


class TestPosture:
    def place(self, n):
        rng = np.random.default_rng(1)
        inputs = make_feedback_input(n)
        return replace(inputs, J=rng.uniform(-0.5, 0.5, (6, n)))

    def test_moves_the_elbow_of_seven_joints_and_not_the_hand(self):
        inputs = self.place(7)
        tau, _ = Posture(PostureConfig(damping=1e-3)).compute(inputs, None)
        force = np.linalg.lstsq(inputs.J.T, tau[:7], rcond=None)[0]

        assert np.abs(tau[:7]).max() > 1e-3
        assert np.abs(force).max() < 1e-4
        assert tau[:7] @ (inputs.q_base - inputs.q)[:7] > 0.0

    def test_has_nothing_to_say_of_six(self):
        tau, _ = Posture(PostureConfig()).compute(self.place(6), None)

        assert not tau.any()
