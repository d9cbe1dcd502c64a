"""The feedback thread may be slow where nothing is rendered, and nowhere else."""

import time

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import Feedback, SessionState
from paprle.haptics.haptics import make_haptics
from paprle.haptics.thread import FeedbackThread, Sources
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout

LIMP = {"arm": np.zeros(1)}


class StubHaptics:
    """Returns what a test wants to be rendered."""

    renders_undriven = False

    def __init__(self):
        self.tau = LIMP

    def step(self, *_):
        return self.tau


class StubLeader:
    """A leader that nobody uses."""

    is_at_rest = True

    def __init__(self):
        self.applied = []

    def latest(self):
        return None

    def apply(self, feedback):
        self.applied.append(feedback)


class Rig:
    """A thread between the two, in a session that waits."""

    def __init__(self):
        self.haptics, self.leader, self.state = StubHaptics(), StubLeader(), "WAITING"
        sources = Sources(self.tell, lambda: None, lambda: None)
        self.thread = FeedbackThread(
            self.haptics, self.leader, sources, 400.0, pytest.fail
        )

    def tell(self):
        is_engaged = self.state == "ENGAGED"
        state = SessionState[self.state]
        return Feedback(stamp_ns=1, state=state, episode=0, is_engaged=is_engaged)

    def is_idle(self):
        self.thread.step(time.monotonic_ns())
        return self.thread.is_idle


@pytest.fixture
def rig():
    return Rig()


def test_feedback_idles_while_the_session_waits_and_the_leader_rests(rig):
    assert rig.is_idle()


@pytest.mark.parametrize("state", [s.name for s in SessionState if s.name != "WAITING"])
def test_feedback_never_idles_in_another_state(rig, state):
    rig.state = state

    assert not rig.is_idle()


@pytest.mark.parametrize("tau", [1e-9, -0.1])
def test_feedback_is_slower_while_a_torque_stands(rig, tau):
    rig.haptics.tau = {"arm": np.array([tau])}
    rig.is_idle()

    assert rig.is_idle()
    assert rig.thread.period_ns == 10_000_000


@pytest.mark.parametrize("tau", [0.02, np.nan, np.inf])
def test_feedback_never_idles_while_a_torque_changes(rig, tau):
    rig.haptics.tau = {"arm": np.array([0.01])}
    rig.is_idle()
    rig.haptics.tau = {"arm": np.array([tau])}

    assert not rig.is_idle()
    assert rig.thread.period_ns == 2_500_000


def test_a_torque_that_stands_ends_with_the_leader_s_rest(rig):
    rig.haptics.tau = {"arm": np.array([0.1])}
    rig.is_idle()
    rig.leader.is_at_rest = False

    assert not rig.is_idle()


def test_feedback_never_idles_while_the_leader_is_used(rig):
    rig.leader.is_at_rest = False

    assert not rig.is_idle()


@pytest.mark.long
def test_feedback_is_at_its_rate_again_within_an_idle_period(rig):
    rig.thread.start()
    try:
        time.sleep(0.3)
        n_idle = len(rig.leader.applied)
        rig.state = "ALIGNING"
        time.sleep(0.3)
        n_full = len(rig.leader.applied) - n_idle
    finally:
        rig.thread.close()

    assert n_idle <= 0.3 * 50.0 + 5
    assert n_full >= 2 * n_idle  # 400 Hz on an idle machine


_ALONE = tuple(
    f"feedback.laws.{name}=null" for name in ("gravity", "friction", "posture")
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "renders"),
    [
        ((), True),
        (_ALONE, False),
        ((*_ALONE, "feedback.laws.gravity.share=0.5"), True),
        ((*_ALONE, "feedback.laws.friction.coulomb_share=0.1"), True),
        ((*_ALONE, "feedback.laws.bias.stiffness=0.01"), True),
    ],
    ids=["defaults", "none", "gravity", "friction", "bias"],
)
def test_haptics_know_whether_a_law_renders_undriven(words, renders):
    resolved = resolve(
        ("leader=puppeteer_piper", "follower=piper", "env=kinematic", *words)
    )
    leader, robot = make_leader(resolved).info, make_robot(resolved)
    layout = make_layout(robot.info, leader)

    haptics = make_haptics(resolved.feedback, robot, leader, resolved.retarget, layout)

    assert haptics.renders_undriven == renders
