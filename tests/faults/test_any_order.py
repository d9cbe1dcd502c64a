"""Whatever happens in whatever order, the tables and the limits hold (rows 28, 29)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from lock_step import AUTOMATIC, HUMAN, LockStep

from paprle.contracts.types import GateState, SessionState
from paprle.gate.states import TABLE as GATE_TABLE
from paprle.session.states import TABLE, SessionEvent

FAULTS = {
    "nan": {"q": np.full(7, np.nan)},
    "short": {"q": np.zeros(6)},
    "degrees": {"q": np.full(7, 60.0)},
    "protective stop": {"stop_reason": "protective stop"},
    "overspeed": {"dq": np.full(7, 6.0)},
}
STANDING = {"WAITING", "STOPPED"}
GATE_MOVES = {(before, after) for (before, _), after in GATE_TABLE.items()}


class AnyOrder(RuleBasedStateMachine):
    @initialize(human=st.booleans(), interactive=st.booleans())
    def begin(self, human, interactive):
        leader = HUMAN if human else AUTOMATIC
        self.session = LockStep(leader, interactive=interactive)
        self.session.start = not human
        self.is_clearing = False
        self.gate_before = self.session.gate_state
        self.run(3)

    def run(self, n):
        """Step, and hold every step against the tables."""
        session = self.session
        for _ in range(n):
            if session.is_over:
                return
            before, still = session.state, session.q_cmd
            rested = session.gate.is_at_rest
            session.step()
            after, gate_after = session.state, session.gate_state
            if self.gate_before != gate_after:
                # READY may become DISARMED through READY in one period
                pair = GateState[self.gate_before], GateState[gate_after]
                assert pair in GATE_MOVES or gate_after == "DISARMED", pair
            self.gate_before = gate_after
            if before == "STOPPED" and after not in {"STOPPED", "CLOSING"}:
                assert self.is_clearing, "STOPPED was left without being cleared"
            if rested and {before, after} <= STANDING:
                assert (session.q_cmd == still).all(), f"moved in {before}"

    @rule(n=st.integers(1, 30))
    def wait(self, n):
        self.run(n)

    @rule(n=st.integers(1, 25), speed=st.floats(-0.5, 0.5))
    def move(self, n, speed):
        for _ in range(n):
            self.session.T_hand.translation[1] += speed * 0.005
            self.run(1)

    @rule(
        action=st.sampled_from(
            ["engage", "engage", "stop", "next_episode", "discard", "clear", "clear"]
        )
    )
    def press(self, action):
        self.is_clearing = self.is_clearing or action == "clear"
        self.session.press(action, 0)
        self.run(2)

    @rule()
    def clear_properly(self):
        engaged, self.session.engaged = self.session.engaged, False
        self.session.follower.state_changes = {}
        self.run(2)
        self.press("clear")
        self.run(70)
        self.session.engaged = engaged

    @rule(engaged=st.booleans(), valid=st.booleans())
    def grip(self, engaged, valid):
        self.session.engaged, self.session.valid = engaged, valid
        self.run(3)

    @rule(end=st.booleans())
    def signal_end(self, end):
        self.session.end = end
        self.run(2)

    @rule(n=st.integers(1, 40))
    def leader_is_silent(self, n):
        self.session.leader_speaks = False
        self.run(n)
        self.session.leader_speaks = True

    @rule(n=st.integers(1, 40))
    def session_is_silent(self, n):
        self.session.session_speaks = False
        self.run(n)
        self.session.session_speaks = True

    @rule(
        at=st.integers(0, 6),
        poison=st.sampled_from([np.nan, np.inf, 1e30, 0.0, -5.0]),
        ahead=st.sampled_from([-3, 0, 1, 3_000_000]),
    )
    def bad_sample(self, at, poison, ahead):
        session = self.session
        if session.record is None:
            return
        bad = session.record.copy()
        bad["seq"] = max(0, int(bad["seq"]) + ahead)
        bad["pose"][0, at] = poison
        session.record, session.leader_speaks = bad, False
        self.run(1)
        session.leader_speaks = True
        session.seq += 1

    @rule(kind=st.sampled_from(sorted(FAULTS)), n=st.integers(1, 20))
    def follower_lies(self, kind, n):
        self.session.follower.state_changes = FAULTS[kind]
        self.run(n)
        self.session.follower.state_changes = {}
        self.run(2)

    @precondition(lambda self: not self.session.is_over)
    @rule(sure=st.integers(0, 5))
    def quit(self, sure):
        if sure == 0:
            self.session.press("quit", 0)
            self.run(120)

    @invariant()
    def transitions_are_in_the_table(self):
        for event in self.session.events:
            if event["event"] == "state":
                before = SessionState[event["before"]]
                after = TABLE[before, SessionEvent[event["why"]]]
                assert after.name == event["after"]
        self.session.events.clear()

    @invariant()
    def the_command_is_finite(self):
        assert np.isfinite(self.session.q_cmd).all()

    def teardown(self):
        if not hasattr(self, "session") or not self.session.follower.sent:
            return
        self.run(120)
        verdict = self.session.judge()
        assert verdict.is_ok, str(verdict)
        if self.session.state == "STOPPED":
            assert self.session.gate.is_at_rest


def try_orders(n):
    """Return a test of the first so many orders, the same ones each time."""
    case = type(f"{n}Orders", (AnyOrder,), {}).TestCase
    case.settings = settings(
        max_examples=n,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    return case


TestAnyOrder = try_orders(12)
TestManyOrders = pytest.mark.nightly(try_orders(40))
