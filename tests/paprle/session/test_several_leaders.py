"""Several leaders at once: who falls silent, lets go or dies takes its own limbs."""

from __future__ import annotations

import itertools
from operator import itemgetter

import numpy as np
import pinocchio as pin
import pytest
from cells import spread
from lock_step import H_NS, LockStep, make_progress
from retargeting import load_robot

from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import pack_sample, split_layout
from paprle.retargeting.retarget import Retargeting

ROBOT = load_robot("g1")
LIMBS = {"left": "left_arm", "right": "right_arm", "file": "left_leg"}
RULES = {
    limb: LimbRuleSettings(rule="relative", from_=f"{name}.hand")
    for name, limb in LIMBS.items()
}
HUMAN = LeaderInfo(limbs=("hand",))
FAR = np.array([0.0, 0.0, 0.0, 0.9, 0.0, 0.0])  # [rad] beyond session.start_bound
LEG = LeaderInfo(
    limbs=("leg",),
    emits="joints",
    joint_names={"leg": ROBOT.limbs["left_leg"].joint_names},
    is_human=False,
)
FILE = LeaderInfo(limbs=("hand",), is_human=False)
BRAKING = 0.1 + float((ROBOT.dq_max / ROBOT.ddq_max).max())  # [s] spec: silence, V/A


class SeveralLeaders(LockStep):
    """A lock-step session of leaders that each move a hand of their own."""

    def __init__(self, parts, rules=RULES, **settings):
        group = merge_leaders(parts)
        mapped = Retargeting(ROBOT, group, RetargetSettings(limbs=rules))
        super().__init__(group, pair=(ROBOT, mapped), **settings)
        self.period_ns = self.clock()
        self.parts = dict(
            zip(parts, zip(parts.values(), split_layout(self.layout), strict=True),
                strict=True)
        )  # fmt: skip
        self.records = dict.fromkeys(parts)
        self.silent, self.dropped, self.moving = set(), set(), False
        self.x = dict.fromkeys(parts, 0.0)
        self.sent = []
        self.latest_ns = self.gate_after_ns = 0
        self.rng = np.random.default_rng(0)

    def step(self, n=1):
        """Run n periods: the gate keeps its time, a tick is up to latest_ns late."""
        for _ in range(n):
            self.period_ns += H_NS
            late_ns = int(self.rng.uniform(0, self.latest_ns))
            parts = [(late_ns, self.run_tick), (self.gate_after_ns, self.run_gate)]
            for at_ns, run in sorted(parts, key=itemgetter(0)):
                self.clock.now_ns = self.period_ns + at_ns
                run()
        return self

    def run_tick(self):
        self.seq += 1
        for name, (info, layout) in self.parts.items():
            if self.moving:
                self.x[name] += 0.06 * H_NS * 1e-9
            if name in self.silent:
                continue
            T = pin.SE3(np.eye(3), np.array([self.x[name], 0.0, 0.0]))
            asked = LimbCommand(T_leader_base_leader_eef=T)
            if info.emits == "joints":
                asked = LimbCommand(q=ROBOT.limbs["left_leg"].home + FAR)
            sample = LeaderSample(
                stamp_ns=self.clock(),
                seq=self.seq,
                limbs={info.limbs[0]: asked},
                engaged=name not in self.dropped,
                start=self.start,
                end=self.end,
            )
            self.records[name] = pack_sample(layout, sample)
        output = self.core.step(
            self.clock(), list(self.records.values()), self.status, self.actions
        )
        self.setpoint = output.setpoint.copy()
        self.events += output.events

    def run_gate(self):
        self.status = self.gate.step(self.setpoint, self.clock())
        self.states.append(self.core.state.name)
        self.sent.append(self.status["q_cmd"].copy())

    def drive(self):
        self.engage()
        self.moving = True
        return self.step(100)

    def until_driven(self, limb, n=600):
        while limb not in dict(self.changes()) and n:
            self.step()
            n -= 1
        return self

    def speed(self, name):
        return np.abs(self.status["dq_cmd"][ROBOT.limbs[LIMBS[name]].indices]).max()

    def changes(self):
        return [(e["limb"], e["leader"]) for e in self.events if e["event"] == "driver"]


@pytest.fixture
def several():
    made = []

    def make(parts=None, **settings):
        parts = parts or {"left": HUMAN, "right": HUMAN, "file": FILE}
        made.append(SeveralLeaders(parts, **settings))
        return made[-1]

    yield make
    for session in made:
        verdict = session.judge()
        assert verdict.is_ok, str(verdict)


