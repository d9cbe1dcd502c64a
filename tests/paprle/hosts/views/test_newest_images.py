"""Whoever reads a camera's image has none of a camera whose process stands still."""

import pytest

from paprle.contracts.settings.camera import CameraSettings
from paprle.hosts.views.newest_images import NewestImage
from paprle.ipc.ports import Frames

FPS = 30.0
PERIOD_NS = round(1e9 / FPS)
INFO = CameraSettings(fps=FPS).make_info(4, 2, "mono8")


class Reader:
    """A camera in time that the test makes, and somebody who looks at it."""

    def __init__(self, rate=100.0):
        self.slots = Frames(INFO.max_bytes).open()
        self.slots.write(1, b"of old  ")
        self.newest = NewestImage(INFO, self.slots, rate)
        self.now_ns, self.step_ns = 10**9, round(1e9 / rate)
        self.wrote_ns = 0

    def look(self, dt_ns=None):
        self.now_ns += self.step_ns if dt_ns is None else dt_ns
        return self.newest.read(self.now_ns)

    def run(self, seconds):
        """Look for so long at a camera that gives images; return what was seen."""
        seen = []
        for _ in range(round(seconds * 1e9 / self.step_ns)):
            if self.now_ns - self.wrote_ns >= PERIOD_NS - self.step_ns // 2:
                self.wrote_ns = self.now_ns
                self.slots.write(self.now_ns, bytes(8))
            seen.append(self.look())
        return seen


@pytest.mark.parametrize("rate", [10.0, 30.0, 100.0, 200.0])
def test_images_that_come_are_seen_by_whoever_looks_however_often(rate):
    reader = Reader(rate)

    assert None not in reader.run(3.0)


@pytest.mark.parametrize("rate", [60.0, 100.0, 200.0])
def test_the_last_image_is_nobodys_after_two_periods(rate):
    reader = Reader(rate)
    reader.run(1.0)

    while reader.look() is not None:
        pass

    age_ns = reader.now_ns - reader.wrote_ns
    assert 2 * PERIOD_NS < age_ns <= 2 * PERIOD_NS + 2 * reader.step_ns


def test_an_image_from_before_the_first_look_is_not_used():
    reader = Reader()
    assert reader.look() is None

    reader.slots.write(reader.now_ns, bytes(8))

    assert reader.look() is not None


def test_an_image_that_was_taken_back_is_gone_at_once_and_the_next_one_counts():
    reader = Reader()
    reader.run(1.0)
    reader.slots.write(reader.now_ns, b"")
    assert reader.look() is None

    reader.slots.write(reader.now_ns, bytes(8))

    assert reader.look() is not None


@pytest.mark.parametrize("pause", [0.1, 1.0])
def test_a_reader_that_slept_itself_does_not_blame_the_camera(pause):
    reader = Reader()
    reader.run(1.0)

    assert reader.look(round(pause * 1e9)) is not None
    assert None not in reader.run(1.0)


def test_the_same_image_is_the_same_object_and_read_once():
    reader = Reader(200.0)
    reader.run(1.0)

    assert reader.look() is reader.look()
