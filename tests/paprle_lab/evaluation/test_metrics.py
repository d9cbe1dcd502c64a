from __future__ import annotations

import csv

import numpy as np
import pytest
from evo.core import metrics as evo_metrics
from evo.core.trajectory import PosePath3D
from shared_data import find_shared

from paprle_lab.evaluation.metrics import (
    align,
    colour_errors,
    find_best_shift,
    find_spans,
    is_inside,
    is_outside,
    measure_position_errors,
    measure_relative_errors,
    pair_by_time,
    spread,
    summarise,
)
from paprle_lab.evaluation.poses import Trajectory, interpolate, measure_angles


def load_arbot(name: str) -> tuple[Trajectory, Trajectory]:
    path = find_shared(f"motion/{name}")
    with path.open() as file:
        table = list(csv.DictReader(file))

    def column(key: str) -> np.ndarray:
        return np.array([float(row[key]) for row in table])

    def poses(kind: str) -> Trajectory:
        p = np.stack([column(f"{kind}_pos_{a}") for a in "xyz"], axis=1)
        quat_xyzw = np.stack([column(f"{kind}_orient_{a}") for a in "xyzw"], axis=1)
        quat_xyzw /= np.linalg.norm(quat_xyzw, axis=1, keepdims=True)
        t = column("capture_timestamp")
        return Trajectory(t - t[0], p, quat_xyzw)

    return poses("target"), poses("kinematic")


FILES = ["arbot_rectangle_H1.csv", "arbot_rectangle_robot_1.csv"]


def to_evo(path: Trajectory) -> PosePath3D:
    wxyz = np.roll(path.quat_xyzw, 1, axis=1)
    return PosePath3D(positions_xyz=path.p.copy(), orientations_quat_wxyz=wxyz)


def evo_statistics(metric, target, actual) -> dict[str, float]:
    metric.process_data((to_evo(target), to_evo(actual)))
    return metric.get_all_statistics()


def assert_same(errors: np.ndarray, statistics: dict[str, float]) -> None:
    ours = summarise(errors)
    for name in ("median", "max", "rmse"):
        assert ours[name] == pytest.approx(statistics[name], rel=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_raw_ate_is_that_of_evo(name):
    target, actual = load_arbot(name)

    theirs = evo_statistics(evo_metrics.APE(), target, actual)

    assert_same(measure_position_errors(target, actual), theirs)


@pytest.mark.parametrize("name", FILES)
def test_aligned_ate_is_that_of_evo(name):
    target, actual = load_arbot(name)
    moved = to_evo(actual)
    moved.align(to_evo(target), correct_scale=False)
    metric = evo_metrics.APE()
    metric.process_data((to_evo(target), moved))

    errors = np.linalg.norm(target.p - align(target.p, actual.p), axis=1)

    assert_same(errors, metric.get_all_statistics())


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_orientation_error_is_that_of_evo(name):
    target, actual = load_arbot(name)
    metric = evo_metrics.APE(evo_metrics.PoseRelation.rotation_angle_rad)

    theirs = evo_statistics(metric, target, actual)

    assert_same(measure_angles(target.quat_xyzw, actual.quat_xyzw), theirs)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_rpe_is_that_of_evo(name):
    target, actual = load_arbot(name)
    frames = 30
    start = np.arange(len(target) - frames)
    pairs = np.stack([start, start + frames], axis=1)
    relations = evo_metrics.PoseRelation

    translation, rotation = measure_relative_errors(target, actual, pairs)

    for relation, errors in (
        (relations.translation_part, translation),
        (relations.rotation_angle_rad, rotation),
    ):
        metric = evo_metrics.RPE(relation, delta=frames, all_pairs=True)
        assert_same(errors, evo_statistics(metric, target, actual))


def circle(t: np.ndarray, delay: float = 0.0) -> Trajectory:
    phase = 2.0 * (t - delay)
    p = 0.1 * np.stack([np.cos(phase), np.sin(phase), 0.2 * np.sin(3 * phase)], axis=1)
    return Trajectory(t, p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)))


@pytest.mark.parametrize("delay", [0.0, 0.0123, 0.2, 0.5])
def test_the_best_shift_is_the_delay(delay):
    target = circle(np.arange(0, 10, 1 / 30))
    measured = circle(np.arange(0, 10.001, 0.005), delay)
    spans = np.array([[0.0, 10.0]])

    tau = find_best_shift(target, measured, spans)

    shifted = interpolate(measured, target.t[target.t < 9.5] + tau)
    errors = np.linalg.norm(target.p[target.t < 9.5] - shifted.p, axis=1)
    assert tau == pytest.approx(delay, abs=2e-5)
    assert errors.max() < 1e-5


