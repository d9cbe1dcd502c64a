"""Stills of the robot: where its links are, and what is drawn of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paprle_lab.evaluation.episode import measure_source
from paprle_lab.evaluation.reporting.plots import draw_episode, find_red
from paprle_lab.evaluation.reporting.stills import (
    choose_stills,
    draws_rods,
    make_faces,
    place_links,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def result(make_episode):
    return measure_source(make_episode(n=900))


def test_links_stand_where_the_geometry_says(result):
    """The hand by hand: see test_reach."""
    q = np.array([0.4, -0.3, 0.2])

    T = place_links(result.urdf, result.robot, q)["arm_eef"]

    x = 0.2 + 0.4 * np.cos(q[1]) + 0.1 * np.sin(q[1])
    z = 0.2 + 0.1 * np.cos(q[1]) - 0.4 * np.sin(q[1])
    hand = [0.2 + x * np.cos(q[0]), x * np.sin(q[0]), z]
    assert T.translation == pytest.approx(np.array(hand), abs=1e-12)


@pytest.mark.nightly
def test_a_robot_without_bodies_is_drawn_as_rods_and_the_page_says_so(result):
    places = place_links(result.urdf, result.robot, np.zeros(3))

    captions = [caption for _, caption, _ in draw_episode(result)]

    assert draws_rods(result.urdf)
    assert len(list(make_faces(result.urdf, places))) > 100
    assert any("drawn as rods" in caption for caption in captions)


def test_stills_stand_from_the_first_to_the_last_of_the_path(result):
    (limb,) = result.limbs
    t_meas = (result.gate["meas_ns"] - result.origin_ns) * 1e-9

    stills = choose_stills(limb, t_meas, result.gate["q_meas"])

    assert len(stills) == 5
    assert stills[0].t == limb.target.t[0]
    assert stills[-1].t == pytest.approx(limb.target.t[-1], abs=0.2)
    assert all(a.t < b.t for a, b in zip(stills, stills[1:], strict=False))


@pytest.mark.parametrize(
    ("most_mm", "red"), [(0.0001, 0.01), (0.73, 0.8), (1.4, 1.5), (585.0, 600.0)]
)
def test_colours_are_scaled_to_the_motion_by_round_numbers(most_mm, red):
    assert find_red(np.full(100, most_mm * 1e-3)) == red


def test_the_caption_says_what_red_is(result):
    path = next(text for title, text, _ in draw_episode(result) if "Path" in title)

    assert re.search(r"red [\d.]+ mm and more", path)
