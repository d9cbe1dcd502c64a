"""Contract tests of cameras."""
# ruff: noqa: ARG002, D102, S101 - tests: the name is the sentence

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest

from paprle.contracts.errors import DeviceError
from paprle.contracts.images import Encoding
from paprle.contracts.plugins import Camera, Frame
from paprle.testing.clock import ManualClock

_N_IMAGES = 5  # chosen: enough to see that stamps rise
_WAIT = 0.05  # [s] chosen: a time-out to wait for
_LATE = 1.0  # [s] chosen: what a busy machine may add to it


class CameraContract(ABC):
    """Tests of any camera; fill ``make_camera``."""

    @abstractmethod
    def make_camera(self, clock: ManualClock) -> Camera:
        """Return a new, unopened camera."""

    def unplug(self, camera: Camera) -> None:
        """Unplug the camera, if possible."""
        pytest.skip("this camera has no plug")

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the camera's clock."""
        return ManualClock()

    @pytest.fixture
    def camera(self, clock: ManualClock) -> Iterator[Camera]:
        """Yield the opened camera."""
        camera = self.make_camera(clock)
        camera.open()
        yield camera
        camera.close()

    def take(self, camera: Camera, clock: ManualClock) -> Frame:
        """Return the next image, one period later."""
        for _ in range(10):
            clock.advance(1.0 / camera.info.fps)
            frame = camera.grab(_WAIT)
            if frame is not None:
                return frame
        raise AssertionError("no image within ten periods")

    def test_says_what_it_is_before_it_is_opened(self, clock: ManualClock) -> None:
        info = self.make_camera(clock).info

        assert min(info.width, info.height) > 0
        assert math.isfinite(info.fps)
        assert info.fps > 0
        assert info.encoding in get_args(Encoding)
        assert info.depth_unit > 0 or info.encoding != "depth16"
        assert info.K.shape == (3, 3)
        assert np.isnan(info.K).all() or info.K[2].tolist() == [0.0, 0.0, 1.0]
        assert np.isfinite(info.T_link_cam.homogeneous).all()

    def test_closes_before_it_was_opened_and_twice(self, clock: ManualClock) -> None:
        camera = self.make_camera(clock)

        camera.close()
        camera.open()
        camera.close()
        camera.close()

    def test_opens_again_after_close(self, clock: ManualClock) -> None:
        for _ in range(2):
            camera = self.make_camera(clock)
            camera.open()
            self.take(camera, clock)
            camera.close()

    def test_images_are_what_it_declared(
        self, camera: Camera, clock: ManualClock
    ) -> None:
        info = camera.info
        for _ in range(_N_IMAGES):
            frame = self.take(camera, clock)
            assert isinstance(frame.data, bytes)
            assert isinstance(frame.depth, bytes)
            assert info.find_fault(frame) == ""

    def test_stamps_rise_and_are_not_of_the_future(
        self, camera: Camera, clock: ManualClock
    ) -> None:
        last = self.take(camera, clock)
        for _ in range(_N_IMAGES):
            frame = self.take(camera, clock)
            assert last.stamp_ns < frame.stamp_ns <= clock()
            last = frame

    def test_says_whose_clock_its_stamps_come_from(
        self, camera: Camera, clock: ManualClock
    ) -> None:
        self.take(camera, clock)

        assert camera.stamped_by in {"device", "arrival"}

    def test_waits_no_longer_than_it_may(
        self, camera: Camera, clock: ManualClock
    ) -> None:
        self.take(camera, clock)

        begin = time.perf_counter()
        for _ in range(3):
            camera.grab(_WAIT)
        assert time.perf_counter() - begin < 3 * _WAIT + _LATE

    def test_unplugged_camera_gives_no_image(
        self, camera: Camera, clock: ManualClock
    ) -> None:
        self.take(camera, clock)

        self.unplug(camera)
        clock.advance(1.0)
        try:
            frame = camera.grab(_WAIT)
        except DeviceError:
            frame = None
        assert frame is None
