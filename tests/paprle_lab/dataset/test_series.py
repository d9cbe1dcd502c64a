"""Samples in order of time, whatever comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.observation.columns import unwrap_rotation
from paprle.recording.video.pictures import RecordedPicture
from paprle_lab.dataset.film import OrderedPictures
from paprle_lab.dataset.series import Series


def make(blocks):
    """A series that reads blocks of (stamp, is_good)."""
    waiting = [list(block) for block in blocks]

    def pull():
        if not waiting:
            return False
        block = waiting.pop(0)
        stamps = np.array([stamp for stamp, _ in block], np.int64)
        rows = np.zeros(len(block), [("v", "f8")])
        rows["v"] = stamps
        series.add(stamps, rows, np.array([good for _, good in block], bool))
        return True

    series = Series(pull)
    return series


SAMPLES = st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=12)


@pytest.mark.long
@given(st.lists(SAMPLES, max_size=5), st.lists(st.integers(0, 110), max_size=8))
def test_the_neighbours_of_an_instant_are_the_nearest_usable_samples(blocks, instants):
    series = make(blocks)
    usable = []
    for stamp, is_good in (one for block in blocks for one in block):
        if is_good and (not usable or stamp > usable[-1]):
            usable.append(stamp)

    for t in sorted(instants):
        around = series.find(t)
        before = [stamp for stamp in usable if stamp <= t]
        after = [stamp for stamp in usable if stamp > t]
        assert (around is None) == (not before)
        if around is not None:
            assert around.before["v"] == around.before_ns == before[-1]
            assert (around.after is None) == (not after)
            assert around.after is None or around.after_ns == after[0]


def test_unusable_samples_are_counted_and_repeats_are_not():
    series = make([[(1, True), (1, True), (3, True), (2, True), (4, False)]])

    assert series.find(5).before_ns == 3
    assert series.n_dropped == 2


def film(stamps, size=(2, 2)):
    image = np.zeros((2, 2, 3), np.uint8)
    return OrderedPictures(
        iter([RecordedPicture(stamp, image) for stamp in stamps]), size
    )


def test_the_nearest_picture_is_picked_and_the_rest_counted():
    one = film([0, 10, 20, 30, 40])

    picked = [one.pick(t) for t in (0, 4, 31)]

    assert [p.stamp_ns for p in picked] == [0, 0, 30]
    assert [p.is_repeated for p in picked] == [False, True, False]
    assert picked[2].n_dropped == 2
    assert one.close() == 1


@pytest.mark.parametrize(
    "bad", [RecordedPicture(15, None), RecordedPicture(5, np.zeros((2, 2, 3)))]
)
def test_pictures_that_are_broken_or_go_back_are_left_out(bad):
    image = np.zeros((2, 2, 3), np.uint8)
    one = OrderedPictures(
        iter([RecordedPicture(10, image), bad, RecordedPicture(20, image)]), (2, 2)
    )

    assert one.pick(20).stamp_ns == 20


def test_pictures_of_another_size_are_left_out():
    assert film([0, 10], size=(4, 4)).first_ns is None


def test_a_rotation_beyond_half_a_turn_does_not_jump():
    axis = np.array([0.0, 0.0, 1.0])
    before = 3.1 * axis

    after = unwrap_rotation(-3.1 * axis, before)

    np.testing.assert_allclose(after, (2 * np.pi - 3.1) * axis)


def test_no_rotation_after_a_whole_turn_is_a_whole_turn():
    before = np.array([0.0, 6.2, 0.0])

    np.testing.assert_allclose(unwrap_rotation(np.zeros(3), before), [0, 2 * np.pi, 0])
