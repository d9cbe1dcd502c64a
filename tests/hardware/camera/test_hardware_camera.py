"""The clock in pictures, clocks of devices, and sources that block."""

import threading
import time

import numpy as np
import pytest

from paprle.hardware.camera.newest import NewestOf
from paprle.hardware.camera.stamps import StampMap
from paprle_emulators.camera.clock_picture import draw_clock, read_clock

MS = 1_000_000


@pytest.mark.parametrize("size", [(640, 480), (80, 80), (1280, 720)])
def test_a_clock_is_read_back(size):
    image = np.full((size[1], size[0], 3), 110, np.uint8)

    draw_clock(image, 1_234_567_890 * MS)

    assert read_clock(image) == 1_234_567_890


def test_a_picture_without_a_clock_shows_no_time():
    rng = np.random.default_rng(0)
    times = [read_clock(rng.integers(0, 256, (48, 64, 3), np.uint8)) for _ in range(50)]

    assert sum(t is not None for t in times) < 10


def test_a_torn_clock_is_not_read():
    image = np.full((480, 640, 3), 110, np.uint8)
    other = image.copy()
    draw_clock(image, (1 << 31) * MS)
    draw_clock(other, ((1 << 31) - 1) * MS)
    image[48:] = other[48:]

    assert read_clock(image) != (1 << 31)


def test_stamps_are_as_near_as_the_quickest_image():
    stamps, rng = StampMap(), np.random.default_rng(0)
    errors = []
    for k in range(300):
        taken = k * 33 * MS
        arrived = taken + 5 * MS + int(rng.exponential(8 * MS))
        errors.append(stamps.map(taken - 7_777 * MS, arrived) - taken)

    assert max(errors[100:]) < 7 * MS
    assert min(errors) >= 5 * MS, "never before it was taken"


def test_a_mapped_stamp_is_never_after_its_arrival():
    stamps = StampMap()

    for k, lag in enumerate((30, 5, 50, 2)):
        arrived = k * 33 * MS + lag * MS
        assert stamps.map(k * 33 * MS + 10**15, arrived) <= arrived


def test_a_clock_that_is_set_anew_is_learnt_anew():
    stamps = StampMap()
    for k in range(10):
        stamps.map(k * 33 * MS, k * 33 * MS + 5 * MS)

    assert stamps.map(10**17, 500 * MS) == 500 * MS


def test_a_clock_that_drifts_is_followed():
    stamps, errors = StampMap(), []
    for k in range(3000):
        taken = k * 33 * MS
        device = int(taken * 1.0002)
        errors.append(stamps.map(device, taken + 5 * MS) - taken - 5 * MS)

    assert max(map(abs, errors)) < 3 * MS


def test_the_newest_is_given_once():
    values = iter([1, 2, 3])
    gate = threading.Event()

    def read():
        value = next(values, None)
        if value is None:
            gate.wait(5.0)
        return value

    newest = NewestOf(read, "test")
    while newest.pop(0.2) != 3:
        pass
    assert newest.pop(0.01) is None
    gate.set()
    assert newest.close()


def test_a_hanging_source_delays_no_reader_beyond_its_timeout():
    gate = threading.Event()
    newest = NewestOf(lambda: gate.wait(5.0) or None, "test")

    begin = time.perf_counter()
    assert newest.pop(0.02) is None

    assert time.perf_counter() - begin < 1.0
    gate.set()


def test_the_error_has_the_cause_of_a_failed_source():
    def read():
        raise OSError("the cable is out")

    newest = NewestOf(read, "test")

    with pytest.raises(EOFError) as caught:
        newest.pop(1.0)
    assert str(caught.value.__cause__) == "the cable is out"
