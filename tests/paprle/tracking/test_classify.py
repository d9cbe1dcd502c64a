"""Why a limb is not where it is asked to be, of sessions whose every input is known."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from lock_step import PIPER, make_progress

from paprle.contracts.settings.core import SceneBodySettings
from paprle.contracts.types import SessionState
from paprle.recording.shortage import describe_distance
from paprle.tracking.looks import LOOK_NS, LookHistory, make_look

WALL = {"wall": {"shape": "box", "size": [0.1, 2.0, 2.0], "xyz": [0.45, 0.0, 0.0]}}
LOOK = LOOK_NS // 5_000_000  # ticks
REACH = "not reached from this posture"


def drive(session, direction, n, speed):
    """Move the hand; return all that was found meanwhile."""
    step, seen = np.asarray(direction) * speed * 0.005, len(session.verdicts)
    for _ in range(n):
        T = session.T_hand
        session.T_hand = pin.SE3(T.rotation, T.translation + step)
        session.step()
    return [one for verdict in session.verdicts[seen:] for one in verdict.findings]


def turn(session, axis, n, speed):
    """Turn the hand about an axis of its own; return all that was found meanwhile."""
    R, seen = pin.exp3(np.asarray(axis) * speed * 0.005), len(session.verdicts)
    for _ in range(n):
        T = session.T_hand
        session.T_hand = pin.SE3(T.rotation @ R, T.translation)
        session.step()
    return [one for verdict in session.verdicts[seen:] for one in verdict.findings]


def test_a_reachable_gentle_motion_is_never_short(lock_step):
    session = lock_step().engage().track()

    assert drive(session, (0.0, 1.0, 0.0), 200, 0.1) == []
    assert session.watch.session.summarise() == ""
    assert not session.watch.session.is_most


@pytest.mark.long
def test_a_hand_beyond_the_arm_is_short_by_so_much(lock_step):
    session = lock_step().engage().track()
    drive(session, (1.0, 0.0, 0.0), 800, 0.25)
    standing = drive(session, (1.0, 0.0, 0.0), 400, 0.0)

    T = session.core.motion.following.target.T[0]
    limb = PIPER.limbs["arm"]
    short = np.linalg.norm(T[:3, 3] - limb.fk(limb.take(session.q_cmd)).translation)
    assert standing[-1].cause == REACH
    assert standing[-1].pos == pytest.approx(short, rel=0.05)
    assert str(standing[-1]) == f"{REACH}, {short * 100:.0f} cm short"
    assert REACH in session.watch.session.summarise()
    assert session.watch.session.is_most


@pytest.mark.long
def test_a_hand_that_went_too_far_is_told(lock_step):
    session = lock_step().engage().track()
    out = drive(session, (1.0, 0.0, 0.0), 560, 1.25)
    drive(session, (-1.0, 0.0, 0.0), 560, 1.25)
    still = drive(session, (1.0, 0.0, 0.0), 300, 0.0)

    said = "the hand is farther than retarget.max_travel from where it engaged"
    assert out[0].cause != said
    assert said in {one.cause for one in out}
    assert said not in {one.cause for one in still[-3:]}


@pytest.mark.long
def test_a_turn_beyond_a_joints_limit_names_the_joint_and_is_not_followed(lock_step):
    session = lock_step().engage().track()
    turn(session, (0.0, 1.0, 0.0), 700, 0.8)
    (one,) = turn(session, (0.0, 1.0, 0.0), 2 * LOOK, 0.0)[-1:]

    joint = one.cause.removesuffix(" at its limit")
    index = session.robot.joint_names.index(joint)
    q, info = session.q_cmd[index], session.robot.info
    assert min(q - info.q_min[index], info.q_max[index] - q) < 0.03
    turn(session, (0.0, 1.0, 0.0), 800, 0.0)
    assert session.watch.session.is_most, "it is where it was asked, turned wrongly"


def test_a_hand_that_starts_too_fast_meets_acceleration_or_speed(lock_step):
    session = lock_step().engage().track()
    session.move(LOOK, speed=2.0)

    one = session.watch.newest.findings[0]
    assert one.kind in {"acceleration", "velocity"}
    assert one.cause == "acceleration" or one.cause.endswith("at its top speed")


@pytest.mark.parametrize(
    ("pos", "rot", "said"),
    [
        (0.042, 0.0, "42 mm"),
        (0.314, 0.0, "31 cm"),
        (0.0, 0.2, "11°"),
        (float("nan"), float("nan"), ""),
    ],
)
def test_distances_read_as_a_person_says_them(pos, rot, said):
    assert describe_distance(pos, rot) == said


def displace(session, offset, turned=(0.0, 0.0, 0.0)):
    """Let the robot be measured beside its command from now on, [m] and [rad]."""
    limb, write = PIPER.limbs["arm"], session.follower.read

    def read():
        state = write()
        q = np.array(state.q)
        J = limb.jacobian(limb.take(q))
        q[limb.indices] += np.linalg.pinv(J) @ [*offset, *turned]
        return replace(state, q=q)

    session.follower.read = read


def sway(session, n):
    for k in range(n):
        step = 0.1 * 0.005 * (1.0 if k // 200 % 2 == 0 else -1.0)
        session.T_hand.translation += [0.0, step, 0.0]
        session.step()


@pytest.mark.long
@pytest.mark.parametrize(
    ("offset", "turned", "is_most"),
    [
        pytest.param(
            (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False, marks=pytest.mark.nightly
        ),
        ((0.0, 0.0, 0.003), (0.0, 0.0, 0.0), False),
        ((0.0, 0.0, 0.012), (0.0, 0.0, 0.0), True),
        ((0.0, 0.0, 0.0), (0.0, 0.1, 0.0), True),
    ],
    ids=["as asked", "beside by little", "beside", "turned"],
)
def test_a_robot_beside_what_was_asked_does_not_follow(
    lock_step, offset, turned, is_most
):
    session = lock_step().engage().track()
    displace(session, offset, turned)
    sway(session, 600)

    assert session.watch.session.is_most == is_most
    stalls = [one for one in session.watch.newest.findings if one.kind == "stall"]
    assert bool(stalls) == is_most
    assert all(one.cause == "the robot does not come along" for one in stalls)


@pytest.mark.long
@pytest.mark.parametrize("share", [-2.0, -0.9, 0.9, 2.0])
def test_an_arm_that_hangs_by_its_sag_comes_along_and_one_that_hangs_more_does_not(
    lock_step, share
):
    sag, limb = 0.05, PIPER.limbs["arm"]
    session = lock_step().engage().track(env={"sag": sag})
    read = session.follower.read

    def hang():
        state = read()
        q = state.q.copy()
        q[limb.indices[1:3]] += share * sag  # shoulder and elbow
        return replace(state, q=q)

    session.follower.read = hang
    sway(session, 600)

    stalls = [one for one in session.watch.newest.findings if one.kind == "stall"]
    assert bool(stalls) == (abs(share) > 1.0)
    assert session.watch.session.is_most == (abs(share) > 1.0)


def test_the_body_that_the_robot_avoids_is_named_with_its_limb(lock_step):
    scene = {name: SceneBodySettings(**body) for name, body in WALL.items()}
    session = lock_step(scene=scene).engage().track(scene)
    drive(session, (1.0, 0.0, 0.0), 400, 0.2)

    found = session.watch.newest.findings
    (kept,) = {one.cause for one in found if "kept clear" in one.cause}
    assert "' of arm is kept clear of 'wall' of the scene" in kept
    assert kept in session.watch.session.summarise()


def test_a_pause_is_a_clutch_or_a_silence(lock_step):
    session = lock_step().engage().track()
    session.press("engage").until("CLUTCHED").step(2 * LOOK)
    clutched = session.watch.newest
    session.leader_speaks = False
    session.step(4 * LOOK)

    assert (clutched.pause, clutched.findings) == ("clutch", ())
    assert session.watch.newest.pause == "silence"
    assert "clutch 0." in session.watch.session.describe_pauses()


def test_looks_of_another_engagement_are_forgotten(lock_step):
    session = lock_step().engage()
    tick, status = session.layout.tick, session.status
    record, history = np.zeros((), tick), LookHistory()
    states = [SessionState.ENGAGED] * 3 + [SessionState.CLUTCHED] + [2 * LOOK_NS]
    seen = []
    for k, state in enumerate(states[:4]):
        record["stamp_ns"], record["state"] = k * LOOK_NS, state
        seen.append(len(history.add(make_look(record, status))))
    record["state"] = SessionState.ENGAGED
    for k in (4, 5, 9):
        record["stamp_ns"] = k * LOOK_NS
        seen.append(len(history.add(make_look(record, status))))

    assert seen == [1, 2, 3, 0, 1, 2, 1]


@pytest.mark.long
def test_the_end_of_each_episode_says_what_it_was_short_of(lock_step):
    session = lock_step().engage().track()
    drive(session, (1.0, 0.0, 0.0), 800, 0.25)
    drive(session, (1.0, 0.0, 0.0), 400, 0.0)
    session.press("next_episode").until("WAITING").step(5)
    session.engage().step(100)
    session.press("redo").until("WAITING").step(5)

    ends = [e for e in session.events if e["event"] == "episode_end"]
    said = {one["cause"]: one for one in ends[0]["short"]}
    text = session.watch.session.summarise()
    for cause, one in said.items():
        assert f"{cause} {one['seconds']:.1f} s" in text, "no other episode had any"
    assert said[REACH]["farthest"] > 0.3
    assert "short" not in ends[1]


def test_a_short_episode_of_which_nothing_was_seen_has_nothing_of_the_one_before(
    lock_step,
):
    session = lock_step().engage()
    begin_ns = session.core.episodes.begin_ns
    session.press("next_episode").until("WAITING").step(5)
    session.engage().move(5)

    session.core.episodes.note_short(begin_ns, [{"cause": "acceleration"}])
    session.press("redo").until("WAITING").step(5)

    told = [e for e in session.events if e["event"] in {"discard", "episode_end"}]
    assert [e["event"] for e in told] == ["episode_end", "discard", "episode_end"]
    assert not [e for e in told if "short" in e]


def turn_base(session, speed, n):
    """Lead the robot's hand about its first axis; return the cuts of the last look."""
    R = pin.exp3(np.array([0.0, 0.0, speed * 0.005]))
    for _ in range(n):
        target, T = session.core.motion.following.target, session.T_hand
        p = np.array(target.T[0])[:3, 3]
        session.T_hand = pin.SE3(R @ T.rotation, T.translation + R @ p - p)
        session.step()
    return session.watch.newest.cuts


@pytest.mark.long
def test_nothing_is_cut_of_a_gentle_motion(lock_step):
    session = lock_step().engage().track()
    session.step()

    assert turn_base(session, 0.3, 240) == ()


@pytest.mark.long
def test_a_hand_that_is_too_fast_for_one_joint_is_cut_by_as_much(lock_step):
    session, fastest = lock_step().engage().track(), float(PIPER.dq_max[0])
    session.step()

    (cut,) = turn_base(session, 1.25 * fastest, 4 * LOOK)

    assert cut.what == f"velocity of {PIPER.joint_names[0]}"
    assert cut.share == pytest.approx(0.2, abs=0.1), "other joints lend a little"
    assert turn_base(session, 0.0, 320) == ()


def test_the_line_at_the_terminal_and_the_page_say_what_was_found(lock_step):
    session = lock_step().engage()
    progress = make_progress(session)
    session.watch, session.verdicts = progress.tracking, []
    session.move(3 * LOOK, speed=2.0)

    line = progress.compose(0, "", (), 400)

    assert progress.shortfalls
    assert all(said in line for said in progress.shortfalls)