@pytest.mark.long
@pytest.mark.parametrize("lost", LIMBS)
def test_a_dead_leader_stops_its_own_limb_and_changes_no_bit_of_the_others(
    several, lost
):
    whole, less = several().drive(), several().drive()
    less.silent.add(lost)
    n_braked = int(BRAKING * 1e9 / H_NS) + 1

    whole.step(n_braked + 200)
    less.step(n_braked)
    assert less.speed(lost) < 1e-9, "at rest after 100 ms and V/A"
    at_rest = less.sent[-1]
    less.step(200)

    own = ROBOT.limbs[LIMBS[lost]].indices
    others = np.setdiff1d(np.arange(len(ROBOT.joint_names)), own)
    assert np.array_equal(
        np.array(whole.sent)[:, others], np.array(less.sent)[:, others]
    )
    np.testing.assert_allclose(less.sent[-1][own], at_rest[own], atol=2e-3)
    assert less.state == "ENGAGED"
    assert less.changes() == [(LIMBS[lost], "")]
    assert LIMBS[lost] in less.core.note


def hold(session, *names):
    """Let the operator hold the limbs of these leaders, and no others."""
    places = (list(ROBOT.limbs).index(LIMBS[name]) for name in names)
    session.core.motion.following.drivers.hold(frozenset(places))
    return session


@pytest.mark.long
@pytest.mark.parametrize("name", LIMBS)
def test_a_limb_that_the_operator_holds_takes_no_bit_of_the_others(several, name):
    whole, less = several().drive(), hold(several().drive(), name)
    n_braked = int(BRAKING * 1e9 / H_NS) + 1

    whole.step(n_braked + 200)
    less.step(n_braked)
    assert less.speed(name) < 1e-9
    less.step(200)

    own = ROBOT.limbs[LIMBS[name]].indices
    others = np.setdiff1d(np.arange(len(ROBOT.joint_names)), own)
    assert np.array_equal(
        np.array(whole.sent)[:, others], np.array(less.sent)[:, others]
    )
    assert less.core.note == f"{LIMBS[name]} held at the page"
    at_rest = less.sent[-1]
    hold(less).step(1)
    assert np.abs(less.sent[-1] - at_rest)[own].max() < 1e-3, "no jump"
    less.step(200)
    assert less.speed(name) > 0.01
    assert less.changes() == [(LIMBS[name], ""), (LIMBS[name], f"{name}.hand")]
    assert not less.core.note


@pytest.mark.long
def test_limbs_that_are_held_all_wait_in_the_episode(several):
    session = hold(several().drive(), *LIMBS).step(300)

    assert session.state == "ENGAGED"
    assert max(session.speed(name) for name in LIMBS) < 1e-9
    hold(session).step(200)
    assert min(session.speed(name) for name in LIMBS) > 0.01


@pytest.mark.long
def test_a_limb_that_is_held_before_the_start_does_not_move(several):
    session = hold(several().step(1), "left")
    own = ROBOT.limbs[LIMBS["left"]].indices
    session.drive()
    before = session.sent[-1][own]

    session.step(100)

    assert np.array_equal(session.sent[-1][own], before)
    assert session.speed("right") > 0.01


@pytest.mark.long
@pytest.mark.parametrize(
    ("lost", "gate_after_ms"),
    spread(
        itertools.product(LIMBS, range(5)),
        ("left", 0),
        ("left", 4),
        ("right", 1),
        ("right", 3),
        ("file", 2),
    ),
)
def test_a_lost_leader_holds_no_other_limb_in_any_order_of_ticks(
    several, lost, gate_after_ms
):
    session = several().drive()
    session.latest_ns, session.gate_after_ns = H_NS - 1, gate_after_ms * 1_000_000
    session.rng = np.random.default_rng(gate_after_ms)
    session.step(20).silent.add(lost)

    for _ in range(int(2 * BRAKING * 1e9 / H_NS)):
        session.step()
        assert session.gate_state == "ENGAGED", session.core.note
    assert session.changes() == [(LIMBS[lost], "")]
    for name in set(LIMBS) - {lost}:
        assert session.speed(name) > 0.01
    assert session.speed(lost) < 1e-9


