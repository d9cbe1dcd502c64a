"""Who may have the robot: one session at a time, of those who know the key."""

from __future__ import annotations

import pytest
from linked_step import KEY, TERMS, LinkedStep
from lock_step import H_NS

from paprle.link.batch_compression import AT_ONCE
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import make_gate_cut
from paprle.link.packets import DatagramKind


@pytest.fixture
def session():
    return LinkedStep().engage()


def ask(session, *, key=KEY, terms=TERMS, other=None, n=200):
    """Let another leader ask for the robot; returns its end."""
    other = other or LeaderEnd(
        key, make_gate_cut(session.layout), terms, is_recorded=False
    )
    for _ in range(n):
        session.clock.now_ns += H_NS
        now = session.clock()
        other.ask(now)
        session.far.receive(other.outbox, now)
        other.outbox.clear()
        other.receive(session.far.outbox, now)
        session.far.outbox.clear()
    return other


def test_a_second_session_is_refused_with_words(session):
    other = ask(session)

    assert "no other session (T2)" in other.refusal
    assert session.far.refused["session"]


def test_a_greeting_that_is_played_again_is_hardly_answered(session):
    hello = next(data for data in session.up.seen if data[3] == DatagramKind.HELLO)
    now, n_answers = session.clock(), 0

    for k in range(1000):  # within a second
        session.far.receive([hello], now + k * 1_000_000)
        n_answers += len(session.far.outbox)
        session.far.outbox.clear()

    assert n_answers < 10
    assert session.far.refused["asked too often"] > 900


def test_greetings_of_many_callers_are_answered_now_and_then(session):
    now, n_answers = session.clock(), 0
    for k in range(500):  # half a second
        other = LeaderEnd(KEY, make_gate_cut(session.layout), TERMS, is_recorded=False)
        other.ask(now + k * 1_000_000)
        session.far.receive(other.outbox, now + k * 1_000_000)
        n_answers += len(session.far.outbox)
        session.far.outbox.clear()

    assert n_answers <= 31


def test_after_a_session_another_may_come(session):
    session.near.send_bye(session.clock())
    session.step(2)
    assert not session.far.is_open
    session.far.close()

    other = ask(session)

    assert session.far.is_open
    assert not other.refusal


def test_a_client_during_the_last_gates_braking_is_welcomed_after_it(session):
    session.near.send_bye(session.clock())
    session.step(2)
    other = ask(session)
    assert not session.far.is_open
    session.far.close()

    ask(session, other=other)

    assert session.far.is_open
    assert not other.refusal


def test_a_client_of_a_restarted_host_asks_again(session):
    session.far.close()
    other = ask(session, n=1)  # welcomed; its next word is of a session
    session.far.close()

    ask(session, other=other, n=400)

    assert session.far.is_open
    assert not other.refusal


def test_a_silent_own_session_is_no_reason_for_a_refusal():
    session = LinkedStep()
    session.step(3)
    assert session.far.is_open
    session.down.is_dead = True
    session.step(400)
    session.down.is_dead = False
    session.step(100)

    assert not session.near.refusal
    assert [r["event"] for r in session.near.reports] == ["ready"]


@pytest.mark.parametrize(
    "change, told",
    [
        ({"session.rate": "100"}, "expected session.rate 200 as at the robot, got 100"),
        ({"limits": "0f", "session.rate": "50"}, "limits f0, session.rate 200 as at"),
        ({"version": "2", "limits": "0f"}, "expected the robot's paprle 1, got 2"),
        ({"more": "x"}, "expected more None as at the robot, got x"),
    ],
)
def test_a_difference_between_the_hosts_is_refused_by_name(session, change, told):
    session.far.close()

    other = ask(session, terms=TERMS | change)

    assert told in other.refusal
    assert not session.far.is_open


@pytest.mark.parametrize("said", [b"f" * 32, b"[1]", b"", b"\xff"])
def test_an_older_paprle_is_told_to_be_another_version(session, said):
    session.far.close()
    other = LeaderEnd(KEY, make_gate_cut(session.layout), TERMS, is_recorded=False)
    other._terms = said

    assert "paprle 1, got another" in ask(session, other=other).refusal


def test_another_key_is_not_answered(session):
    session.far.close()
    before = session.far.refused["wrong key"]

    other = ask(session, key=b"k" * 32)

    assert not other.refusal
    assert not session.far.is_open
    assert session.far.refused["wrong key"] > before


def test_a_robot_that_was_stopped_is_had_only_after_leave_at_its_side(session):
    session.far.close()
    session.far.locked = "stopped; type c"
    assert ask(session).refusal == "stopped; type c"
    assert not session.far.is_open

    session.far.permit(session.clock())

    assert not ask(session).refusal
    assert session.far.is_open


def test_the_last_records_are_waited_for_though_the_last_word_came_first(session):
    record = session.gate_status.tobytes()
    session.near.queued.clear()
    now = session.clock()
    for _ in range(2 * AT_ONCE + 1):  # three datagrams
        session.far.send("gate_ring", record, now)
    session.far.send_bye(now)
    session.far.send_queued(now)
    bye, *records = session.far.outbox

    session.near.receive([bye, *records[:2]], now)
    assert session.near.has_left
    assert not session.near.is_over(now)
    session.near.receive(records[2:], now)

    assert session.near.is_over(now)
    assert len(session.near.queued) > 2 * AT_ONCE


def test_records_that_do_not_come_are_waited_for_no_longer_than_a_second(session):
    now = session.clock()
    session.far.send("gate_ring", session.gate_status.tobytes(), now)
    session.far.send_bye(now)
    there = now + session.skew_ns
    session.near.receive([session.far.outbox[-1]], there)

    assert not session.near.is_over(there + 900_000_000)
    assert session.near.is_over(there + 1_100_000_000)


def test_words_under_way_when_a_session_ends_are_no_wrong_key(session):
    session.near.send_bye(session.clock())
    late = session.near.outbox[-1]
    session.far.close()

    session.far.receive([late], session.clock())

    assert not session.far.refused["wrong key"]


def test_reports_reach_the_leader_although_some_are_lost():
    session = LinkedStep()
    session.down.is_dead = True
    session.step(100)
    session.down.is_dead = False
    session.step(100)

    assert [r["event"] for r in session.near.reports] == ["ready"]


def test_a_client_during_the_last_fetch_is_welcomed_after_it(session):
    session.far.send("gate_ring", session.gate_status.tobytes(), session.clock())
    session.far.send_bye(session.clock())

    other = ask(session)
    assert not other.refusal, "it waits"
    session.far.close()

    ask(session, other=other)
    assert session.far.is_open
    assert not other.refusal
