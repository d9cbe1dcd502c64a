"""When something is rendered, when nothing is, and what never gets through."""

from dataclasses import replace

import numpy as np
import pytest
from feel_rig import FeelRig, Hand, make_settings

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import FeedbackLaw
from paprle.contracts.types import (
    Feedback,
    GateState,
    JointState,
    LeaderSample,
    SessionState,
    readonly,
)
from paprle.haptics.composer import Composer, Handle, LawTorques
from paprle.haptics.haptics import SessionNotice, make_haptics
from paprle.haptics.thread import FeedbackThread, Sources
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout

RIG = {"damping": 0.2}
SOFT = {"tracking": {"k_gate": 0.5, "k_follower": 0.1}}


def make_rig(**changes):
    """A leader 0.3 rad from a gate that stands at 0, half a second after it came."""
    laws = {**SOFT, **changes.pop("laws", {})}
    settings = make_settings(RIG, **laws, options=changes.pop("options", {}))
    hand = Hand(lambda t: np.array([min(0.3, 0.6 * t)]), 60.0, 1.0)
    rig = FeelRig(settings, hand=hand, command=np.zeros_like, **changes)
    rig.run(1.0)
    return rig


@pytest.mark.long
def test_renders_while_the_leader_drives():
    assert make_rig().tau[0] == pytest.approx(-0.15, rel=0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param({"is_engaged": False}, id="not engaged"),
        pytest.param({"session_state": SessionState.STOPPED}, id="stopped"),
        pytest.param({"session_state": SessionState.CLOSING}, id="closing"),
        pytest.param({"gate_state": GateState.HOLD}, id="the gate holds"),
        pytest.param({"gate_state": GateState.STOPPED}, id="the gate stopped"),
    ],
)
def test_nothing_of_the_follower_is_felt_when(spoil):
    rig = make_rig()
    for name, value in spoil.items():
        setattr(rig, name, value)
    rig.run(0.05)

    assert np.all(rig.tau == 0.0)


def ask(
    rig, age_ns=0, *, status_age_ns=0, meas_age_ns=0, session_age_ns=0, **sample_changes
):
    """Let 10 ms pass, and hand in what is so old."""
    rig.now_ns += 10**7
    sample = LeaderSample(
        stamp_ns=rig.now_ns - age_ns,
        seq=1,
        limbs={},
        leader_state=JointState(
            joint_names=rig.names, q=readonly([0.3]), dq=readonly([0.0])
        ),
    )
    status = rig._status.copy()
    status["stamp_ns"] = rig.now_ns - status_age_ns
    status["meas_ns"] = rig.now_ns - max(status_age_ns, meas_age_ns)
    view = SessionNotice(rig.now_ns - session_age_ns, rig.session_state, True)
    return rig.haptics.step(rig.now_ns, replace(sample, **sample_changes), view, status)


OLD = 51_000_000


@pytest.mark.long
def test_stale_data_leave_a_limp_leader():
    """F1: 50 ms."""
    rig = make_rig()

    assert ask(rig, 49_000_000)["arm"][0] < 0.0
    assert ask(rig, OLD) == {}
    assert ask(make_rig(), session_age_ns=OLD) == {}
    assert ask(make_rig(), status_age_ns=OLD)["arm"][0] == 0.0
    assert ask(make_rig(), meas_age_ns=OLD)["arm"][0] == 0.0


@pytest.mark.long
def test_a_slow_follower_may_be_as_old_as_its_gate_lets_it():
    """L3: three periods of 40 ms."""
    rig = make_rig()
    rig.haptics.follower._period_ns = 40e6

    assert ask(rig, meas_age_ns=110_000_000)["arm"][0] < 0.0
    assert ask(rig, meas_age_ns=130_000_000)["arm"][0] == 0.0


@pytest.mark.long
def test_feedback_after_a_stall_of_a_second_fades_in():
    """Meanwhile the leader went limp: it renders nothing older than 50 ms."""
    rig = make_rig()
    before = rig.tau[0]
    rig.now_ns += 10**9
    first, soon = (abs(ask(rig)["arm"][0]) if i else ask(rig) for i in range(2))
    later = [abs(ask(rig)["arm"][0]) for _ in range(60)]

    assert first == {}
    assert soon <= 0.05 * abs(before)
    assert np.all(np.diff(later) >= -1e-12)
    assert later[-1] == pytest.approx(abs(before), rel=0.05)


