"""Clouds of the robot's host as a camera of the operator's."""

import socket
import threading
import time

import numpy as np
import pytest
from sights import DEPTH, HEIGHT, WIDTH, draw_depth, make_sight, show_depth, write_key

from paprle.cameras.sight.camera import SightCamera
from paprle.cameras.sight.config import SightCameraConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Frame
from paprle.hardware.media import rate
from paprle.testing import CameraContract

pytest.importorskip("cv2")


def make_camera(sight, key, clock, **fields):
    port = sight.config.udp_port
    words = {"width": WIDTH, "height": HEIGHT, "fps": 20.0} | fields
    config = SightCameraConfig(host="127.0.0.1", key=key, udp_port=port, **words)
    return SightCamera(config, clock)


@pytest.fixture
def key(tmp_path):
    return write_key(tmp_path)


@pytest.fixture
def sight(key):
    """A robot's host whose camera gives an image each 50 ms."""
    made, stop = make_sight(key, time.monotonic_ns), threading.Event()
    made.open()

    def show():
        k = 0
        while not stop.wait(0.05):
            show_depth(made, time.monotonic_ns, k := k + 1)

    thread = threading.Thread(target=show)
    thread.start()
    yield made
    stop.set()
    thread.join()
    made.close()


class TestSightCamera(CameraContract):
    @pytest.fixture(autouse=True)
    def take_host(self, sight, key):
        self.sight, self.key = sight, key

    def make_camera(self, clock):
        return make_camera(self.sight, self.key, clock)


def grab(camera, timeout=5.0):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        frame = camera.grab(0.2)
        if frame is not None:
            return np.frombuffer(frame.data, "<u2").reshape(HEIGHT, WIDTH), frame
    raise AssertionError("no image came")


def test_a_small_image_comes_whole_and_in_our_time(sight, key):
    camera = make_camera(sight, key, time.monotonic_ns)
    camera.open()

    end = time.monotonic() + 40.0  # what the link takes is found by and by
    depth, frame = grab(camera)
    while not depth.all() and time.monotonic() < end:
        depth, frame = grab(camera)
    age = time.monotonic_ns() - frame.stamp_ns
    camera.close()

    assert any((depth == draw_depth(k)).all() for k in range(10))
    assert 0 <= age < 1_000_000_000


def test_an_early_request_gets_the_first_image(key):
    sight = make_sight(key, time.monotonic_ns)
    sight.open()
    camera = make_camera(sight, key, time.monotonic_ns)
    camera.open()
    asked = camera.grab(0.2)
    show_depth(sight, time.monotonic_ns)

    assert asked is None
    assert camera.grab(2.0) is not None
    camera.close()
    sight.close()


def test_a_camera_that_joins_at_any_moment_ends_nothing(key, monkeypatch):
    sight = make_sight(key, time.monotonic_ns)

    class SlowRate(rate.RateEstimator):
        """While the first camera's is made, the robot shows another camera."""

        def __init__(self, *args):
            super().__init__(*args)
            frame = Frame(time.monotonic_ns(), draw_depth().tobytes())
            sight.show({"wrist": frame}, {"front": DEPTH, "wrist": DEPTH})

    monkeypatch.setattr(rate, "RateEstimator", SlowRate)
    sight.open()
    camera = make_camera(sight, key, time.monotonic_ns)
    camera.open()
    camera.grab(0.05)  # asks
    show_depth(sight, time.monotonic_ns)
    found = camera.grab(2.0)
    camera.close()
    sight.close()

    assert found is not None


def test_another_key_gives_no_image_and_is_counted(sight, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    wrong = write_key(other, b"another secret, as long as it is")
    camera = make_camera(sight, wrong, time.monotonic_ns)
    camera.open()

    assert camera.grab(0.3) is None
    camera.close()
    sight.close()
    assert any("refused" in words for words in sight.closing_notes)


def test_noise_on_the_port_is_counted_and_harmless(sight, key):
    camera = make_camera(sight, key, time.monotonic_ns)
    camera.open()
    grab(camera)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for n in (0, 1, 57, 1400):
            stranger.sendto(b"\xff" * n, ("127.0.0.1", sight.config.udp_port))

    grab(camera)
    camera.close()
    sight.close()
    assert any("refused 4" in words for words in sight.closing_notes)


def test_an_absent_sender_gives_no_image_and_no_failure(key, sight):
    sight.close()
    camera = make_camera(sight, key, time.monotonic_ns)
    camera.open()

    assert camera.grab(0.05) is None
    camera.close()


def test_a_missing_key_is_told(sight):
    camera = make_camera(sight, "/nowhere/link.key", time.monotonic_ns)

    with pytest.raises(DeviceError, match="key"):
        camera.open()
