"""A RealSense: the maker's pipeline on a recording of the maker's software device."""

import time

import numpy as np
import pytest

from paprle.cameras.realsense.camera import RealsenseCamera
from paprle.cameras.realsense.config import RealsenseConfig
from paprle.contracts.errors import DeviceError
from paprle.testing import CameraContract

rs = pytest.importorskip("pyrealsense2", exc_type=ImportError)

from paprle_emulators.camera.clock_picture import read_clock  # noqa: E402
from paprle_emulators.camera.realsense_recording import (  # noqa: E402 - needs the SDK
    FIRST_DEPTH,
    FOCAL,
    write_recording,
)

WIDTH, HEIGHT = 160, 120
MS = 1_000_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("realsense") / "short.db3"
    write_recording(path, 20, WIDTH, HEIGHT)
    return path


def make(recording, clock=time.monotonic_ns, **fields):
    fields = {"width": WIDTH, "height": HEIGHT} | fields
    return RealsenseCamera(RealsenseConfig(recording=str(recording), **fields), clock)


@pytest.fixture
def play(recording):
    """Return the frames of the recording until it is over."""

    def play_all(**fields):
        camera, frames = make(recording, **fields), []
        camera.open()
        try:
            for _ in range(60):
                frame = camera.grab(0.3)
                frames += [frame] if frame else []
        except DeviceError:
            return camera, frames
        finally:
            camera.close()
        raise AssertionError("a recording ends")

    return play_all


def test_colour_and_depth_of_one_moment_come_together(play):
    camera, frames = play()

    assert len(frames) > 8
    for frame in frames:
        image = np.frombuffer(frame.data, np.uint8).reshape(HEIGHT, WIDTH, 3)
        k = round((read_clock(image) - 1000) / 1e3 * 30)
        depth = np.frombuffer(frame.depth, "<u2").reshape(HEIGHT, WIDTH)
        assert abs(int(depth[60, 80]) - FIRST_DEPTH - k) <= 1, "one frame"
    assert camera.info.depth_unit == 0.001


def test_stamps_keep_the_devices_distances(play):
    _, frames = play()

    shown = []
    for frame in frames:
        image = np.frombuffer(frame.data, np.uint8).reshape(HEIGHT, WIDTH, 3)
        shown.append(read_clock(image))
    apart = np.diff([frame.stamp_ns for frame in frames]) / MS - np.diff(shown)
    assert np.median(np.abs(apart)) < 2.0, "rounded to a millisecond"


def test_without_depth_there_is_none(play):
    camera, frames = play(depth=False)

    assert {frame.depth for frame in frames} == {b""}
    assert camera.info.depth_unit == 0.0


def test_the_camera_reports_its_own_calibration_where_the_config_has_none(recording):
    plain, calibrated = make(recording), make(recording, focal=FOCAL)
    for camera in (plain, calibrated):
        camera.open()
        camera.close()

    assert "focal=[300.00, 301.00] centre=[79.50, 59.50]" in plain.notes[0]
    assert calibrated.notes == ()


def test_streams_that_it_does_not_have_are_refused(recording):
    with pytest.raises(DeviceError, match="streams of 640 × 480 pixels .* find-cam"):
        make(recording, width=640, height=480).open()


def test_a_device_that_is_not_there_is_refused():
    camera = RealsenseCamera(RealsenseConfig(serial="999"), time.monotonic_ns)

    with pytest.raises(
        DeviceError, match=r"\(999\): expected one that is connected, got none"
    ):
        camera.open()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DeviceError, match="expected a file, got none"):
        make(tmp_path / "none.db3").open()


class TestRealsenseCamera(CameraContract):
    @pytest.fixture(autouse=True)
    def take_recording(self, recording):
        self.recording = recording

    def make_camera(self, clock):
        return make(self.recording, clock)
