"""Either way of a link is shut: the robot rests, and only a press goes on.

The robot's rest is judged by what its follower was sent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cells import spread
from leader_afar import LeaderAfar
from linked_step import LinkedStep
from lock_step import H_NS

from paprle.contracts.types import Actions
from paprle.link.remote_leader.engagement import RELEASE_AFTER, StateWatch

V_OVER_A = 0.32  # [s] of the slowest joint of the PiPER, rounded up
WAY = 0.02  # [s]
OUTAGE = 300  # periods


def shut(wire):
    wire.is_dead = True


def delay(wire):
    """What comes by this way is real, whole and in order, and 3 s old."""
    wire.delay = 3.0


def repeat(wire):
    """What comes by this way is what came before."""
    wire.is_dead, old = True, list(wire.seen[-40:])
    deliver = wire.deliver
    wire.deliver = lambda now_ns: [*deliver(now_ns), *old]


def drive(session):
    for wire in (session.up, session.down):
        wire.delay = WAY
    session.engage()
    return sway(session, 30)


def sway(session, n):
    """Move the hand to and fro, so that it always asks for motion."""
    for k in range(n):
        session.move(1, speed=0.2 if k // 60 % 2 else -0.2)
    return session


def find_rest(session, begin):
    """Return after how long the robot rests from then on, [s]."""
    steps = np.abs(np.diff(np.array(session.follower.sent[begin:]), axis=0)).max(axis=1)
    moving = np.flatnonzero(steps > 1e-9)
    assert len(moving), "it moved when the way was shut"
    return (moving[-1] + 2) * H_NS * 1e-9


@pytest.mark.parametrize("fault", spread([shut, delay, repeat], shut))
@pytest.mark.parametrize("ways", [("down",), ("up",), ("up", "down")], ids="+".join)
def test_a_robot_rests_whichever_way_is_shut_and_goes_on_by_a_press(ways, fault):
    session = drive(LeaderAfar())
    begin = len(session.follower.sent)

    for way in ways:
        fault(getattr(session, way))
    sway(session, OUTAGE)

    assert find_rest(session, begin) < RELEASE_AFTER + 0.1 + WAY + V_OVER_A
    if fault is not shut:
        return
    stood = session.follower.sent[-1]
    session.up.is_dead = session.down.is_dead = False
    sway(session, 200)
    assert np.array_equal(session.follower.sent[-1], stood), "nobody has pressed"
    session.press("engage").until("ENGAGED")
    sway(session, 60)
    assert np.abs(session.follower.sent[-1] - stood).max() > 1e-3
    assert session.judge().is_ok


def test_a_robot_rests_though_the_operator_sends_on_as_if_all_were_well():
    session = drive(LeaderAfar())
    session.near.watch.fresh_ns = 2**62
    begin = len(session.follower.sent)

    session.down.is_dead = True
    sway(session, OUTAGE)

    assert find_rest(session, begin) < 0.4 + 0.1 + 2 * WAY + V_OVER_A
    [told] = [text for text in session.far.take_words(session.clock()) if "no" in text]
    assert told.startswith("the operator confirmed no state of the robot for 0.4 s")
    assert session.core.note.startswith("tracking or link lost")


def test_a_session_at_the_robot_that_stands_still_is_no_fresh_state():
    watch = StateWatch()
    for now_ns in (10**9, 2 * 10**9):
        watch.note(5, 10**6, now_ns)

    assert watch.fresh_ns == 10**9
    assert watch.is_released(2 * 10**9)


@pytest.mark.parametrize("age_ns", [None, 1_000_000_001])
def test_state_that_is_old_or_of_unknown_age_is_not_fresh(age_ns):
    watch = StateWatch()
    watch.note(1, age_ns, 10**9)

    assert watch.is_released(10**9)


def test_a_stop_pressed_while_no_state_comes_is_obeyed():
    session = drive(LeaderAfar())
    session.down.is_dead = True
    sway(session, 100)
    make = session.sample
    session.sample = lambda: replace(make(), actions=Actions(stop=1))

    session.step(40)

    assert session.taken.actions.stop == 1
    assert not session.taken.valid


def test_the_operator_is_told_that_it_was_released_and_no_more():
    session = drive(LeaderAfar())
    session.near.take_words()

    session.down.is_dead = True
    sway(session, 60)
    assert session.near.take_words() == ["no state from the robot for 0.2 s: released"]

    session.down.is_dead = False
    session.step(20)
    assert session.near.take_words() == [
        "state from the robot comes: engage to lead it"
    ]


def test_a_gate_brakes_though_its_session_sends_on_as_if_all_were_well():
    session = LinkedStep()
    drive(session)
    begin = len(session.follower.sent)
    step = session._step_leader

    def pretend(now_ns):
        session.status = session.status.copy()
        session.status["stamp_ns"] = session.status["meas_ns"] = now_ns
        step(now_ns)

    session._step_leader = pretend
    session.down.is_dead = True
    sway(session, OUTAGE)

    assert session.far.refused["no state came back"]
    assert find_rest(session, begin) < 0.4 + 0.1 + 2 * WAY + V_OVER_A


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_gate_brakes_whichever_way_to_its_session_is_shut(way):
    session = LinkedStep()
    drive(session)
    begin = len(session.follower.sent)

    getattr(session, way).is_dead = True
    sway(session, OUTAGE)

    assert find_rest(session, begin) < 0.25 + 0.1 + WAY + V_OVER_A
