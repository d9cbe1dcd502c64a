"""What the gate makes of a follower that lies, lags, fights or dies (L1–L3, E3, D2)."""

from __future__ import annotations

import numpy as np
import pytest
from lock_step import H_NS, PIPER, LockStep

from paprle.gate.reasons import Reason, from_bits


@pytest.fixture
def moving():
    session = LockStep()
    session.engage().move(60, speed=0.2)
    return session


def latched(session):
    return from_bits(int(session.status["latched"]))


def test_an_old_state_holds_and_a_very_old_one_latches(moving):
    moving.follower.frozen_ns = moving.clock()

    moving.step(8)
    assert moving.gate_state == "HOLD"
    moving.step(60)
    assert moving.gate_state == "STOPPED"
    assert latched(moving) == (Reason.STATE_LOST,)


@pytest.mark.parametrize(
    "change",
    [
        {"q": np.full(7, np.nan)},
        {"q": np.zeros(6)},
        {"dq": np.full(7, np.inf)},
        {"q": np.degrees(PIPER.home)},
        {"q": PIPER.home[::-1].copy() + 3.0},
    ],
    ids=["nan", "short", "infinite", "degrees", "permuted"],
)
def test_an_implausible_state_holds(moving, change):
    moving.follower.state_changes = change

    moving.step(3)

    assert moving.gate_state == "HOLD"
    moving.step(100)
    assert moving.gate.is_at_rest


@pytest.mark.parametrize(
    "change", [{"q": np.degrees(PIPER.home)}, {"q": np.full(7, np.nan)}]
)
def test_an_implausible_state_never_arms(change):
    session = LockStep()
    session.follower.state_changes = change

    session.step(100)

    assert session.gate_state == "DISARMED"
    assert session.follower.sent == []


def test_a_follower_that_stands_still_leashes_the_command_and_says_blocked(moving):
    follower = moving.follower
    stuck = follower.q.copy()
    follower.state_changes = {"q": stuck, "dq": np.zeros(7)}

    moving.move(400, speed=0.2)

    assert Reason.BLOCKED in from_bits(int(moving.status["reasons"]))
    assert moving.gate_state == "ENGAGED"
    bound = moving.gate.gate.settings.lag_bound
    brake = (PIPER.dq_max**2 / PIPER.ddq_max)[:6].max()
    assert np.abs(moving.q_cmd - stuck)[:6].max() < bound + brake
    assert moving.judge().is_ok


def test_a_follower_that_moves_the_other_way_is_stopped(moving):
    follower, start = moving.follower, moving.follower.q.copy()
    for _ in range(300):
        follower.state_changes = {
            "q": 2 * start - follower.q,
            "dq": -follower.dq,
        }
        moving.move(1, speed=0.4)
        if moving.gate_state == "STOPPED":
            break

    assert moving.gate_state == "STOPPED"
    assert set(latched(moving)) & {Reason.REVERSED, Reason.LAG}


def test_a_follower_that_overspeeds_is_stopped(moving):
    moving.follower.state_changes = {"dq": np.full(7, 6.0)}

    moving.step(30)

    assert moving.gate_state == "STOPPED"
    assert latched(moving) == (Reason.OVERSPEED,)


def test_a_protective_stop_of_the_robot_latches_ours(moving):
    moving.follower.state_changes = {"stop_reason": "protective stop"}
    moving.step(2)
    assert latched(moving) == (Reason.FOLLOWER_STOP,)

    moving.follower.state_changes = {}
    moving.move(100)

    assert "follower_stop (protective stop)" in moving.core.note
    assert moving.gate_state == "STOPPED"
    assert moving.state == "STOPPED"


def test_a_driver_that_raises_stops_everything(moving):
    moving.follower.error = OSError("unplugged")

    moving.step(2)

    assert moving.gate_state == "STOPPED"
    assert isinstance(moving.gate.fault, OSError)


def test_set_points_of_another_session_are_refused(moving):
    foreign = moving.setpoint.copy()
    foreign["session_id"], foreign["seq"] = 99, 10**6
    foreign["q_des"] += 0.5

    status = moving.gate.step(foreign, moving.clock() + H_NS)

    assert Reason.SEQUENCE_JUMP in from_bits(int(status["reasons"]))
    assert status["setpoint_seq"] == moving.setpoint["seq"]


@pytest.mark.parametrize("change", [-1, -20, 2_000_000])
def test_old_and_absurd_sequence_numbers_are_refused(moving, change):
    bad = moving.setpoint.copy()
    bad["seq"] = int(bad["seq"]) + change
    bad["q_des"] += 0.5

    status = moving.gate.step(bad, moving.clock() + H_NS)

    found = set(from_bits(int(status["reasons"])))
    assert found & {Reason.OLD_SEQUENCE, Reason.SEQUENCE_JUMP}
    assert status["setpoint_seq"] == moving.setpoint["seq"]


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e30])
def test_a_poisoned_set_point_moves_nothing_past_its_limits(moving, poison):
    session = moving
    session.session_speaks = False
    for _ in range(100):
        session.setpoint["seq"] += 1
        session.setpoint["stamp_ns"] = session.setpoint["source_ns"] = session.clock()
        session.setpoint["q_des"][2] = poison
        session.setpoint["dq_des"][1] = poison
        session.step()

    assert session.judge().is_ok
    assert np.isfinite(session.q_cmd).all()


def test_a_reset_while_the_cause_lasts_is_used_up():
    session = LockStep()
    session.engage().move(20)
    session.follower.state_changes = {"stop_reason": "protective stop"}
    session.step(50)
    session.engaged = False
    session.step().press("clear", 100)
    session.follower.state_changes = {}

    session.step(100)

    assert session.gate_state == "STOPPED"
    session.press("clear", 100)
    assert session.gate_state == "READY"
