"""What a calibration's run does to the gate and to the camera meanwhile."""

from __future__ import annotations

import threading
import time

import numpy as np
import pinocchio as pin
import pytest

from paprle.contracts.images import CameraInfo, Frame
from paprle_lab.calibration import eye as eye_module
from paprle_lab.calibration.board import Board, BoardFinder, FoundBoard
from paprle_lab.calibration.camera_run import CameraRun
from paprle_lab.calibration.eye import IMAGES, Eye

WIDTH, HEIGHT = 64, 48
INFO = CameraInfo(
    width=WIDTH,
    height=HEIGHT,
    fps=30.0,
    encoding="rgb8",
    K=np.eye(3),
    link="",
    T_link_cam=pin.SE3.Identity(),
)


class InterruptedRig:
    def stand(self, _time_s):
        raise KeyboardInterrupt


class Grabbed:
    """A camera whose images are grey; it counts them."""

    info = INFO

    def __init__(self):
        self.stamps = []

    def open(self):
        pass

    def close(self):
        pass

    def grab(self, _timeout):
        time.sleep(0.02)
        self.stamps.append(time.monotonic_ns())
        data = np.full((HEIGHT, WIDTH, 3), 128, dtype=np.uint8).tobytes()
        return Frame(self.stamps[-1], data)


def test_ctrl_c_waits_for_no_computation():
    has_ended = threading.Event()
    run = CameraRun(InterruptedRig(), None, None, None, print)

    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run._beside(lambda: has_ended.wait(20.0))
        assert time.monotonic() - begin < 10.0
    finally:
        has_ended.set()


def test_no_image_is_taken_until_one_is_asked_for_and_waiting_ones_are_dropped():
    camera = Grabbed()
    with Eye(camera, BoardFinder(Board())) as eye:
        time.sleep(0.3)
        assert not camera.stamps

        asked_ns = time.monotonic_ns()
        end = time.monotonic() + 10.0
        while (sight := eye.find_after(asked_ns)) is None:
            assert time.monotonic() < end
            time.sleep(0.01)

    assert sight.stamp_ns - camera.stamps[0] > 0.15e9
    assert sight.found is None


class CountingFinder:
    """Each board is a pixel farther to the right than the last one."""

    def __init__(self):
        self.n = 0

    def find(self, _picture):
        self.n += 1
        corners = np.arange(24.0).reshape(8, 3)
        return FoundBoard(corners, corners[:, :2] + [self.n, 0.0])


def wait_for_view(eye, since_ns):
    end = time.monotonic() + 10.0
    while (sight := eye.find_after(since_ns)) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    return sight


def test_a_view_is_the_mean_of_images_that_were_exposed_after_it_was_asked_for(
    monkeypatch,
):
    monkeypatch.setattr(eye_module, "_LONGEST", 60.0)  # on a busy machine, too
    camera = Grabbed()
    with Eye(camera, CountingFinder()) as eye:
        wait_for_view(eye, 0)
        asked_ns = time.monotonic_ns()
        sight = wait_for_view(eye, asked_ns)

    moves = sight.found.pixels[:, 0] - np.arange(24.0).reshape(8, 3)[:, 0]
    assert np.ptp(moves) < 1e-9
    assert moves[0] % 1.0 == pytest.approx((IMAGES - 1) / 2 % 1.0)
    assert sight.stamp_ns > asked_ns
