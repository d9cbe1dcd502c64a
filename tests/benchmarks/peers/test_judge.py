import numpy as np
import pytest

from benchmarks.peers.judge import judge_freeze, judge_track, measure_errors
from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import DT
from benchmarks.peers.targets import Fk, make_cold, make_motion


def hold(robot, n, q=None):
    """Targets at home and a result that stands at q."""
    home = robot.model.home
    T = np.tile(Fk(robot)(home), (n, 1, 1, 1))
    targets = Targets(T, np.array([0]), home[None], np.zeros(n, dtype=int))
    stood = np.tile(home if q is None else q, (n, 1))
    return targets, result(stood)


def result(q):
    return {
        "q": q,
        "q_ik": q,
        "seconds": np.full(len(q), 1e-5),
        "is_solved": np.ones(len(q), dtype=bool),
        "n_pairs": 0,
    }


def test_standing_on_target_has_no_error_and_breaks_nothing(ur5e):
    row = judge_track(ur5e, *hold(ur5e, 10), every=1)

    assert row["reachable"]["success"] == 1.0
    assert row["reachable"]["mm"]["max"] < 1e-9
    assert row["us"]["median"] == pytest.approx(10.0)
    names = ("over_limits", "over_speed", "over_acceleration")
    assert [row[name] for name in names] == [0, 0, 0]


def test_a_jump_breaks_speed_and_acceleration(ur5e):
    targets, done = hold(ur5e, 10)
    done["q"][5:, 0] += 2.0 * ur5e.model.dq_max[0] * DT

    row = judge_track(ur5e, targets, done, every=1)

    assert row["over_speed"] == 1
    assert row["over_acceleration"] == 2
    assert row["rad_s"] == pytest.approx(2.0 * ur5e.model.dq_max[0])


def test_a_joint_beyond_its_limit_is_counted(ur5e):
    q = ur5e.model.home.copy()
    q[2] = ur5e.model.q_max[2] + 1e-3

    row = judge_track(ur5e, *hold(ur5e, 4, q), every=1)

    assert row["over_limits"] == 4


def test_errors_are_distance_and_angle_of_the_eef(ur5e):
    targets, done = hold(ur5e, 1)
    targets.T[0, 0, :3, 3] += [0.0, 3e-3, 4e-3]
    c, s = np.cos(0.1), np.sin(0.1)
    targets.T[0, 0, :3, :3] @= np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    pos, rot = measure_errors(ur5e, targets.T, done["q"])

    assert pos[0] == pytest.approx(5e-3)
    assert rot[0] == pytest.approx(0.1)


def test_freezing_is_standing_away_from_the_target(ur5e):
    targets, done = hold(ur5e, 101)
    targets.T[51:, :, 0, 3] += 0.1

    freeze = judge_freeze(ur5e, targets, done["q"])

    assert freeze["frozen"] == pytest.approx(0.5)
    assert freeze["longest_s"] == pytest.approx(50 * DT)
    assert freeze["back"] == 0.0


def test_the_same_seed_makes_the_same_targets(ur5e):
    first, again = (make_motion(ur5e, "warm", 1, 1.0) for _ in range(2))

    assert np.array_equal(first.T, again.T)


def test_targets_out_of_reach_are_farther_than_the_arm_is_long(ur5e):
    targets = make_motion(ur5e, "warm", 5, 1.0)
    limb = ur5e.model.limbs["arm"]
    length = sum(np.linalg.norm(p) for p in (*limb.tree.p, limb.p_eef))

    far = np.linalg.norm(targets.T[:, 0, :3, 3], axis=1)

    assert far[targets.kind == 1].max() > length
    assert far[targets.kind == 0].max() < length


def test_one_cold_target_in_twenty_is_out_of_reach(ur5e):
    targets, starts = make_cold(ur5e, 40, 3)

    assert targets.kind.sum() == 2
    assert (starts[:, 0] == ur5e.model.home).all()


def test_targets_cut_short_lose_the_paths_behind(ur5e):
    targets = make_motion(ur5e, "warm", 3, 0.5).cut(150)

    assert [path.stop - path.start for path in targets.paths()] == [100, 50]
    assert len(targets.q_start) == 2
