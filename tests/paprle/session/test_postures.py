"""The robot starts in the posture that serves, and leaves one that does not."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from cells import spread
from lock_step import AUTOMATIC, H_NS, HUMAN, PIPER, make_progress
from retargeting import load_robot

from benchmarks.branches import follow, make_motion
from paprle.contracts.settings.core import GateSettings, IkSettings, SceneBodySettings
from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import pose_to_row, row_to_pose
from paprle.session.postures import PostureGoal, Postures

pytestmark = pytest.mark.long

LIMB = PIPER.limbs["arm"]
Q_0 = np.array([0.68, 1.40, -1.34, 1.54, -0.76, -1.63])
WAY = np.array([0.2, 0.1, -0.1, -1.0, 0.0, 0.5])  # a wrist turned over hits joint 4
DURATION = 4.0


def place(share):
    """Joints of a motion that one posture follows to its end."""
    return Q_0 + 0.5 * (1.0 - np.cos(np.pi * np.clip(share, 0.0, 1.0))) * WAY


PATH = np.array(
    [
        [t, *pose_to_row(LIMB.fk(place(t / DURATION)))]
        for t in np.arange(0.0, DURATION + 1e-9, 0.02)
    ]
)
PLAYER = LeaderInfo(
    limbs=("hand",), is_human=False, is_absolute=True, path={"hand": PATH}
)
TURNED = np.array([0.68, 1.40, -1.34, 1.54 - np.pi, 0.76, -1.63 + np.pi])


def play(session):
    """Lead the hand along the motion; return the worst distance, [m]."""
    worst, n = 0.0, round(DURATION * 1e9 / H_NS)
    for k in range(n):
        session.T_hand = LIMB.fk(place(k / n))
        session.step()
        if k % 40 == 0:
            session.progress.look()
        if session.state == "ENGAGED":
            worst = max(worst, float(session.core.motion.err_pos[0]))
    return worst


def begin(session):
    session.start, session.T_hand = True, LIMB.fk(Q_0)
    session.progress = make_progress(session)
    session.watch, session.verdicts = session.progress.tracking, []
    return session.until("ENGAGED", 6000)


def find_events(session, name):
    return [event for event in session.events if event["event"] == name]


def test_a_known_path_is_begun_in_the_posture_that_follows_all_of_it(lock_step):
    session = begin(lock_step(PLAYER, mode="absolute"))

    worst = play(session)

    assert worst < 1e-4
    (told,) = find_events(session, "posture")
    assert told["limb"] == "arm"
    assert told["of"] > 1
    assert told["reached"] == 1.0
    assert session.core.decisions.missed == ""


@pytest.mark.parametrize("seed", spread([3, 5], 3))
def test_an_arm_with_joints_to_spare_begins_where_ticks_follow_all_of_a_path(seed):
    """In rough steps another posture follows all of it, or none does."""
    robot = load_robot("papras_7dof")
    limb = robot.limbs["arm"]
    path = make_motion(limb, np.random.default_rng(seed))
    postures = Postures(robot, GateSettings(), IkSettings())
    T, home = {"arm": row_to_pose(path[0, 1:])}, robot.home

    start = postures.find_start(PostureGoal(home, home, T, {"arm": path}, {}, False))

    assert start.choices["arm"].share == 1.0
    assert follow(robot, limb, path, limb.take(start.q)) > 0.995


def test_an_unreachable_pose_is_reported_to_operator_and_recorder(lock_step):
    away = PATH.copy()
    away[len(away) // 2 :, 1] += 3.0
    session = lock_step(replace(PLAYER, path={"hand": away}), mode="absolute")

    begin(session)

    (told,) = find_events(session, "posture")
    assert 0.3 < told["reached"] < 0.6
    assert "'arm' did not reach" in session.core.note
    assert "of the path ahead" in "\n".join(session.progress.summarise(0, {}))


def test_a_chunk_that_comes_with_the_samples_counts_as_a_path(lock_step):
    session = lock_step(replace(PLAYER, path={}, n_ahead=300), mode="absolute")
    sample = session.sample

    def sample_with_chunk():
        one = sample()
        return replace(one, limbs={"hand": replace(one.limbs["hand"], ahead=PATH)})

    session.sample = sample_with_chunk
    begin(session)

    (told,) = find_events(session, "posture")
    assert told["reached"] == 1.0
    assert play(session) < 1e-4


def test_a_person_is_given_the_posture_near_the_hand_whatever_the_path(lock_step):
    human = replace(PLAYER, is_human=True)
    session = lock_step(human, mode="absolute", start_bound=0.5)
    session.follower.q[:6] = TURNED
    session.core.state = type(session.core.state).WAITING
    session.T_hand = LIMB.fk(TURNED)
    session.step(20).press("engage").until("ENGAGED")

    assert np.abs(LIMB.take(session.q_cmd) - TURNED).max() < 0.05


def stick(session):
    """Lead a hand from the turned-over wrist into the limit of joint 4."""
    session.follower.q[:6] = TURNED
    session.core.state = type(session.core.state).WAITING
    session.T_hand = LIMB.fk(TURNED)
    session.progress = make_progress(session)
    session.watch, session.verdicts = session.progress.tracking, []
    session.step(20)
    session.start = True
    session.press("engage").until("ENGAGED")
    play(session)
    return session


def look(session, n=1):
    for _ in range(n):
        session.step(40)
        session.progress.look()
    return session


HAND = LeaderInfo(limbs=("hand",), is_human=True)


def test_a_limb_at_its_limit_is_told_at_once_that_another_posture_helps(lock_step):
    session = stick(lock_step(HAND))

    look(session).step()

    (told,) = find_events(session, "stuck_in_reach")
    assert told["limb"] == "arm"
    assert "joint4 at its limit" in told["cause"]
    assert "press p to change over" in session.core.note


@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_a_change_of_posture_reaches_the_target_without_a_jump(lock_step, mode):
    leader = replace(HAND, is_absolute=mode == "absolute")
    session = stick(lock_step(leader, mode=mode, start_bound=4.0))
    look(session).step()
    short = session.core.motion.err_pos[0] + session.core.motion.err_rot[0]

    session.press("reposture")
    assert session.state == "ALIGNING"
    session.until("ENGAGED", 6000).step(200)

    T = LIMB.fk(LIMB.take(session.q_cmd))
    apart = pin.log6(T.actInv(LIMB.fk(place(1.0)))).vector
    assert short > 0.03
    assert np.abs(apart).max() < 2e-3
    assert session.judge().violations == ()
    still = session.q_cmd
    session.step(50)
    assert np.abs(session.q_cmd - still).max() < 1e-9


def test_motion_of_the_hand_while_the_posture_changes_is_not_made_up(lock_step):
    session = stick(lock_step(HAND))
    look(session).step()
    session.press("reposture")
    session.move(200, speed=0.1).until("ENGAGED", 6000)
    begun = session.q_cmd

    session.step(200)

    assert np.abs(session.q_cmd - begun).max() < 1e-9


def test_a_leader_may_let_its_limbs_change_over_unasked(lock_step):
    leader = replace(AUTOMATIC, reposture="auto")
    session = stick(lock_step(leader))

    look(session, 10).until("ENGAGED", 6000).step(100)

    trace = session.trace()
    assert trace[trace.index("ENGAGED") + 1 :] == ["ALIGNING", "ENGAGED"]
    assert session.core.motion.err_pos[0] < 1e-4
    assert LIMB.take(session.q_cmd)[4] < 0.0  # the other wrist
    assert session.judge().violations == ()


def test_without_leave_nothing_changes_over(lock_step):
    session = stick(lock_step(AUTOMATIC))

    look(session, 15)

    assert session.state == "ENGAGED"
    assert session.core.motion.offer is not None


def test_a_way_that_is_not_free_is_told_and_not_taken(lock_step):
    session = stick(lock_step(HAND))
    look(session).step()
    offer = session.core.motion.offer
    session.core.motion.offer = offer._replace(obstacle="'link5' would touch 'table'")

    session.press("reposture").step(5)

    assert session.state == "ENGAGED"
    assert "is not free" in session.core.note


def test_the_offer_is_taken_back_when_the_hand_returns(lock_step):
    session = stick(lock_step(HAND))
    look(session).step()
    assert session.core.motion.offer is not None

    session.T_hand = LIMB.fk(TURNED)
    for share in np.linspace(1.0, 0.0, 400):
        session.T_hand = LIMB.fk(place(share))
        session.step()
    look(session, 2).step()

    assert session.core.motion.offer is None
    assert "stuck" not in session.core.note


def test_a_way_through_a_body_is_no_way(lock_step):
    over = 0.5 * (TURNED + Q_0)
    body = SceneBodySettings(
        shape="sphere", size=(0.01,), xyz=tuple(LIMB.fk(over).translation.tolist())
    )
    q_cmd, T = LIMB.put(PIPER.home, TURNED), LIMB.fk(Q_0)

    free, blocked = (
        lock_step(HUMAN, scene=scene).core.motion._postures.find_other("arm", T, q_cmd)
        for scene in ({}, {"body": body})
    )

    assert free.obstacle == ""
    assert "would touch 'body'" in blocked.obstacle


def test_slow_work_runs_beside_the_tick(lock_step):
    session = lock_step(PLAYER, mode="absolute")
    session.start, session.T_hand = True, LIMB.fk(Q_0)
    aside = session.core.motion.aside
    waiting = []
    aside.give = waiting.append
    session.until("ALIGNING").step(20)
    assert session.state == "ALIGNING"
    assert np.array_equal(LIMB.take(session.q_cmd), LIMB.home)

    thread = threading.Thread(target=waiting.pop())
    thread.start()
    thread.join()
    aside.give = lambda errand: errand()

    session.until("ENGAGED", 6000)
    assert np.abs(LIMB.take(session.q_cmd) - Q_0).max() < 0.02