@pytest.mark.long
def test_nothing_is_asked_of_a_joint_that_has_let_go():
    rig = make_rig()
    held = rig.haptics.joints.names[0]
    for _ in range(4):
        tau = ask(rig, limp_joints=(held,))["arm"]

    assert tau[0] == 0.0
    assert ask(rig)["arm"][0] < 0.0


@pytest.mark.long
def test_an_absent_hand_feels_nothing():
    assert ask(make_rig(), engaged=False)["arm"][0] == 0.0
    assert ask(make_rig(), valid=False) == {}
    assert ask(make_rig(), leader_state=None) == {}


@pytest.mark.long
def test_a_leader_that_is_too_fast_is_damped_and_nothing_else():
    rig = make_rig()
    rig.hand = Hand(lambda t: np.array([30.0 * t]), 60.0, 1.0)
    rig.run(0.5)

    assert rig.motors.dq[0] > 8.0
    assert rig.tau[0] == pytest.approx(-0.15)  # damping, at its cap
    assert np.all(rig.tau * rig.motors.dq <= 0.0)


@pytest.mark.long
def test_comes_in_softly_and_changes_no_faster_than_the_caps_rise():
    rig = make_rig()
    tau = np.array(rig.trace["tau"])[:, 0]
    steps = np.abs(np.diff(tau))

    assert np.abs(tau[:40]).max() < 0.05  # a tenth of a second of half a second's ramp
    assert steps.max() <= 0.15 / 0.03 * rig.period + 1e-12


@pytest.mark.long
def test_no_torque_beyond_the_cap():
    rig = make_rig(laws={"tracking": {"k_gate": 3.0, "k_follower": 0.1}})

    assert np.abs(np.array(rig.trace["tau"])).max() <= 0.15 + 1e-12


@pytest.mark.long
def test_a_press_of_seconds_gets_the_cap_and_one_of_minutes_a_fifth_of_stall():
    settings = make_settings(RIG)
    composer = Composer(settings, np.array([0.3, 0.3]), np.full(2, 0.1), 400.0)
    asked = LawTorques(np.array([1.0, 0.1]), np.zeros(2), np.ones(2, dtype=bool))
    sizes = [composer.compose(asked, np.zeros(2), 0.01, ()).copy() for _ in range(6000)]

    assert sizes[200][0] == pytest.approx(0.3)
    assert sizes[-1][0] == pytest.approx(0.2, rel=0.02)  # 3/10 of 1 N·m are the cap
    assert sizes[-1][1] == pytest.approx(0.1)
    assert np.abs(np.diff(np.array(sizes)[200:], axis=0)).max() < 1e-3


@pytest.mark.long
def test_laws_of_the_leader_itself_work_before_it_drives():
    rig = make_rig(laws={"bias": {"stiffness": 0.2}}, options={"base": {"arm": (0.0,)}})
    rig.is_engaged = False
    rig.run(0.3)

    assert rig.tau[0] == pytest.approx(-0.06, rel=0.05)


class Broken(FeedbackLaw):
    def initial(self):
        return None

    def compute(self, inputs, state):  # noqa: ARG002
        return np.full(inputs.q.size, np.nan), None


@pytest.mark.long
def test_a_law_that_is_not_finite_leaves_a_limp_leader():
    rig = make_rig()
    rig.haptics._laws = (rig.haptics._laws[0]._replace(law=Broken(None)),)
    rig.run(0.05)

    assert np.all(rig.tau == 0.0)
    assert rig.haptics.n_bad > 0


@pytest.mark.long
def test_lost_packets_are_a_late_status_and_no_more():
    rig = make_rig(loss=0.1)

    assert rig.tau[0] == pytest.approx(-0.15, rel=0.05)


