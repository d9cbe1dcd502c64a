"""What goes on by itself after a standstill, and what waits for it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from lock_step import AUTOMATIC, HUMAN, PIPER


@pytest.mark.parametrize("n_periods", [12, 25, 45])
def test_a_machine_that_stood_still_needs_no_press(lock_step, n_periods):
    session = lock_step().engage().move(50)

    session.stand_still(n_periods).until("ENGAGED", 200)

    assert session.judge().is_ok


def test_a_leader_that_fell_silent_meanwhile_needs_one(lock_step):
    session = lock_step().engage().move(50)
    session.leader_speaks = False
    session.step(15).stand_still(20).step(15)
    session.leader_speaks = True

    session.step(200)

    assert session.state == "CLUTCHED"


def test_a_session_that_was_away_for_long_needs_one(lock_step):
    session = lock_step().engage().move(50)

    session.stand_still(60).step(200)

    assert session.state == "CLUTCHED"


def test_a_leader_without_an_operator_resumes_after_a_short_standstill(lock_step):
    session = lock_step(AUTOMATIC)
    session.start = True
    session.until("ENGAGED").move(50)

    session.stand_still(180).until("ENGAGED", 400)


@pytest.mark.parametrize("n_periods", [205, 2000])
def test_no_leader_resumes_by_itself_after_a_standstill_that_latches(
    lock_step, n_periods
):
    session = lock_step(AUTOMATIC)
    session.start = True
    session.until("ENGAGED").move(50)

    session.stand_still(n_periods).move(60)
    still = session.q_cmd
    session.move(400)

    assert session.gate_state == "STOPPED"
    assert (session.q_cmd == still).all(), "it braked, and that was all"


def test_an_episode_begins_after_the_one_before_was_closed(lock_step):
    """A leader that always asks to start, at home: nothing else makes it wait."""
    session = lock_step(AUTOMATIC, duration=0.5, episodes=3)
    session.start = True

    session.step(1500)

    names = [e["event"] for e in session.events if e["event"] != "state"]
    assert names == ["episode_begin", "episode_end"] * 3
    assert session.is_over


@pytest.mark.parametrize("seconds", [0.3, 0.9])
def test_a_person_engages_again_after_a_stall_of_the_gate(lock_step, seconds):
    session = lock_step().engage().move(50)
    session.gate_runs = False
    session.move(round(seconds * 200))
    session.gate_runs = True
    still = session.q_cmd
    session.move(200)

    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all(), "it stood, and nothing moved it"
    session.engaged = False
    session.step(5)
    session.engaged = True
    session.until("ENGAGED", 20)


def test_the_gate_may_stand_still_while_nothing_moves(lock_step):
    session = lock_step().until("WAITING").step(5)
    session.gate_runs = False
    session.step(100)
    session.gate_runs = True
    session.step(20)

    assert session.gate_state == "READY"
    session.press("engage").until("ENGAGED")


@pytest.mark.parametrize("seconds", [0.3, 0.9])
@pytest.mark.parametrize("who", ["gate", "session"])
def test_a_way_home_is_not_gone_on_with_after_a_stall(lock_step, who, seconds):
    session = lock_step().engage().move(200)
    session.press("next_episode").until("RESETTING").step(50)
    assert np.abs(session.status["dq_cmd"]).max() > 0.02, "on its way"
    session.gate_runs, session.session_speaks = who != "gate", who != "session"
    session.step(round(seconds * 200))
    session.gate_runs = session.session_speaks = True
    session.step(40)
    still = session.q_cmd
    session.step(400)

    assert (session.q_cmd == still).all()
    assert session.state == "WAITING"
    assert session.core.note.startswith("not at home: session or gate stood still")
    session.press("next_episode").until("RESETTING").until("WAITING")
    assert session.q_cmd == pytest.approx(PIPER.home, abs=2e-3)


def test_a_person_who_came_back_from_far_is_not_driven_to(lock_step):
    """``session.start_bound`` holds for engaging again, too (S1)."""
    limb = PIPER.limbs["arm"]
    home, q = limb.fk(limb.home), limb.home.copy()
    q[0] += 0.9
    far, zero = limb.fk(q), np.zeros(3)
    session = lock_step(HUMAN, mode="absolute", start_bound=0.5)
    session.T_hand = home
    session.engage()
    session.engaged = False
    session.step(50)
    still = session.q_cmd
    for k in range(1, 101):  # as fast as a hand goes
        session.T_hand = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.009 * k])), zero) * home
        session.step()
    session.engaged = True
    session.step(100)

    assert session.T_hand.isApprox(far, 1e-6)
    assert session.state == "CLUTCHED"
    assert "bring the leader closer" in session.core.note
    assert (session.q_cmd == still).all()


def test_an_episode_ends_when_the_robot_rests_not_its_command(lock_step):
    session = lock_step()
    follower = session.follower
    write, q = follower.write, follower.q.copy()

    def lag(q_cmd):
        before = q.copy()
        write(q_cmd)
        q[:] += (q_cmd - before) * 0.05
        follower.q, follower.dq = q.copy(), (q - before) * 200.0

    follower.write = lag
    session.engage().move(60)
    session.press("success")
    while not any(e["event"] == "episode_end" for e in session.events):
        session.step()

    assert np.abs(session.status["dq_meas"]).max() <= 0.02
    assert session.clock() < 1e9 + 20e9
