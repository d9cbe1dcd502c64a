"""Rows of another sender in a file are no motion, however long they last."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.offline.checks import clean
from paprle.leaders.offline.track import Rows
from paprle.recording.reader import Episode

OWN = np.array([0.4, -1.3, 1.5, -1.2])
LENGTH = 8.0  # [s]


def move(t):
    """Return joints of the own motion, (n, 4)."""
    return OWN + 0.3 * np.sin(np.asarray(t)[:, None] * 0.8 + np.arange(4))


def stand(t, q):
    return np.tile(q, (len(t), 1)).astype(float)


FOREIGN = {
    "zeros": lambda t: stand(t, np.zeros(4)),
    "another posture": lambda t: stand(t, [2.0, 0.5, -0.7, 1.0]),
    "another motion": lambda t: move(3.0 * t) + [1.9, 2.4, -2.2, 1.8],
}
PLACES = {
    "in the middle": [(2.0, 3.5)],
    "twice": [(2.0, 2.4), (5.0, 5.6)],
    "for a row": [(4.0, 4.01)],
    "at the end": [(6.5, LENGTH)],
    "at the beginning": [(0.0, 1.5)],
    "at both ends": [(0.0, 1.0), (7.0, LENGTH)],
}


def mix(t, foreign, places):
    """Return joints, (n, 4), and the rows that are foreign, (n,)."""
    is_foreign = np.zeros(len(t), dtype=bool)
    for begin, end in places:
        is_foreign |= (t >= begin - 1e-9) & (t < max(end, begin + t[1] - t[0]) - 1e-9)
    return np.where(is_foreign[:, None], FOREIGN[foreign](t), move(t)), is_foreign


@pytest.mark.parametrize("period", [0.005, 0.02, 0.1, 0.2])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("foreign", FOREIGN)
def test_foreign_rows_are_left_out_and_counted(foreign, place, period):
    is_inside = all(begin > 0.0 and end < LENGTH for begin, end in PLACES[place])
    if foreign == "another motion" and not is_inside:
        pytest.skip("nothing says which of two motions is the own one")
    if period == 0.2 and foreign != "zeros":
        pytest.skip("a hand may go so far within 0.2 s")
    t = np.arange(0.0, LENGTH, period)
    q, is_foreign = mix(t, foreign, PLACES[place])

    rows, _, counts = clean(Rows(t=t, q=q, joint_names=tuple("abcd")), 0.25)

    np.testing.assert_allclose(rows.q, move(rows.t), atol=1e-9)
    assert counts["rows far from all others dropped"] == is_foreign.sum()
    assert len(rows.t) == (~is_foreign).sum()


def test_poses_of_a_lost_tracker_are_left_out():
    t = np.arange(0.0, LENGTH, 0.02)
    p = np.column_stack([0.4 + 0.1 * np.sin(t), 0.1 * np.cos(t), 0.3 + 0.0 * t])
    quat_xyzw = np.tile([0.0, 1.0, 0.0, 0.0], (len(t), 1))
    is_lost = (t > 2.0) & (t < 4.0)
    p_told = np.where(is_lost[:, None], 0.0, p)
    q_told = np.where(is_lost[:, None], [0.0, 0.0, 0.0, 1.0], quat_xyzw)

    rows, _, counts = clean(Rows(t=t, p=p_told, quat_xyzw=q_told), 0.25)

    np.testing.assert_allclose(rows.p, p[~is_lost], atol=1e-12)
    assert counts["rows far from all others dropped"] == is_lost.sum()


def test_a_motion_that_rests_is_whole():
    t = np.arange(0.0, LENGTH, 0.02)
    q = move(np.clip(t, 2.0, 5.0))

    rows, breaks, _ = clean(Rows(t=t, q=q, joint_names=tuple("abcd")), 0.25)

    assert len(rows.t) == len(t)
    assert not breaks.any()


@pytest.mark.parametrize("place", ["in the middle", "at the end", "at both ends"])
@pytest.mark.parametrize("name", ["ur5e", "piper", "panda"])
def test_a_robot_stays_with_the_own_motion_of_a_file(tmp_path, name, place):
    robot = make_robot(
        resolve(["leader=autopilot", f"follower={name}", "env=kinematic"])
    ).info
    joints = list(robot.limbs[0].joint_names)
    columns = [robot.joint_names.index(joint) for joint in joints]
    t = np.arange(0.0, LENGTH, 0.02)
    home = robot.home[columns]
    own = home + 0.2 * np.sin(t[:, None]) * np.cos(np.arange(len(joints)))
    _, is_foreign = mix(t, "zeros", PLACES[place])
    far = np.where(np.abs(home) > 0.6, 0.0, home)
    rows = np.column_stack([t, np.where(is_foreign[:, None], far, own)])
    path = tmp_path / "joints.csv"
    header = ",".join(["t", *joints])
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.9f")
    args = [
        "leader=offline", f"leader.path={path}", f"follower={name}", "env=kinematic",
        "retarget.mode=joints", "leader.units.angle=rad", "leader.allow_loss=true",
        "session.clock=virtual", f"record.dir={tmp_path / 'out'}",
    ]  # fmt: skip

    VirtualSession(resolve(args)).run()

    q_cmd = Episode.open(tmp_path / "out/episode_000000.mcap").gate["q_cmd"][:, columns]
    sound = np.vstack([own[~is_foreign], home])
    assert (q_cmd > sound.min(axis=0) - 0.02).all()
    assert (q_cmd < sound.max(axis=0) + 0.02).all()
