"""Cameras behind OpenCV: streams of an emulated network camera, video files, V4L2."""

import contextlib
import time

import numpy as np
import pytest

from paprle.cameras.opencv.camera import OpencvCamera
from paprle.cameras.opencv.config import OpencvConfig
from paprle.cameras.opencv.devices import list_devices
from paprle.contracts.errors import DeviceError
from paprle.testing import CameraContract
from paprle_emulators.camera.clock_picture import read_clock

pytest.importorskip("cv2")

from paprle_emulators.camera.http_camera import HttpCamera

WIDTH, HEIGHT, FPS = 160, 120, 60.0


@pytest.fixture
def network():
    with HttpCamera(WIDTH, HEIGHT, FPS) as camera:
        yield camera


def make(device, clock=time.monotonic_ns, **fields):
    fields = {"width": WIDTH, "height": HEIGHT, "fps": FPS, "timeout": 2.0} | fields
    return OpencvCamera(OpencvConfig(device=str(device), **fields), clock)


@pytest.fixture
def camera(network):
    camera = make(network.url)
    camera.open()
    yield camera
    camera.close()


def to_image(frame):
    return np.frombuffer(frame.data, np.uint8).reshape(HEIGHT, WIDTH, 3)


def grab_any(camera, n=1):
    frames = [frame for _ in range(20 * n) if (frame := camera.grab(0.05))]
    return frames[:n]


def test_the_stamp_of_a_stream_is_near_what_its_picture_shows(camera):
    lags = []
    for _ in range(20):
        frame = camera.grab(0.5)
        shown_ms = read_clock(to_image(frame))
        lags.append(frame.stamp_ns // 1_000_000 % (1 << 32) - shown_ms)

    assert np.median(lags) <= 1e3 / FPS, "one image: what waited on opening is left out"
    assert min(lags) >= -1
    assert camera.stamped_by == "arrival"


def test_colours_are_red_green_blue(tmp_path):
    import cv2  # noqa: PLC0415 - after the skip

    path = tmp_path / "red.avi"
    writer = cv2.VideoWriter(
        str(path), cv2.VideoWriter.fourcc(*"MJPG"), 30, (WIDTH, HEIGHT)
    )
    red = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    red[:, :, 2] = 220
    for _ in range(3):
        writer.write(red)
    writer.release()
    camera = make(path, fps=100.0)
    camera.open()

    frames = grab_any(camera, 8)
    camera.close()

    assert len(frames) == 8, "a file begins again at its end"
    r, g, b = to_image(frames[0])[10, 10]
    assert r > 180 > 60 > max(g, b)
    assert not camera.info.is_noisy


def test_a_stalled_stream_gives_no_image(camera, network):
    camera.grab(0.5)
    network.faults.is_stalled = True
    time.sleep(0.1)
    camera.grab(0.05)

    assert camera.grab(0.05) is None


def test_a_broken_line_is_told_and_the_camera_opens_again(camera, network):
    camera.grab(0.5)
    network.faults.is_gone = True

    with pytest.raises(DeviceError, match="is it unplugged"):
        for _ in range(40):
            camera.grab(0.1)
    camera.close()
    with pytest.raises(DeviceError, match="is the address right"):
        camera.open()
    network.faults.is_gone = False
    camera.open()

    assert camera.grab(0.5) is not None


def test_images_of_another_size_are_refused_with_what_to_set(network):
    network.faults.size = (200, 100)

    with pytest.raises(DeviceError, match="160 × 120 pixels, got 200 × 100; set width"):
        make(network.url).open()


def test_a_size_that_changes_while_it_runs_changes_no_image(camera, network):
    """What OpenCV does not bring to the size it began with ends the images."""
    camera.grab(0.5)
    network.faults.size = (200, 100)

    sizes = set()
    with contextlib.suppress(DeviceError):
        for _ in range(20):
            frame = camera.grab(0.05)
            sizes |= {len(frame.data)} if frame else set()

    assert sizes <= {camera.info.max_bytes}


def test_broken_pictures_are_never_returned(camera, network):
    camera.grab(0.5)
    network.faults.is_broken = True
    time.sleep(0.1)
    try:
        frames = [camera.grab(0.05) for _ in range(4)][1:]
    except DeviceError:
        frames = []

    assert not any(frames)


@pytest.mark.parametrize(
    ("device", "why"),
    [
        ("http://127.0.0.1:1/none", "is the address right"),
        ("/dev/video99", "there are: .*find-cameras"),
        ("none.mp4", "is the address right"),
    ],
)
def test_a_camera_that_is_not_there_says_what_to_look_at(device, why):
    with pytest.raises(DeviceError, match=why):
        make(device).open()


def make_node(system, number, name, index="0"):
    node = system / f"video{number}"
    node.mkdir(parents=True)
    (node / "name").write_text(f"{name}\n")
    (node / "index").write_text(f"{index}\n")


def test_devices_are_named_by_what_stays_after_a_restart(tmp_path):
    system, by_id = tmp_path / "sys", tmp_path / "by-id"
    make_node(system, 10, "Wrist")
    make_node(system, 2, "Desk")
    make_node(system, 3, "Desk", index="1")  # tells no images
    by_id.mkdir()
    (by_id / "usb-Acme_Desk-index0").symlink_to("../../video2")

    devices = list(list_devices(system, by_id))

    assert [device.name for device in devices] == ["Desk", "Wrist"]
    assert devices[0].path == by_id / "usb-Acme_Desk-index0"
    assert str(devices[1].path) == "/dev/video10"


def test_a_machine_without_cameras_has_none(tmp_path):
    assert list(list_devices(tmp_path / "none", tmp_path / "none")) == []


class TestOpencvCamera(CameraContract):
    @pytest.fixture(autouse=True)
    def take_network(self, network):
        self.network = network

    def make_camera(self, clock):
        return make(self.network.url, clock)

    def unplug(self, camera):
        self.network.faults.is_gone = True
        time.sleep(0.1)
        with contextlib.suppress(DeviceError):
            camera.grab(0.05)  # what was on its way
