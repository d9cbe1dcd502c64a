"""Joints and orientations of files go on as a body can; what does not is counted."""

import numpy as np
import pytest
from played import POSE, T_GOOD, make_leader, make_pose_rows, play, write_csv

from paprle.contracts.errors import PaprleError
from paprle.contracts.kit.continuity import unwrap
from paprle.leaders.offline.checks import clean
from paprle.leaders.offline.track import Rows
from paprle.testing import make_robot_info

JOINTS = "t,a,b"


def wrap(q):
    return (np.asarray(q) + np.pi) % (2 * np.pi) - np.pi


def make_rows(q_a, q_b=0.3, t=T_GOOD):
    q = [np.broadcast_to(q, len(t)) for q in (q_a, q_b)]
    return np.column_stack([t, *q])


def joints(samples):
    return np.array([s.limbs["hand"].q for s in samples])


@pytest.mark.parametrize("speed", [0.2, -0.2, 1.5, -6.0])
@pytest.mark.parametrize("period", [0.005, 0.02, 0.1])
def test_a_joint_told_within_a_turn_goes_on(tmp_path, speed, period):
    t = np.arange(100) * period
    whole = 3.1 * np.sign(speed) + speed * t
    path = write_csv(tmp_path / "a.csv", JOINTS, make_rows(wrap(whole), t=t))

    leader = make_leader(path)
    _, samples = play(leader)

    assert all(s.valid for s in samples)
    q = joints(samples)[:, 0]
    assert q[0] == pytest.approx(whole[0])
    assert q[-1] == pytest.approx(whole[-1])
    n = len(np.flatnonzero(np.abs(np.diff(wrap(whole))) > np.pi))
    assert f"{n} steps of a turn unwrapped in joint 'a'" in leader.notes[0]


def test_a_joint_that_swings_about_half_a_turn_stays_there(tmp_path):
    whole = np.pi + 0.1 * np.sin(4 * T_GOOD)
    path = write_csv(tmp_path / "a.csv", JOINTS, make_rows(wrap(whole)))

    _, samples = play(make_leader(path))

    assert np.ptp(joints(samples)[:, 0]) == pytest.approx(0.2, abs=0.002)


@pytest.mark.parametrize("step", [0.8, 3.0, 5.0])
def test_a_jump_of_a_joint_ends_validity_and_is_counted(tmp_path, step):
    q = np.where(T_GOOD < 1.0, 0.5, 0.5 - step)
    path = write_csv(tmp_path / "a.csv", JOINTS, make_rows(0.0, q))

    leader = make_leader(path)
    _, samples = play(leader)

    assert any(not s.valid for s in samples)
    assert leader.notes[0] == "a.csv: 100 rows, 1 jumps in joints"


def test_a_jump_in_orientation_ends_validity_and_is_counted(tmp_path):
    rows = make_pose_rows(T_GOOD)
    rows[50:, 4:] = 0.0, 1.0, 0.0, 0.0
    path = write_csv(tmp_path / "a.csv", POSE, rows)

    leader = make_leader(path)
    _, samples = play(leader)

    assert any(not s.valid for s in samples)
    assert leader.notes[0] == "a.csv: 100 rows, 1 jumps in orientation above 20 rad/s"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_zeros_among_the_rows_of_a_joint_are_not_played(tmp_path, n):
    q = 1.0 + 0.1 * T_GOOD
    q[50 : 50 + n] = 0.0
    path = write_csv(tmp_path / "a.csv", JOINTS, make_rows(q, 0.0))

    leader = make_leader(path)
    _, samples = play(leader)

    assert all(s.valid for s in samples)
    assert joints(samples)[:, 0].min() >= 1.0 - 1e-9
    assert f"{n} rows far from all others dropped" in leader.notes[0]


@pytest.mark.parametrize("each", [1, 3])
def test_rows_of_two_senders_in_turn_are_refused(tmp_path, each):
    is_other = (np.arange(100) // each) % 2 == 1
    q = np.where(is_other, 0.0, 1.0 + 0.1 * T_GOOD)
    path = write_csv(tmp_path / "a.csv", JOINTS, make_rows(q, 0.0))

    with pytest.raises(PaprleError, match="far from all others"):
        make_leader(path)


def test_columns_that_are_no_joints_of_the_robot_may_jump():
    robot = make_robot_info(2)
    name = robot.joint_names[0]
    force = np.where(T_GOOD < 1.0, 0.0, 9.0)
    rows = Rows(
        t=T_GOOD,
        q=np.column_stack([0.1 * T_GOOD, force]),
        joint_names=(name, "force"),
    )

    _, breaks, _ = clean(rows, 0.25, robot)

    assert not breaks.any()


def test_no_turn_is_taken_out_of_a_fast_but_possible_motion():
    q = np.array([[0.0], [3.0], [6.0], [3.0]])

    whole, turns = unwrap(q, np.full(3, 0.2), np.array([20.0]))

    assert (whole == q).all()
    assert turns.tolist() == [0]
