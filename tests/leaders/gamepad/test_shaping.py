import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.hardware.gamepad.controls import CONTROLS
from paprle.leaders.gamepad.shaping import deflect, parse_terms, shape_controls

REST = dict.fromkeys(CONTROLS, 0.0)


def shape(dead_zone=0.2, trigger=0.1, curve=2.0, **raw):
    return shape_controls(REST | raw, dead_zone, trigger, curve)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("leftx", (("leftx", 1.0),)),
        ("-lefty", (("lefty", -1.0),)),
        ("dpup-dpdown", (("dpup", 1.0), ("dpdown", -1.0))),
        (" - a + misc1 ", None),
        ("- a + misc1", (("a", -1.0), ("misc1", 1.0))),
        *((bad, None) for bad in ("", "leftz", "leftx lefty", "2leftx", "-", "a*b")),
    ],
)
def test_axes_are_sums_of_controls(text, terms):
    assert parse_terms(text) == terms


@pytest.mark.parametrize(
    ("raw", "shaped"),
    [(0.2, 0.0), (0.19, 0.0), (0.6, 0.25), (1.0, 1.0), (-0.6, -0.25), (-1.0, -1.0)],
)
def test_a_stick_begins_at_the_edge_of_its_dead_zone_and_follows_its_curve(raw, shaped):
    assert shape(leftx=raw)["leftx"] == pytest.approx(shaped)


def test_a_trigger_has_a_dead_zone_of_its_own():
    assert shape(lefttrigger=0.1)["lefttrigger"] == 0.0
    assert shape(lefttrigger=0.55)["lefttrigger"] == pytest.approx(0.25)


def test_a_button_is_all_or_nothing():
    assert shape(dpup=1.0)["dpup"] == 1.0


@given(x=st.floats(-1, 1), y=st.floats(-1, 1))
def test_a_stick_moves_where_it_is_pushed_and_never_farther(x, y):
    """A dead zone for each axis alone would pull directions to the axes."""
    shaped = shape(leftx=x, lefty=y)

    size = math.hypot(shaped["leftx"], shaped["lefty"])
    assert size <= 1.0 + 1e-9
    assert shaped["leftx"] * y == pytest.approx(shaped["lefty"] * x, abs=1e-9)
    assert shaped["leftx"] * x + shaped["lefty"] * y >= 0.0
    assert (size == 0.0) == (math.hypot(x, y) <= 0.2)


@given(values=st.lists(st.floats(), min_size=len(CONTROLS), max_size=len(CONTROLS)))
def test_no_number_a_driver_can_give_leaves_its_bounds(values):
    shaped = shape(**dict(zip(CONTROLS, values, strict=True)))

    for control in CONTROLS:
        assert -1.0 <= deflect(shaped, ((control, 1.0), ("a", -1.0))) <= 1.0


def test_nan_is_rest():
    assert shape(leftx=math.nan, lefty=math.nan)["leftx"] == 0.0
