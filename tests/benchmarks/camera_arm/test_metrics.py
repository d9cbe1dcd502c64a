"""Figures of a view and the score of a study (requirements C16, C17)."""

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.camera_arm import metrics
from benchmarks.camera_arm.judge import R_SCREEN
from benchmarks.camera_arm.rigs import look_from
from benchmarks.camera_arm.score import (
    SCALES,
    TASKS,
    compute_alpha,
    list_items,
    read_study,
    score,
)


def turned(T, axis, angle):
    """A camera turned about one of its own axes."""
    other = T.copy()
    other[:3, :3] = T[:3, :3] @ pin.exp3(angle * np.eye(3)[axis])
    return other[None]


def test_a_camera_that_looks_at_a_point_has_it_in_its_middle():
    T, p = (
        look_from(np.array([1.0, 0.3, 0.9]), (0.4, 0.0, 0.1)),
        np.array([[0.4, 0, 0.1]]),
    )

    assert metrics.find_angles(T[None], p) == pytest.approx(0.0, abs=1e-6)
    assert metrics.find_rolls(T[None]) == pytest.approx(0.0, abs=1e-9)
    assert metrics.is_in_frame(T[None], p).all()
    assert metrics.find_angles(turned(T, 1, 0.2), p) == pytest.approx(0.2, abs=1e-6)
    assert metrics.find_rolls(turned(T, 2, 0.2)) == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize(
    ("axis", "angle", "is_seen"),
    [
        (0, 0.49, True),
        (0, 0.52, False),
        (1, 0.62, True),
        (1, 0.65, False),
        (1, 3.0, False),
    ],
)
def test_a_point_leaves_the_frame_where_the_lens_ends(axis, angle, is_seen):
    T, p = (
        look_from(np.array([1.0, 0.3, 0.9]), (0.4, 0.0, 0.1)),
        np.array([[0.4, 0, 0.1]]),
    )

    assert metrics.is_in_frame(turned(T, axis, angle), p).all() == is_seen


def test_roughness_is_that_of_the_motion():
    t = np.arange(0, 2, 0.01)
    p = np.column_stack([0.1 * np.sin(3 * t), np.zeros_like(t), np.zeros_like(t)])

    a, j = metrics.find_roughness(t, p)

    assert a == pytest.approx(0.9, rel=1e-3)
    assert j == pytest.approx(2.7, rel=1e-3)


def test_a_camera_along_x_shows_motions_as_they_are():
    T = np.eye(4)[None].copy()
    T[0, :3, :3] = R_SCREEN

    assert metrics.find_turns(T, R_SCREEN) == pytest.approx(0.0, abs=1e-6)
    assert metrics.find_turns(turned(T[0], 1, 1.0), R_SCREEN) == pytest.approx(1.0)


def write_study(path, rows):
    columns = [*list_items(TASKS), *list_items(SCALES)]
    lines = [",".join(["participant", "condition", *columns])]
    lines += [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_study_is_scored(tmp_path):
    good = [[f"p{k}", "ours", *[1] * 12, *[0] * 4, *[6 + k % 2] * 5] for k in range(4)]
    study = write_study(tmp_path / "study.csv", good)

    ours = score(read_study(study))["ours"]

    assert ours["score"] == 12
    assert ours["ease"] == pytest.approx(6.5)
    assert ours["ease_alpha"] == pytest.approx(1.0)


def test_alpha_is_cronbachs():
    # k/(k−1)·(1 − Σσᵢ²/σ²): items 1 2 3 and 2 2 5 have σ² 1 and 3, their sum 7
    assert compute_alpha([[1, 2], [2, 2], [3, 5]]) == pytest.approx(2 * (1 - 4 / 7))
    assert np.isnan(compute_alpha([[3, 3], [3, 3]]))


def test_invalid_answers_are_reported_all_at_once(tmp_path):
    bad = [["p0", "ours", *[1] * 15, 2, *[8, 1, 1, 1, 1]]]
    study = write_study(tmp_path / "study.csv", bad)

    with pytest.raises(ValueError, match="pills6 of 0 … 1, got '2'") as told:
        read_study(study)

    assert "ease1 of 1 … 7, got '8'" in str(told.value)
