"""Stops, silences, absences and what a session does after them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from lock_step import AUTOMATIC, H_NS, PIPER

from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import make_layout, pack_sample
from paprle.session.inputs.intake import Intake

ABSOLUTE = LeaderInfo(limbs=("hand",), is_human=False, is_absolute=True)


def event_names(session):
    return [event["event"] for event in session.events if event["event"] != "state"]


@pytest.mark.parametrize("n_late", [1, 2, 5, 10])
def test_a_stop_is_not_lost_on_a_gate_slower_than_the_session(lock_step, n_late):
    session = lock_step(AUTOMATIC)
    session.start = True
    session.until("ENGAGED").move(20)
    session.engaged = False
    session.until("CLUTCHED").step(100)
    seen = session.status.copy()
    session.actions = session.actions._replace(stop=1)
    for _ in range(n_late):  # the session ticks on, the gate has not looked yet
        session.clock.now_ns += H_NS
        output = session.core.step(
            session.clock(), [session.record], seen, session.actions
        )
    session.setpoint = output.setpoint.copy()
    session.status = session.gate.step(session.setpoint, session.clock())
    session.step(5)

    assert session.state == "STOPPED"
    assert session.gate_state == "STOPPED"


@pytest.mark.parametrize("n_between", [1, 3, 30])
def test_a_stop_right_after_clearing_one_stops_again(lock_step, n_between):
    session = lock_step().until("WAITING")
    session.engaged = False
    session.step(5).press("stop", 5)
    session.press("clear", n_between)

    session.press("stop", 100)

    assert session.state == "STOPPED"
    assert session.gate_state == "STOPPED"


def test_stop_ends_a_park(lock_step):
    session = lock_step(close_policy="park").engage().move(150)
    session.press("quit", 60)
    assert not session.gate.is_at_rest

    session.press("stop", 100)

    assert session.gate.is_at_rest
    assert session.is_over
    assert np.abs(session.q_cmd - PIPER.home).max() > 2e-3


def test_a_press_during_silence_does_not_engage_when_data_return(lock_step):
    session = lock_step().engage().move(30)
    session.leader_speaks = False
    session.step(100).press("engage", 50)
    session.leader_speaks = True

    session.step(200)

    assert session.state == "CLUTCHED"


def test_a_limb_that_comes_back_after_an_absence_is_not_followed():
    info = LeaderInfo(limbs=("left", "right"))
    layout = make_layout(PIPER.info, info)
    intake = Intake(layout, 0.1)

    def take(k, **limbs):
        poses = {
            name: LimbCommand(T_leader_base_leader_eef=T) for name, T in limbs.items()
        }
        sample = LeaderSample(stamp_ns=k * H_NS, seq=k, limbs=poses)
        intake.update(pack_sample(layout, sample), k * H_NS)
        return intake.is_usable(k * H_NS)

    T = pin.SE3.Identity()
    assert take(1, left=T)
    assert take(2, left=T, right=T) is True, "a limb may appear for the first time"
    assert take(3, left=T)
    assert not take(4, left=T, right=T)
    assert take(5, left=T, right=T)


def test_an_intermittent_automatic_leader_does_not_engage_again_and_again(lock_step):
    session = lock_step(AUTOMATIC)
    session.start = True
    session.until("ENGAGED")
    for k in range(1000):  # 5 Hz: each sample is fresh for half of the time
        session.leader_speaks = k % 40 == 0
        session.move(1, speed=0.05)

    assert session.trace().count("ENGAGED") <= 2


def test_an_automatic_leader_out_of_reach_ends_the_session_in_a_terminal_too(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute", interactive=True)
    session.T_hand = pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0]))
    session.start = True

    session.until("CLOSING").step(50)

    assert session.core.end_reason == "cannot align"
    assert event_names(session) == ["episode_begin", "episode_end"]


@pytest.mark.long
def test_a_slow_move_that_never_arrives_is_given_up(lock_step):
    session = lock_step(AUTOMATIC, interactive=False)
    session.follower.q[0] += 0.3
    session.until("HOMING")
    frozen = session.follower.q.copy()
    session.follower.state_changes = {"q": frozen, "dq": np.zeros(7)}

    session.until("CLOSING", n=9000)


def test_a_stalled_gate_holds_and_does_not_chase_what_it_missed(lock_step):
    session = lock_step().engage().move(50)
    still, v = session.q_cmd, np.abs(session.status["dq_cmd"].copy())
    session.clock.now_ns += 600_000_000
    session.step(2)

    assert session.state == "CLUTCHED"
    session.move(100)
    braking = v**2 / (2.0 * session.robot.ddq_max) + 2.0 * v * 0.005
    assert (np.abs(session.q_cmd - still) <= braking + 1e-9).all()


def test_a_gripper_meets_the_leader_slowly(lock_step):
    session = lock_step(LeaderInfo(limbs=("hand",), has_gripper=True))
    take = session.sample

    def closed():
        sample = take()
        command = LimbCommand(T_leader_base_leader_eef=session.T_hand, opening=0.0)
        return replace(sample, limbs={"hand": command})

    session.sample = closed
    session.engage()
    index = PIPER.joint_names.index("joint7")
    speeds = []
    for _ in range(400):
        session.step()
        speeds.append(abs(session.status["dq_cmd"][index]) / PIPER.dq_max[index])

    assert max(speeds) <= 0.5, "a quarter of V, and what the gate needs to get there"
    assert session.q_cmd[index] == pytest.approx(0.0, abs=1e-6)


def test_discarding_after_the_end_discards_the_last_episode(lock_step):
    session = lock_step().engage().move(10)
    session.press("next_episode").until("WAITING")
    session.press("discard")

    assert event_names(session) == ["episode_begin", "episode_end", "discard"]


def test_the_end_of_an_episode_names_who_stopped_it(lock_step):
    session = lock_step().engage().move(10)
    session.press("stop", 100)

    ends = [e["end_reason"] for e in session.events if e["event"] == "episode_end"]
    assert ends == ["stopped: operator_stop"]


def test_a_hiccup_of_the_gate_is_over_without_a_press(lock_step):
    session = lock_step().engage().move(50)
    session.clock.now_ns += 40_000_000
    session.move(5)
    assert session.state == "CLUTCHED"

    session.until("ENGAGED", n=200)
