"""Parts of the way from messages to rows: streams, numbers, pictures."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle_lab.conversion.bags.parts import PartReader
from paprle_lab.conversion.bags.streams import SampleStream
from paprle_lab.conversion.mapping import Part

pytest.importorskip("av")

from paprle_lab.conversion.bags.pictures import Pictures


@given(
    st.lists(st.integers(1, 60), max_size=40),
    st.lists(st.integers(0, 70), min_size=1, max_size=20),
)
def test_a_stream_finds_what_sorting_all_samples_finds(stamps, times):
    stream = SampleStream[int]()
    for stamp in stamps:
        stream.add(stamp, 10 * stamp)
    known = sorted(set(stamps))

    for t in sorted(times):
        before, after = stream.find(t)

        passed = [one for one in known if one <= t]
        coming = [one for one in known if one > t]
        assert (before.stamp_ns if before else None) == (passed[-1] if passed else None)
        if passed:
            assert (after.stamp_ns if after else None) == (
                coming[0] if coming else None
            )
            assert before.value == 10 * before.stamp_ns
    assert stream.n_dropped == len(stamps) - len(known)


def test_a_sample_of_a_time_that_has_passed_is_dropped():
    stream = SampleStream[str]()
    for stamp in (10, 20, 30):
        stream.add(stamp, "")
    stream.find(25)

    stream.add(15, "late")

    assert stream.n_dropped == 1
    assert stream.find(25)[0].stamp_ns == 20


def make_pose(x, quaternion):
    return {
        "pose": {
            "position": {"x": x, "y": 0.0, "z": 0.5},
            "orientation": dict(zip("xyzw", quaternion, strict=True)),
        }
    }


def make_reader(n=7, field="pose"):
    return PartReader(Part("/pose", (field,), tuple(map(str, range(n)))))


def test_rotations_of_either_sign_turn_along_the_shorter_arc():
    reader = make_reader()
    before = reader.read(make_pose(0.0, (0.0, 0.0, 0.6, 0.8)))
    after = reader.read(make_pose(0.2, (0.0, 0.0, -0.6, -0.8)))

    between = reader.between(before, after, 0.5)

    np.testing.assert_allclose(between, [0.1, 0, 0.5, 0, 0, 0.6, 0.8], atol=1e-12)


def test_an_angle_that_wraps_stays_as_it_was():
    reader = make_reader(2, "q")
    before, after = (
        reader.read({"q": [3.1, 0.0]}),
        reader.read({"q": [-3.1, 0.2]}),
    )

    np.testing.assert_allclose(reader.between(before, after, 0.5), [3.1, 0.1])


def test_whole_numbers_and_flags_have_nothing_between():
    reader = PartReader(Part("/pad", ("buttons",), ("a", "b")))
    before = reader.read(SimpleNamespace(buttons=np.array([0, 1], np.int32)))
    after = reader.read(SimpleNamespace(buttons=np.array([1, 0], np.int32)))

    np.testing.assert_array_equal(reader.between(before, after, 0.9), [0, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, None, "text", [[1.0]] * 3])
def test_values_other_than_numbers_are_refused(value):
    reader = make_reader(2, "q")

    assert reader.read({"q": [0.0, value]}) is None


COLOURS = {"red": (200, 30, 40), "green": (20, 180, 60), "blue": (10, 40, 210)}


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("encoding", ["rgb8", "bgr8", "rgba8", "bgra8"])
def test_colours_of_an_encoding_stay(encoding, colour):
    rgb = np.full((4, 6, 3), COLOURS[colour], np.uint8)
    pixels = rgb[..., ::-1] if encoding.startswith("bgr") else rgb
    if encoding.endswith("a8"):
        pixels = np.dstack([pixels, np.full((4, 6), 255, np.uint8)])

    image = Pictures((4, 6)).decode(make_image(pixels, encoding))

    np.testing.assert_array_equal(image, rgb)


@pytest.mark.parametrize("order", ["uyvy", "yuyv", "yuv422_yuy2", "yuv422"])
def test_grey_of_a_packed_video_stays(order):
    luma, chroma = np.full((4, 6), 120, np.uint8), np.full((4, 6), 128, np.uint8)
    pair = (luma, chroma) if order in {"yuyv", "yuv422_yuy2"} else (chroma, luma)

    image = Pictures((4, 6)).decode(make_image(np.dstack(pair), order))

    grey = round((120 - 16) * 255 / 219)  # spec: ITU-R BT.601, video range
    assert np.abs(image.astype(int) - grey).max() <= 2


def test_a_bayer_pattern_has_its_colour():
    mosaic = np.zeros((16, 16), np.uint8)
    mosaic[::2, ::2] = 220  # the red ones of rggb

    image = Pictures((16, 16)).decode(make_image(mosaic[..., None], "bayer_rggb8"))

    red, green, blue = image[4:12, 4:12].reshape(-1, 3).mean(axis=0)
    assert red > 180
    assert max(green, blue) < 40


def test_padded_rows_are_cut():
    rgb = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 18)
    padded = np.pad(rgb, ((0, 0), (0, 14)))
    message = make_image(rgb.reshape(4, 6, 3), "rgb8")
    message.step, message.data = 32, padded.ravel()

    image = Pictures((4, 6)).decode(message)

    np.testing.assert_array_equal(image, rgb.reshape(4, 6, 3))


@pytest.mark.parametrize(
    "change",
    [
        {"encoding": "rgb16"},
        {"height": 5},
        {"data": np.zeros(3, np.uint8)},
        {"step": 4},
        {"data": None},
    ],
)
def test_data_without_a_picture_is_refused(change):
    message = make_image(np.zeros((4, 6, 3), np.uint8), "rgb8")
    vars(message).update(change)
    pictures = Pictures((4, 6))

    assert pictures.decode(message) is None
    assert pictures.problem


def make_image(pixels, encoding):
    height, width, n = pixels.shape
    return SimpleNamespace(
        height=height,
        width=width,
        encoding=encoding,
        step=n * width,
        is_bigendian=0,
        data=np.ascontiguousarray(pixels).ravel(),
    )
