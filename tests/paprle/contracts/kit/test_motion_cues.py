"""What an operator is shown of a mapping: equal to where the eef would go (X17)."""

import numpy as np
import pinocchio as pin
import pytest

from paprle.contracts.kit.motion_cues import CueReader, make_cue
from paprle.contracts.session_view import Advice, make_advice_dtype
from paprle.testing import make_robot_info, make_session_view

ROBOT = make_robot_info(has_gripper=True)
T = pin.SE3(pin.exp3(np.array([0.4, -0.9, 0.3])), np.array([0.3, -0.1, 0.4]))
SAME_ADVICE = make_advice_dtype(("D", "f8", (7, 2)), ("is_shown", "?"))
MOVE = np.array([0.5, -0.2, 0.8, 0.3, 0.0, -0.6, -1.0])


def advise(column, *, is_shown=True, valid=True, age=0.0):
    record = np.zeros((), SAME_ADVICE)
    record["D"][:, 0], record["is_shown"], record["valid"] = column, is_shown, valid
    return {"helper": Advice(record, age)}


def show(**fields):
    return make_session_view(ROBOT, **fields)


def test_ghost_and_waypoints_are_where_the_eef_would_be():
    path = make_cue("active", T, MOVE).path

    for k, pose in enumerate(path):
        twist = 1.5 * k / (len(path) - 1) * np.array([0.1] * 3 + [0.5] * 3) * MOVE[:6]
        expected = (T * pin.exp6(twist)).homogeneous
        got = pin.XYZQUATToSE3(pose).homogeneous
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_arrows_are_straight_for_translations_and_curved_about_the_axis_of_a_turn():
    cue = make_cue("suggested", T, MOVE)

    way = cue.arrow[1] - cue.arrow[0]
    np.testing.assert_allclose(way, T.rotation @ MOVE[:3] * 0.15, atol=1e-12)
    axis = T.rotation @ (MOVE[3:6] / np.linalg.norm(MOVE[3:6]))
    spokes = cue.arc - T.translation
    np.testing.assert_allclose(spokes @ axis, 0.0, atol=1e-12)
    assert np.ptp(np.linalg.norm(spokes, axis=1)) < 1e-12
    assert (np.cross(spokes[:-1], spokes[1:]) @ axis > 0.0).all(), "the wrong way"


@pytest.mark.parametrize(
    ("column", "n_arrow", "n_arc"),
    [(np.eye(7)[0], 2, 0), (np.eye(7)[4], 0, 16), (np.eye(7)[6], 0, 0)],
)
def test_a_still_axis_has_no_arrow(column, n_arrow, n_arc):
    cue = make_cue("active", T, column)

    assert (len(cue.arrow), len(cue.arc)) == (n_arrow, n_arc)


@pytest.mark.parametrize(
    ("advice", "roles"),
    [
        (advise(MOVE), ["active", "suggested"]),
        (advise(MOVE, is_shown=False), ["active"]),
        (advise(MOVE, valid=False), ["active"]),
        (advise(MOVE, age=3.0), ["active"]),
        (advise(np.full(7, np.nan)), ["active"]),
        (advise(np.zeros(7)), ["active"]),
        ({}, ["active"]),
    ],
)
def test_only_usable_suggestions_are_shown(advice, roles):
    view = show(mappings={"limb0": np.eye(7)[:, :1]}, advice=advice)

    assert [cue.role for cue in CueReader("limb0").read(view, T)] == roles


def test_a_limb_that_no_axes_drive_has_no_cues():
    assert CueReader("limb0").read(show(advice=advise(MOVE)), T) == []


@pytest.mark.parametrize("is_fixed", [False, True])
def test_cues_go_with_the_tool_or_stay_where_they_appeared(is_fixed):
    reader = CueReader("limb0", is_fixed=is_fixed)
    view = show(mappings={"limb0": np.eye(7)[:, :1]})
    moved = T * pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))

    (first,), (second,) = reader.read(view, T), reader.read(view, moved)
    other = show(mappings={"limb0": np.eye(7)[:, 1:2]})
    (third,) = reader.read(other, moved)

    kept = T if is_fixed else moved
    np.testing.assert_allclose(first.path[0, :3], T.translation)
    np.testing.assert_allclose(second.path[0, :3], kept.translation)
    np.testing.assert_allclose(third.path[0, :3], moved.translation)