def test_the_shift_is_the_same_for_all_axes_and_cannot_choose_its_samples():
    t = np.arange(0, 4, 0.01)
    target = circle(t)
    late_in_x = circle(t, 0.1).p[:, :1], circle(t, 0.3).p[:, 1:]
    measured = Trajectory(t, np.hstack(late_in_x), target.quat_xyzw)

    tau = find_best_shift(target, measured, np.array([[0.0, 3.9]]))

    assert 0.1 < tau < 0.3


def test_a_stretch_shorter_than_the_longest_shift_has_no_shift():
    path = circle(np.arange(0, 0.4, 0.01))

    assert find_best_shift(path, path, np.array([[0.0, 0.39]])) is None


def test_alignment_removes_a_rotation_and_an_offset_but_no_scale():
    target = circle(np.arange(0, 3, 0.01)).p
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    assert align(target, target @ turn.T + [1.0, 2.0, 3.0]) == pytest.approx(target)
    assert np.abs(align(target, 2 * target) - target).max() > 0.05


def test_alignment_never_mirrors():
    target = np.random.default_rng(0).normal(size=(50, 3))

    assert np.abs(align(target, target * [1, 1, -1]) - target).max() > 0.1


def test_relative_errors_ignore_a_constant_offset():
    t = np.arange(0, 5, 0.01)
    target = circle(t)
    moved = Trajectory(t, target.p + [0.3, 0.0, -0.1], target.quat_xyzw)
    pairs = pair_by_time(t, np.array([[0.0, 4.99]]))

    translation, rotation = measure_relative_errors(target, moved, pairs)

    assert len(pairs) == 400
    assert translation.max() < 1e-12
    assert rotation.max() == 0.0


def test_pairs_do_not_cross_from_one_stretch_into_another():
    t = np.arange(0, 10, 0.1)
    spans = np.array([[0.0, 2.05], [5.0, 7.05]])

    pairs = pair_by_time(t, spans)

    assert t[pairs[:, 1]] - t[pairs[:, 0]] == pytest.approx(1.0)
    assert not ((t[pairs] > 2.05) & (t[pairs] < 5.0)).any()
    assert (t[pairs[:, 1]] <= 7.05).all()


def test_stretches_are_found_from_flags():
    t = np.arange(8.0)
    flags = np.array([1, 1, 0, 0, 1, 0, 1, 1], dtype=bool)

    spans = find_spans(t, flags)

    assert spans.tolist() == [[0, 1], [4, 4], [6, 7]]
    assert is_inside(t, spans).tolist() == flags.tolist()
    assert is_inside(t, spans, after=1.0).tolist() == [1, 0, 0, 0, 0, 0, 1, 0]
    assert find_spans(t, ~flags & flags).shape == (0, 2)
    assert not is_inside(t, np.zeros((0, 2))).any()


@pytest.mark.parametrize(
    ("after", "free"), [(0.0, [1, 0, 0, 1, 0, 1]), (1.0, [0, 0, 0, 0, 0, 1])]
)
def test_times_outside_stretches_are_found(after, free):
    t = np.array([0.0, 1.0, 2.0, 2.5, 3.5, 5.0])
    spans = np.array([[0.5, 2.2], [3.0, 4.0]])

    assert is_outside(t, spans, after).tolist() == free
    assert is_outside(t, np.zeros((0, 2)), after).all()


def test_statistics_of_nothing_are_unknown():
    assert set(summarise(np.zeros(0)).values()) == {None}
    assert spread(np.zeros(0)) == {"p50": None, "p99": None}


def test_statistics_are_scaled():
    figures = summarise(np.array([0.003, 0.004]), 1e3)

    assert figures["rmse"] == pytest.approx(np.sqrt(12.5))
    assert figures["max"] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("error_mm", "share", "bin_"),
    [(0.0, 0, 0), (7.4, 0, 0), (7.5, 0, 1), (13.75, 0.5, 1), (20.0, 1, 2), (99, 1, 2)],
)
def test_errors_take_the_colours_of_arbot(error_mm, share, bin_):
    shares, bins = colour_errors(np.array([error_mm * 1e-3]))

    assert shares[0] == pytest.approx(share)
    assert bins[0] == bin_
