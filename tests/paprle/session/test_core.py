"""The session as the operator lives it, every command judged by the oracle."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from lock_step import AUTOMATIC, H_NS, PIPER

from paprle.contracts.types import LeaderInfo

ABSOLUTE = LeaderInfo(limbs=("hand",), is_human=False, is_absolute=True)


def event_names(session):
    return [event["event"] for event in session.events if event["event"] != "state"]


def test_an_episode_goes_through_the_states_of_algorithm_1(lock_step):
    session = lock_step().engage()
    session.move(100)
    session.end = True
    session.until("WAITING")

    assert session.trace() == [
        "INIT", "HOMING", "WAITING", "ALIGNING", "ENGAGED", "RESETTING", "WAITING",
    ]  # fmt: skip
    assert event_names(session) == ["episode_begin", "episode_end"]


def test_nothing_moves_between_the_end_and_the_next_start(lock_step):
    session = lock_step().engage().move(50)
    session.press("next_episode").until("WAITING")
    still = session.q_cmd

    session.move(200)

    assert (session.q_cmd == still).all()


def test_the_arm_follows_the_hand(lock_step):
    session = lock_step().engage()
    limb = PIPER.limbs["arm"]
    before = limb.fk(limb.take(session.q_cmd)).translation

    session.move(200, speed=0.1)
    moved = []
    for _ in range(30):  # no joint can stop as dead as the hand does
        session.step()
        moved.append(limb.fk(limb.take(session.q_cmd)).translation - before)

    assert np.abs(np.array(moved) - [0.0, 0.1, 0.0]).max() < 1.2e-3
    assert moved[-1] == pytest.approx([0.0, 0.1, 0.0], abs=1e-5)


def test_a_motionless_leader_moves_nothing_when_engaging(lock_step):
    session = lock_step().until("WAITING")
    session.T_hand = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.4, 0.5), np.array([1.0, 2, 3]))
    session.step(10)
    before = session.q_cmd
    session.press("engage").until("ENGAGED").step(200)

    assert (session.q_cmd == before).all()


def test_reengaging_with_the_device_elsewhere_moves_nothing(lock_step):
    session = lock_step().engage().move(50)
    session.engaged = False
    session.until("CLUTCHED").step(100)
    still = session.q_cmd
    session.T_hand = pin.SE3(
        pin.rpy.rpyToMatrix(0, 0, np.pi / 2), np.array([1.0, 0, 0])
    )
    session.valid = False  # a jump like this one is not followed in any case
    session.step(2)
    session.valid = True
    session.step(2)
    session.engaged = True
    session.until("ENGAGED").step(200)

    assert (session.q_cmd == still).all()


@pytest.mark.parametrize("reach", [0.05, -0.05])
def test_an_arm_outside_its_limits_holds_still_when_engaged(lock_step, reach):
    session = lock_step()
    index = PIPER.joint_names.index("joint1")
    limit = (PIPER.q_max if reach > 0 else PIPER.q_min)[index]
    session.follower.q[index] = limit + reach  # about 3 degrees past the limit
    session.core.state = type(session.core.state).WAITING
    session.step(20).press("engage").until("ENGAGED")
    before = session.q_cmd

    session.step(200)

    assert (session.q_cmd == before).all()
    assert before[index] == limit + reach


@pytest.mark.parametrize("human", [True, False])
def test_a_silent_leader_brakes_and_only_automatic_ones_resume(lock_step, human):
    session = lock_step() if human else lock_step(AUTOMATIC)
    session.start = not human
    if human:
        session.engage()
    session.until("ENGAGED").move(100)
    session.leader_speaks = False
    session.step(100)

    assert session.state == "CLUTCHED"
    assert session.gate.is_at_rest

    session.leader_speaks = True
    session.step(100)
    assert session.state == ("CLUTCHED" if human else "ENGAGED")
    if human:
        session.engaged = False
        session.step(5)
        session.engaged = True
        session.until("ENGAGED")


def test_silence_brakes_within_its_bound(lock_step):
    session = lock_step().engage().move(200, speed=0.3)
    assert not session.gate.is_at_rest

    session.leader_speaks = False
    n = 0
    while not session.gate.is_at_rest:
        session.step()
        n += 1
    v_over_a = float((PIPER.dq_max / PIPER.ddq_max).max())

    assert n * H_NS * 1e-9 <= 0.1 + 2 * H_NS * 1e-9 + v_over_a


def test_a_silent_session_brakes_and_a_longer_silence_latches(lock_step):
    session = lock_step().engage().move(100)
    session.session_speaks = False

    session.step(60)
    assert session.gate_state == "HOLD"
    assert session.gate.is_at_rest
    session.step(200)
    assert session.gate_state == "STOPPED"


def test_lost_tracking_disengages_within_one_tick(lock_step):
    session = lock_step().engage().move(20)
    session.valid = False

    session.step()

    assert session.state == "CLUTCHED"


def test_tracking_that_comes_back_is_no_press(lock_step):
    session = lock_step().engage().move(20)
    session.valid = False
    session.step(20)
    session.valid = True
    session.step(100)
    assert session.state == "CLUTCHED"

    session.engaged = False
    session.step(5)
    session.engaged = True

    session.until("ENGAGED")


@pytest.mark.parametrize("jump", [1.0, 0.2])
def test_a_jump_of_the_pose_is_not_followed(lock_step, jump):
    session = lock_step().engage().move(20, speed=0.0)
    before = session.q_cmd
    session.T_hand = pin.SE3(np.eye(3), np.array([jump, 0.0, 0.0]))

    session.step(100)

    assert session.state == "CLUTCHED"
    assert (session.q_cmd == before).all()
    assert session.core.leaders.refused["jump"] == 1


def test_a_half_turn_in_one_sample_is_not_followed(lock_step):
    session = lock_step().engage().move(20, speed=0.0)
    before = session.q_cmd
    session.T_hand = pin.SE3(pin.rpy.rpyToMatrix(np.pi, 0.0, 0.0), np.zeros(3))

    session.step(50)

    assert session.state == "CLUTCHED"
    assert (session.q_cmd == before).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pose", np.nan),
        ("pose", np.inf),
        ("pose", 1e30),
        ("pose", 0.0),
    ],
)
def test_garbage_poses_are_refused_counted_and_brake_if_they_persist(
    lock_step, field, value
):
    session = lock_step().engage().move(50)
    session.leader_speaks = False
    for _ in range(100):
        session.seq += 1
        session.record = session.record.copy()
        session.record["seq"] = session.seq
        session.record["stamp_ns"] = session.clock() + H_NS
        session.record[field][0, 3:] = value
        session.step()

    assert session.core.leaders.refused["pose"] == 100
    assert session.state == "CLUTCHED"
    assert session.gate.is_at_rest


def test_duplicates_and_old_samples_change_nothing(lock_step):
    clean, noisy = lock_step().engage(), lock_step().engage()
    for k in range(100):
        clean.move(1)
        noisy.move(1)
        if k % 3 == 0:
            old = noisy.record.copy()
            old["seq"] = max(1, noisy.seq - 5)
            old["pose"] += 0.5
            noisy.core.leaders.update([old], noisy.clock())

    assert np.array_equal(np.array(clean.follower.sent), np.array(noisy.follower.sent))
    assert noisy.core.leaders.refused["sequence"] > 0


def test_a_stamp_from_the_future_does_not_extend_life(lock_step):
    session = lock_step().engage().move(50)
    record = session.record.copy()
    record["stamp_ns"] += 3600 * 10**9
    record["seq"] += 1
    session.leader_speaks, session.record = False, record

    session.step(60)

    assert session.gate.is_at_rest


@pytest.mark.parametrize(
    "state", ["HOMING", "WAITING", "ALIGNING", "ENGAGED", "CLUTCHED", "RESETTING"]
)
def test_stop_works_in_every_state_and_latches(lock_step, state):
    session = lock_step(mode="absolute")
    limb = PIPER.limbs["arm"]
    T_0 = limb.fk(limb.home)
    session.T_hand = pin.SE3(T_0.rotation, T_0.translation + [0.0, 0.08, 0.0])
    session.start = state not in {"HOMING", "WAITING"}
    target = "ENGAGED" if state in {"CLUTCHED", "RESETTING"} else state
    session.until(target)
    session.engaged = state != "CLUTCHED"
    session.end = state == "RESETTING"
    session.until(state).step(3)

    session.press("stop").press("stop", 200)

    assert session.state == "STOPPED"
    assert session.gate_state == "STOPPED"
    assert session.gate.is_at_rest
    still = session.q_cmd
    session.engaged, session.end = True, False
    session.move(50).press("engage", 50)
    assert (session.q_cmd == still).all()


def test_clearing_a_stop_moves_nothing_and_needs_the_leader_let_go(lock_step):
    session = lock_step().engage().move(30)
    session.press("stop", 200)
    still = session.q_cmd

    session.press("clear", 50)
    assert session.state == "STOPPED"
    assert "let go" in session.core.note

    session.engaged = False
    session.step().press("clear", 100)
    assert session.state == "WAITING"
    assert session.gate_state == "READY"
    session.engaged = True
    session.step(100)
    assert (session.q_cmd == still).all()


def test_a_stop_without_a_terminal_ends_the_session(lock_step):
    session = lock_step(AUTOMATIC, interactive=False)
    session.start = True
    session.until("ENGAGED").move(20)
    session.press("stop", 200)

    assert session.is_over
    assert session.core.end_reason == "stopped"


def test_an_exhausted_leader_ends_the_session_after_its_episode(lock_step):
    session = lock_step(AUTOMATIC, interactive=False)
    session.start = True
    session.until("ENGAGED").move(50)
    session.end, session.exhausted = True, True
    session.until("CLOSING").step(100)

    assert session.is_over
    assert session.core.end_reason == "done"
    assert event_names(session) == ["episode_begin", "episode_end"]


def test_several_episodes_start_over_each_time(lock_step):
    session = lock_step(AUTOMATIC, interactive=False, episodes=3)
    session.start = True
    for _ in range(3):
        session.until("ENGAGED").move(20)
        session.press("next_episode").until("RESETTING")
    session.until("CLOSING").step(50)

    assert session.is_over
    assert event_names(session) == ["episode_begin", "episode_end"] * 3


def test_a_discarded_episode_says_so(lock_step):
    session = lock_step().engage().move(10)
    session.press("discard").until("WAITING")

    assert event_names(session) == ["episode_begin", "discard", "episode_end"]


def test_an_episode_stays_open_until_the_gate_has_seen_its_end(lock_step):
    """A set-point of before may still be on its way, and set the robot moving."""
    session = lock_step().engage().step(20)
    late = session.status.copy()
    assert not late["dq_cmd"].any()
    session.move(1, speed=1.0)
    assert session.status["dq_cmd"].any(), "what the session has not heard of yet"

    newest, session.status = session.status, late
    session.actions = session.actions._replace(quit=1)
    session.clock.now_ns += H_NS
    output = session.core.step(session.clock(), [session.record], late, session.actions)

    assert session.state == "CLOSING"
    assert not output.is_over
    assert not session.core.episodes.events[1:], "no end of the episode"
    session.status = newest
    while not session.is_over:
        session.step()
    assert event_names(session)[-1] == "episode_end"
    assert not session.status["dq_cmd"].any()


def test_an_episode_ends_when_its_time_is_up(lock_step):
    session = lock_step(AUTOMATIC, duration=0.5)
    session.start = True
    session.until("ENGAGED").until("RESETTING", n=120)


def test_a_pose_out_of_reach_is_not_started(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute", interactive=False)
    session.T_hand = pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0]))
    session.start = True

    session.until("CLOSING").step(50)

    assert session.core.end_reason == "cannot align"
    assert "reach" in session.core.note
    assert "ENGAGED" not in session.trace()


@pytest.mark.parametrize("state", ["HOMING", "WAITING", "ENGAGED", "CLUTCHED"])
def test_quitting_brakes_and_ends_from_any_state(lock_step, state):
    session = lock_step()
    if state in {"ENGAGED", "CLUTCHED"}:
        session.engage().move(50)
    session.engaged = state != "CLUTCHED"
    session.until(state)

    session.press("quit", 150)

    assert session.is_over
    assert session.gate.is_at_rest


def test_parking_goes_home_before_the_end_and_a_second_quit_skips_it(lock_step):
    patient = lock_step(close_policy="park").engage().move(100)
    patient.press("quit", 1500)
    hasty = lock_step(close_policy="park").engage().move(100)
    hasty.press("quit", 60).press("quit", 150)

    assert patient.is_over
    assert patient.q_cmd == pytest.approx(PIPER.home, abs=2e-3)
    assert hasty.is_over
    assert np.abs(hasty.q_cmd - PIPER.home).max() > 2e-3


def test_an_automatic_session_that_nothing_can_start_ends(lock_step):
    session = lock_step(AUTOMATIC, interactive=False)
    session.follower.state_changes = {"q": np.full(7, np.nan)}

    session.until("CLOSING", n=7000)

    assert session.core.end_reason == "stalled"


def test_a_person_may_take_a_while(lock_step):
    session = lock_step(interactive=False).until("WAITING")

    session.step(7000)

    assert session.state == "WAITING"
