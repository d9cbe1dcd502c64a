"""What goes on by itself after a standstill, and what waits for it."""

from __future__ import annotations

import pytest
from lock_step import AUTOMATIC


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