@pytest.mark.long
def test_a_hand_that_lets_go_begins_anew_where_its_limb_stands(several):
    session = several().drive()
    session.dropped.add("left")
    session.step(300)
    stood = session.sent[-1]
    session.dropped.clear()

    session.moving = False
    session.step(100)

    own = ROBOT.limbs["left_arm"].indices
    np.testing.assert_allclose(session.sent[-1][own], stood[own], atol=1e-3)
    assert session.changes() == [("left_arm", ""), ("left_arm", "left.hand")]


@pytest.mark.long
def test_tracking_that_comes_back_is_no_press(several):
    session = several().drive()
    session.silent.add("left")
    session.step(300)
    session.silent.clear()
    session.step(300)
    assert session.changes() == [("left_arm", "")], "held until a deliberate press"

    session.dropped.add("left")
    session.step(20)
    session.dropped.clear()
    session.step(20)
    assert session.changes()[-1] == ("left_arm", "left.hand")


@pytest.mark.long
def test_an_automatic_leader_comes_back_by_itself(several):
    session = several().drive()
    session.silent.add("file")
    session.step(300)
    session.silent.clear()
    session.step(300)

    assert session.changes() == [("left_leg", ""), ("left_leg", "file.hand")]


def test_without_any_leader_the_session_pauses_as_with_one(several):
    session = several().drive()
    session.silent |= set(LIMBS)
    session.step(300)

    assert session.state == "CLUTCHED"
    assert "leader lost" in session.core.note


@pytest.mark.long
def test_the_first_source_that_may_drive_does(several):
    rules = {
        "left_arm": LimbRuleSettings(rule="relative", from_=("left.hand", "file.hand"))
    }
    session = several({"left": HUMAN, "file": FILE}, rules=rules).drive()
    session.dropped.add("left")
    session.step(400)
    session.dropped.clear()
    session.step(400)

    assert session.changes() == [
        ("left_arm", ""),
        ("left_arm", "file.hand"),
        ("left_arm", ""),
        ("left_arm", "left.hand"),
    ]
    steps = np.abs(np.diff(np.array(session.sent), axis=0)).max(axis=0)
    assert (steps <= ROBOT.dq_max * H_NS * 1e-9 + 1e-12).all()


def test_one_hand_starts_and_any_hand_ends_an_episode(several):
    session = several()
    session.until("WAITING").step(5)
    session.start = True
    session.until("ENGAGED").step(50)
    session.start, session.end = False, True
    session.step(5)

    assert "RESETTING" in session.states


@pytest.mark.long
def test_a_file_that_starts_far_away_keeps_nobody_from_starting(several):
    rules = {
        "left_arm": LimbRuleSettings(rule="relative", from_="left.hand"),
        "left_leg": LimbRuleSettings(rule="joints", from_="file.leg"),
    }
    session = several({"left": HUMAN, "file": LEG}, rules=rules).engage()

    leg = ROBOT.limbs["left_leg"]
    q = session.sent[-1][leg.indices]
    np.testing.assert_allclose(q, leg.home + FAR, atol=0.03)


@pytest.mark.long
def test_a_limb_that_comes_back_meets_its_leader_slowly(several):
    rules = {
        "left_arm": LimbRuleSettings(rule="relative", from_="left.hand"),
        "left_leg": LimbRuleSettings(rule="joints", from_="file.leg"),
    }
    session = several({"left": HUMAN, "file": LEG}, rules=rules)
    session.silent.add("file")
    session.engage()
    session.silent.clear()
    session.until_driven("left_leg")
    leg = ROBOT.limbs["left_leg"]
    begun = session.sent[-1][leg.indices]

    session.step(200)
    moved = np.abs(session.sent[-1][leg.indices] - begun)
    slow = 0.25 * ROBOT.dq_max[leg.indices]
    assert (moved <= 1.05 * slow * 200 * H_NS * 1e-9).all()

    session.step(600)
    np.testing.assert_allclose(session.sent[-1][leg.indices], leg.home + FAR, atol=1e-3)


@pytest.mark.long
def test_the_status_line_names_the_source_that_waits_for_another_to_let_go(several):
    rules = {
        "left_arm": LimbRuleSettings(rule="relative", from_=("left.hand", "file.hand"))
    }
    session = several({"left": HUMAN, "file": FILE}, rules=rules).drive()
    progress = make_progress(session)

    assert "led by left (file when it lets go)" in progress.compose(0, "", (), 200)
    session.dropped.add("left")
    session.step(400)

    assert "led by file · " in progress.compose(0, "", (), 200)