@pytest.mark.parametrize("leader_share", [0.0, 0.5, 1.0])
def test_the_force_at_the_handle_is_capped(leader_share):
    """Whoever asks for it, the follower or the leader's own laws."""
    asked = np.array([3.0, 4.0])
    settings = make_settings(RIG, options={"handle_force": 5.0})
    composer = Composer(settings, np.full(2, 100.0), np.full(2, 0.1), 400.0)
    J = np.zeros((6, 2))
    J[0, 0], J[1, 1] = 0.25, 0.25
    drives = np.full(2, leader_share < 1.0)
    wanted = LawTorques(leader_share * asked, (1.0 - leader_share) * asked, drives)
    for _ in range(1000):
        tau = composer.compose(wanted, np.zeros(2), 0.0025, [Handle(slice(0, 2), J)])

    assert np.linalg.norm(tau) / 0.25 == pytest.approx(5.0, rel=0.02)
    assert tau[1] / tau[0] == pytest.approx(4.0 / 3.0)


@pytest.mark.parametrize(
    ("options", "rig", "message"),
    [
        ({"torque_cap": {"arm/joint9": 0.1}}, {}, "unknown joint; did you mean"),
        ({"base": {"leg": (0.0,)}}, {}, "feedback.base.leg: unknown limb"),
        ({"base": {"arm": (0.0, 1.0)}}, {}, "expected 1 positions, or with its"),
        ({}, {"viscous": {"arm/joint1": -1.0}}, "expected more than 0, got -1"),
    ],
)
def test_settings_of_what_is_not_there_are_refused(options, rig, message):
    settings = make_settings({**RIG, **rig}, options=options)
    with pytest.raises(ConfigError, match=message):
        FeelRig(settings)


def test_a_leader_that_says_where_it_rests_needs_no_base():
    resolved = resolve(
        ("leader=puppeteer_papras_7dof", "follower=papras_7dof", "env=kinematic",
         "feedback.laws.bias.stiffness=0.01")
    )  # fmt: skip
    leader = make_leader(resolved).info
    robot = make_robot(resolved)
    layout = make_layout(robot.info, leader)
    base = make_haptics(
        resolved.feedback, robot, leader, resolved.retarget, layout
    ).joints.base

    assert np.array_equal(base[:7], leader.arms["arm"].reset_q)
    assert np.any(base[:7] != 0.0)
    assert np.isnan(base[7])


# --- the thread ----------------------------------------------------------------------


class Puppet:
    is_at_rest = True

    def __init__(self, sample):
        self.sample, self.applied = sample, []

    def latest(self):
        return self.sample

    def apply(self, feedback):
        self.applied.append(feedback)


def make_thread(haptics, sample, said):
    told = Feedback(stamp_ns=1, state=SessionState.ENGAGED, episode=3, is_engaged=True)
    puppet = Puppet(sample)
    sources = Sources(lambda: told, lambda: None, lambda: None)
    thread = FeedbackThread(haptics, puppet, sources, 400.0, said.append)
    return thread, puppet


class Failing:
    def step(self, *_):
        raise ValueError("a bug")


def test_a_thread_that_fails_says_so_and_leaves_a_limp_leader():
    said = []
    thread, puppet = make_thread(Failing(), None, said)
    thread.start()
    thread.join(5.0)

    assert not thread.is_alive()
    assert said == ["ValueError: a bug; the leader is limp"]
    assert puppet.applied[-1].tau == {}
    assert puppet.applied[-1].state is SessionState.ENGAGED


def test_messages_of_the_session_go_on_with_the_torques():
    class Half:
        def step(self, *_):
            return {"arm": np.array([0.5])}

    thread, puppet = make_thread(Half(), None, [])
    thread.step(77)

    assert puppet.applied[-1].episode == 3
    assert puppet.applied[-1].stamp_ns == 77
    assert puppet.applied[-1].tau["arm"] == [0.5]


def test_a_closed_thread_has_let_go():
    class Half:
        def step(self, *_):
            return {"arm": np.array([0.5])}

    thread, puppet = make_thread(Half(), None, [])
    thread.start()
    thread.close()

    assert not thread.is_alive()
    assert puppet.applied[-1].tau == {}
