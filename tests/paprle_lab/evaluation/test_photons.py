"""Delays between two places of a film are found in films that were made with them."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest
from cells import spread

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.evaluation.photons import Region, measure_film, parse_region

pytestmark = pytest.mark.long
LEFT, RIGHT = Region(0, 0, 160, 120), Region(160, 0, 160, 120)
RATE, SECONDS = 30, 14


def sway(t):
    """A hand's motion: to and fro, never quite the same."""
    return np.sin(2 * np.pi * 0.7 * t) + 0.5 * np.sin(2 * np.pi * 1.13 * t + 1.0)


def square(image, x):
    u, v = np.arange(160)[None, :], np.arange(120)[:, None]
    cover = np.clip(12 - np.abs(u - x), 0, 1) * (np.abs(v - 60) < 12)
    image += 150 * cover


def make_film(path, draw, seconds=SECONDS):
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as film:
        stream = film.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 320, 120, "yuv420p"
        stream.bit_rate = 4_000_000
        for k in range(RATE * seconds):
            image = 50 + rng.normal(0, 3, (120, 320))
            draw(image, k / RATE)
            grey = np.clip(image, 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="gray").reformat(
                format="yuv420p"
            )
            frame.pts, frame.time_base = k, Fraction(1, RATE)
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path


@pytest.mark.parametrize("delay", spread([0.045, 0.12, 0.31], 0.12))
def test_a_robot_that_mirrors_a_hand_later_is_found(tmp_path, delay):
    def draw(image, t):
        square(image[:, :160], 80 + 25 * sway(t))
        square(image[:, 160:], 80 - 15 * sway(t - delay))

    found = measure_film(make_film(tmp_path / "a.mp4", draw), LEFT, RIGHT)

    assert found.delay == pytest.approx(delay, abs=0.004)
    assert found.spread < 0.004
    assert found.n_windows >= 4
    assert found.rate == pytest.approx(RATE, rel=0.01)


@pytest.mark.nightly
def test_a_screen_that_flashes_later_than_a_robot_moves_is_found(tmp_path):
    def draw(image, t):
        square(image[:, :160], 80 + 25 * sway(t))
        image[20:100, 180:300] += 40 * sway(t - 0.15)

    found = measure_film(make_film(tmp_path / "a.mp4", draw), LEFT, RIGHT)

    assert found.delay == pytest.approx(0.15, abs=0.005)


def test_regions_in_the_wrong_order_are_told(tmp_path):
    def draw(image, t):
        square(image[:, :160], 80 + 25 * sway(t - 0.2))
        square(image[:, 160:], 80 - 15 * sway(t))

    film = make_film(tmp_path / "a.mp4", draw, seconds=8)

    with pytest.raises(RecordingError, match="the first is the later one: swap them"):
        measure_film(film, LEFT, RIGHT)


def test_a_place_where_nothing_moves_is_told(tmp_path):
    def draw(image, t):
        square(image[:, :160], 80 + 25 * sway(t))

    film = make_film(tmp_path / "a.mp4", draw, seconds=8)

    with pytest.raises(RecordingError, match="nothing moves in the second region 160,"):
        measure_film(film, LEFT, RIGHT)


def test_two_motions_that_have_nothing_in_common_are_told(tmp_path):
    def draw(image, t):
        square(image[:, :160], 80 + 25 * sway(t))
        square(image[:, 160:], 80 + 25 * np.sin(2 * np.pi * 0.31 * t**1.3))

    film = make_film(tmp_path / "a.mp4", draw, seconds=8)

    with pytest.raises(RecordingError, match="do not move alike"):
        measure_film(film, LEFT, RIGHT)


def test_a_region_is_within_the_images(tmp_path):
    film = make_film(tmp_path / "a.mp4", lambda *_: None, seconds=2)

    with pytest.raises(ConfigError, match="expected regions within 320 × 120 px"):
        measure_film(film, LEFT, Region(300, 0, 40, 40))


def test_a_file_that_is_no_film_is_told(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"no film")

    with pytest.raises(RecordingError, match="expected a video"):
        measure_film(path, LEFT, RIGHT)


@pytest.mark.parametrize("text", ["", "1,2,3", "a,b,c,d", "0,0,1,9", "-1,0,9,9"])
def test_a_region_is_four_numbers(text):
    with pytest.raises(ConfigError, match="expected"):
        parse_region(text)
