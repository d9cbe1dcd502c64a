"""The operator is told at which joint how much of the asked motion is cut."""

import numpy as np
import pinocchio as pin
import pytest
from lock_step import PIPER, make_progress

from paprle.hosts.cuts import Cut, Cuts, find_share

LOOK = 40  # [ticks] a fifth of a second


def turn(session, cuts, speed, n):
    """Lead the robot's hand about its first axis; return what each look found."""
    found, R = [], pin.exp3(np.array([0.0, 0.0, speed * 0.005]))
    target = session.core.motion.following.target
    p = np.array(target.T[0])[:3, 3] if target else None
    if p is None:
        limb = PIPER.limbs["arm"]
        p = limb.fk(limb.take(session.q_cmd)).translation
    for k in range(n):
        T = session.T_hand
        session.T_hand = pin.SE3(R @ T.rotation, T.translation + R @ p - p)
        p = R @ p
        session.step()
        if k % LOOK == LOOK - 1:
            cuts.update(session.core)
            found.append(cuts.newest)
    return found


@pytest.mark.parametrize(
    ("asked", "sent", "share"),
    [
        ([1.0, 0.0], [0.88, 0.0], 0.12),
        ([1.0, 0.0], [0.0, 1.0], 1.0),
        ([1.0, 0.0], [-1.0, 0.0], 1.0),
        ([1.0, 0.0], [1.5, 0.0], 0.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
    ],
    ids=["less", "aside", "back", "catching up", "nothing asked"],
)
def test_the_share_is_what_the_command_did_not_go_of_the_asked_way(asked, sent, share):
    assert find_share(np.array(asked), np.array(sent)) == pytest.approx(share)


def test_a_cut_is_reported_in_the_words_of_a_person():
    assert str(Cut("velocity of joint2", 0.12)) == "velocity of joint2, 12 %"
    assert str(Cut("velocity of joint2", 0.0)) == "velocity of joint2, catching up"


@pytest.mark.long
def test_nothing_is_cut_of_a_gentle_motion(lock_step):
    session = lock_step().engage()

    found = turn(session, Cuts(session.robot), 0.3, 6 * LOOK)

    assert found == [()] * 6


@pytest.mark.long
def test_a_hand_that_is_too_fast_for_one_joint_is_cut_by_as_much(lock_step):
    session = lock_step().engage()
    cuts, fastest = Cuts(session.robot), float(PIPER.dq_max[0])
    turn(session, cuts, 1.25 * fastest, LOOK)
    found = turn(session, cuts, 1.25 * fastest, LOOK)

    ((cut,),) = found
    assert cut.what == f"velocity of {PIPER.joint_names[0]}"
    assert cut.share == pytest.approx(0.2, abs=0.1), "other joints lend a little"


@pytest.mark.long
def test_a_robot_that_catches_up_is_told_to_do_so_and_then_nothing(lock_step):
    session = lock_step().engage()
    cuts, fastest = Cuts(session.robot), float(PIPER.dq_max[0])
    turn(session, cuts, 1.6 * fastest, LOOK)
    _, *rest = turn(session, cuts, 0.0, 8 * LOOK)

    told = [str(cut) for found in rest for cut in found]
    assert told == [] or set(told) == {
        f"velocity of {PIPER.joint_names[0]}, catching up"
    }
    assert rest[-1] == ()


@pytest.mark.long
def test_the_line_at_the_terminal_and_the_page_say_it(lock_step):
    session = lock_step().engage()
    progress = make_progress(session)
    cuts, fastest = progress._cuts, float(PIPER.dq_max[0])
    turn(session, cuts, 1.25 * fastest, LOOK)
    turn(session, cuts, 1.25 * fastest, LOOK - 1)
    session.step()

    line = progress.compose(0, "", (), 400)

    (said,) = progress.cuts
    assert said.startswith(f"velocity of {PIPER.joint_names[0]}, ")
    assert said.endswith(" %")
    assert said in line
