"""What the gate's process does each period, beside the faults of tests/faults."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lock_step import H_NS, PIPER, LockStep

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerState, GateState
from paprle.gate import states
from paprle.gate.reasons import HOLD_REASONS, STOP_REASONS, Reason, from_bits, to_bits
from paprle.gate.watchdogs import MeasurementWatch, SetpointWatch
from paprle.ipc.records import Request


@pytest.fixture
def moving():
    session = LockStep()
    session.engage().move(60, speed=0.2)
    return session


def test_nothing_is_written_before_the_session_asks():
    session = LockStep()
    session.session_speaks = False

    session.step(100)

    assert session.gate_state == "DISARMED"
    assert session.follower.sent == []


def test_reports_are_numbered_and_say_what_was_sent_and_measured(moving):
    first = int(moving.status["k"])
    for n in range(1, 4):
        moving.step()
        status, sent = moving.status, moving.follower.sent

        assert status["k"] == first + n
        assert Reason.NOT_FINITE not in from_bits(int(status["reasons"]))
        assert status["latched"] == 0
        assert (status["q_cmd"] == sent[-1]).all()
        assert status["dq_cmd"] == pytest.approx((sent[-1] - sent[-2]) / 5e-3)
        assert (status["q_meas"] == sent[-2]).all(), "as it was read before"
        assert np.isnan(status["tau_meas"]).all()
        assert np.isnan(status["sim_time"])
        assert status["meas_ns"] == status["stamp_ns"] == moving.clock()
        assert status["setpoint_seq"] == moving.setpoint["seq"]
    moving.follower.state_changes = {"tau": np.arange(7.0), "sim_time": 1.5}
    counts = moving.status["counts"].copy()
    moving.setpoint["q_des"] = np.nan
    moving.session_speaks = False
    for n in range(1, 4):
        moving.setpoint["seq"] += 1
        moving.step()
        assert (moving.status["tau_meas"] == np.arange(7.0)).all()
        assert moving.status["sim_time"] == 1.5
        is_new = np.arange(32) == Reason.NOT_FINITE
        assert (moving.status["counts"] == counts + n * is_new).all()


def test_a_stopped_robot_that_is_led_is_reported_and_never_commanded(moving):
    moving.follower.state_changes = {"stop_reason": "led by hand"}
    moving.step(100)
    moving.follower.state_changes |= {"q": moving.robot.home + 0.1}
    moving.step()

    assert moving.gate_state == "STOPPED"
    assert np.allclose(moving.status["q_meas"], moving.robot.home + 0.1)
    assert not np.allclose(moving.follower.sent[-1], moving.robot.home + 0.1)

    moving.follower.state_changes |= {"q": np.full(7, np.nan)}
    moving.step()
    assert np.allclose(moving.status["q_meas"], moving.robot.home + 0.1)


def test_an_orphaned_gate_brakes_and_latches(moving):
    moving.gate.is_orphaned = True
    n = 0
    while not moving.gate.is_at_rest:
        moving.step()
        n += 1

    assert moving.gate_state == "STOPPED"
    assert n * H_NS * 1e-9 <= float((moving.robot.dq_max / moving.robot.ddq_max).max())


def test_disarm_ends_the_gate_once_the_arm_stands(moving):
    moving.session_speaks = False
    for _ in range(150):
        moving.setpoint["seq"] += 1
        moving.setpoint["stamp_ns"] = moving.setpoint["source_ns"] = moving.clock()
        moving.setpoint["request"] = Request.DISARM
        moving.step()
        if moving.gate_state == "DISARMED":
            break

    assert moving.gate_state == "DISARMED"
    assert moving.gate.is_at_rest


def test_a_write_that_raises_latches_and_nothing_more_is_written(moving):
    def broken(_q):
        raise OSError("unplugged")

    moving.follower.write = broken
    moving.step(3)

    assert moving.gate_state == "STOPPED"
    assert Reason.FOLLOWER_FAULT in from_bits(int(moving.status["latched"]))
    assert isinstance(moving.gate.fault, OSError)
    assert moving.gate.is_cut_off
    assert moving.gate.is_at_rest


def test_a_gate_that_stood_still_itself_holds(moving):
    assert not moving.gate.is_cut_off
    moving.clock.now_ns += 30_000_000

    moving.step()

    assert Reason.STALLED in from_bits(int(moving.status["reasons"]))


def test_a_follower_that_lags_while_moving_is_held_and_met_where_it_is(moving):
    follower = moving.follower
    for _ in range(60):  # moves as it is told, but far behind
        behind = follower.q - 0.3 * np.sign(follower.dq)
        follower.state_changes = {"q": behind, "dq": follower.dq.copy()}
        moving.move(1, speed=0.4)
        if moving.gate_state == "HOLD":
            break
    assert moving.gate_state == "HOLD"
    assert Reason.LAG in from_bits(int(moving.status["latched"]))
    behind = follower.q - 0.3 * np.eye(7)[0]
    follower.state_changes = {"q": behind, "dq": np.zeros(7)}
    moving.session_speaks = False
    for _ in range(300):
        moving.setpoint["seq"] += 1
        moving.setpoint["stamp_ns"] = moving.setpoint["source_ns"] = moving.clock()
        moving.step()

    assert np.abs(moving.q_cmd - behind)[:6].max() < 0.15  # E


def test_set_points_carry_their_own_deadline():
    watch = SetpointWatch(GateSettings())
    session = LockStep()
    session.step(2)
    record = session.setpoint.copy()
    record["valid_for_ns"] = 30_000_000
    watch.update(record, 0)

    assert watch.check(29_000_000) == ()
    assert watch.check(31_000_000) == (Reason.COMMAND_STALE,)


def test_a_watch_that_heard_nothing_is_stale():
    watch = SetpointWatch(GateSettings())

    assert watch.update(None, 0) == ()
    assert watch.check(0) == (Reason.COMMAND_STALE,)
    assert watch.compute_age(0) == float("inf")


@pytest.mark.parametrize(
    "state_period, fresh, stale", [(0.0, 0.019, 0.021), (0.02, 0.059, 0.061)]
)
def test_states_that_come_seldom_may_be_as_old_as_three_of_them(
    state_period, fresh, stale
):
    watch = MeasurementWatch(PIPER.info, GateSettings(), 0.005, 0.03, state_period)
    state = FollowerState(stamp_ns=0, q=PIPER.home, dq=0.0 * PIPER.home)

    assert watch.check_state(state, int(fresh * 1e9)) == ()
    assert watch.check_state(state, int(stale * 1e9)) == (Reason.STATE_STALE,)


def test_a_set_point_that_rests_on_old_leader_data_is_stale():
    watch = SetpointWatch(GateSettings())
    session = LockStep()
    session.step(2)
    record = session.setpoint.copy()
    record["source_ns"] = record["stamp_ns"] - 95_000_000
    watch.update(record, 0)

    assert watch.check(1_000_000) == ()
    assert watch.check(10_000_000) == (Reason.COMMAND_STALE,)


@pytest.mark.parametrize(
    ("state", "event"), list(itertools.product(GateState, states.GateEvent))
)
def test_only_transitions_of_the_table_are_made(state, event):
    told = {
        ("DISARMED", "ARM"): "READY",
        ("READY", "ENGAGE"): "ENGAGED",
        ("ENGAGED", "RELEASE"): "READY",
        ("HOLD", "RELEASE"): "READY",
        ("READY", "DISARM"): "DISARMED",
        ("HOLD", "DISARM"): "DISARMED",
        ("READY", "HOLD"): "HOLD",
        ("ENGAGED", "HOLD"): "HOLD",
        ("STOPPED", "RESET"): "DISARMED",
    }
    after = told.get((state.name, event.name), state.name)
    after = "STOPPED" if event is states.GateEvent.STOP else after

    assert states.step_state(state, event) is GateState[after]


def test_reasons_round_trip_through_bits():
    chosen = (Reason.POSITION, Reason.LATE, Reason.NOT_FINITE)

    assert set(from_bits(to_bits(chosen))) == set(chosen)
    assert {reason.name for reason in HOLD_REASONS} == {
        "COMMAND_STALE", "LAG", "STATE_STALE", "STATE_BAD", "STALLED",
    }  # fmt: skip
    assert {reason.name for reason in STOP_REASONS} == {
        "COMMAND_LOST", "OVERSPEED", "REVERSED", "STATE_LOST", "OPERATOR_STOP",
        "PEER_DIED", "FOLLOWER_STOP", "FOLLOWER_FAULT",
    }  # fmt: skip
    assert max(Reason) < 32, "the status record counts 32 of them"
