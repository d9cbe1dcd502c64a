"""A camera behind ROS: what it makes of images, and of what is none."""

import numpy as np
import pytest
from ros_memory import MemoryGraph

from paprle.cameras.ros import camera as module
from paprle.cameras.ros.camera import RosCamera
from paprle.cameras.ros.config import RosCameraConfig
from paprle.contracts.errors import DeviceError
from paprle.hardware.ros.bus import BusError
from paprle.hardware.ros.images import (
    COMPRESSED_IMAGE,
    IMAGE,
    decode_compressed,
    decode_image,
)
from paprle.hardware.ros.messages import MessageError, load_codec
from paprle.testing import CameraContract, ManualClock

WIDTH, HEIGHT = 8, 4
TOPIC = "/camera/image_raw"
DAY_NS = 1_700_000_000 * 10**9  # [ns] the camera's clock is one of the time of day
CODEC = load_codec("jazzy")
JPEG = b"\xff\xd8\xff\xe0 the rest of a picture"


def encode(
    rows,
    encoding,
    stamp_ns=DAY_NS,
    step=None,
    big=False,
    size=(WIDTH, HEIGHT),
    codec=CODEC,
):
    data = np.frombuffer(rows, np.uint8)
    message = codec.make(
        IMAGE,
        header=codec.make_header(stamp_ns, "optical"),
        width=size[0],
        height=size[1],
        encoding=encoding,
        is_bigendian=int(big),
        step=len(rows) // size[1] if step is None else step,
        data=data,
    )
    return codec.encode(message, IMAGE)


def encode_file(data, form="jpeg", stamp_ns=DAY_NS):
    message = CODEC.make(
        COMPRESSED_IMAGE,
        header=CODEC.make_header(stamp_ns),
        format=form,
        data=np.frombuffer(data, np.uint8),
    )
    return CODEC.encode(message, COMPRESSED_IMAGE)


def draw(n_bytes):
    return bytes(k % 251 for k in range(WIDTH * HEIGHT * n_bytes))


@pytest.fixture
def graph():
    return MemoryGraph()


@pytest.fixture(autouse=True)
def in_memory(graph, monkeypatch):
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("camera"))


class Publisher:
    """A camera's driver on the graph in memory: one image before anybody opens it."""

    def __init__(self, graph, topic=TOPIC):
        self.graph, bus = graph, graph.join("driver")
        self._image = bus.advertise(topic, IMAGE)
        self._file = bus.advertise(topic, COMPRESSED_IMAGE)

    def give(self, rows=None, encoding="rgb8", **how):
        self._image.publish(encode(rows or draw(3), encoding, **how))

    def give_file(self, *words, **how):
        self._file.publish(encode_file(*words, **how))


@pytest.fixture
def driver(graph):
    return Publisher(graph)


def make(clock, **fields):
    fields = {"topic": TOPIC, "width": WIDTH, "height": HEIGHT, "timeout": 0.2} | fields
    return RosCamera(RosCameraConfig(**fields), clock)


@pytest.fixture
def opened(graph, monkeypatch):
    """Open a camera while its driver gives images."""
    made = []

    def open_camera(give, clock=None, **fields):
        camera = make(clock or graph.clock, **fields)
        bus = graph.join("camera")
        wait = bus.wait_until

        def wait_and_give(condition, timeout):
            if not made:
                give()
            made.append(camera)
            return wait(condition, timeout)

        monkeypatch.setattr(bus, "wait_until", wait_and_give)
        monkeypatch.setattr(module, "open_bus", lambda *_: bus)
        camera.open()
        return camera

    yield open_camera
    for camera in made:
        camera.close()


@pytest.mark.parametrize(
    ("encoding", "pixel", "expected"),
    [
        ("rgb8", b"\1\2\3", b"\1\2\3"),
        ("bgr8", b"\3\2\1", b"\1\2\3"),
        ("rgba8", b"\1\2\3\xff", b"\1\2\3"),
        ("bgra8", b"\3\2\1\xff", b"\1\2\3"),
        ("mono8", b"\7", b"\7"),
        ("16UC1", b"\x34\x12", b"\x34\x12"),
        ("32FC1", np.float32(1.5).tobytes(), np.uint16(1500).tobytes()),
        ("32FC1", np.float32(np.nan).tobytes(), b"\0\0"),
        ("32FC1", np.float32(1e9).tobytes(), b"\0\0"),
    ],
)
def test_every_encoding_becomes_plain_rows(encoding, pixel, expected):
    image = decode_image(CODEC, encode(pixel * WIDTH * HEIGHT, encoding))

    assert image.data == expected * WIDTH * HEIGHT
    assert (image.width, image.height, image.stamp_ns) == (WIDTH, HEIGHT, DAY_NS)


def test_depth_of_a_big_endian_machine_is_turned():
    image = decode_image(CODEC, encode(b"\x12\x34" * 32, "16UC1", big=True))

    assert image.data == b"\x34\x12" * 32


@pytest.mark.parametrize("has_end", [True, False], ids=["whole", "last row is short"])
def test_padding_of_rows_is_left_out(has_end):
    rows = b"".join(bytes([k]) * WIDTH * 3 + b"pad!" for k in range(HEIGHT))
    rows = rows if has_end else rows[:-4]

    image = decode_image(CODEC, encode(rows, "rgb8", step=WIDTH * 3 + 4))

    assert image.data == b"".join(bytes([k]) * WIDTH * 3 for k in range(HEIGHT))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"encoding": "yuv422"}, "expected one of rgb8"),
        ({"rows": b"short" * 4}, "got 20 bytes"),
        ({"step": 2}, "in rows of 2 bytes"),
        ({"size": (0, 4), "step": 24}, "expected 0 × 4"),
        ({"size": (2**31, 2**31), "step": 24}, "expected 2147483648"),
    ],
)
def test_an_invalid_image_is_refused(change, why):
    given = {"rows": draw(3), "encoding": "rgb8", "step": WIDTH * 3} | change

    with pytest.raises(MessageError, match=why):
        decode_image(CODEC, encode(**given))


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0", encode(draw(3), "rgb8")[:60]])
def test_a_message_that_is_cut_off_is_refused(data):
    with pytest.raises(MessageError):
        decode_image(CODEC, data)


def test_files_stay_as_they_are():
    assert decode_compressed(CODEC, encode_file(JPEG)).data == JPEG
    with pytest.raises(MessageError, match="JPEG or PNG, got 'h264'"):
        decode_compressed(CODEC, encode_file(b"\0\0\0\1", "h264"))


def test_ros1_images_are_read_too():
    codec = load_codec("noetic")

    image = decode_image(codec, encode(draw(3), "rgb8", codec=codec))

    assert image.data == draw(3)


def test_the_newest_image_is_given_once_with_its_senders_stamp(opened, driver, graph):
    camera = opened(driver.give)
    camera.grab(0.0)
    for k in range(3):
        graph.clock.advance(0.1)
        driver.give(stamp_ns=DAY_NS + (k + 1) * 100_000_000)

    frame = camera.grab(0.0)

    assert frame.stamp_ns == graph.clock(), "no image came quicker"
    assert camera.grab(0.0) is None
    assert camera.stamped_by == "device"


def test_an_image_that_came_late_is_as_old_as_it_is(opened, driver, graph):
    camera = opened(driver.give)
    first = camera.grab(0.0)
    graph.clock.advance(0.150)  # due after 100 ms
    driver.give(stamp_ns=DAY_NS + 100_000_000)

    late = camera.grab(0.0)

    assert late.stamp_ns - first.stamp_ns == 100_000_000


def test_an_image_without_a_stamp_counts_from_its_arrival(opened, driver, graph):
    camera = opened(lambda: driver.give(stamp_ns=0))

    assert camera.grab(0.0).stamp_ns == graph.clock()
    assert camera.stamped_by == "arrival"


def test_compressed_images_are_passed_on(opened, driver):
    camera = opened(lambda: driver.give_file(JPEG), kind="jpeg")

    assert camera.grab(0.0).data == JPEG


def test_depth_has_its_unit(opened, driver):
    camera = opened(lambda: driver.give(draw(2), "16UC1"), kind="depth16")

    assert camera.grab(0.0).data == draw(2)
    assert camera.info.depth_unit == 0.001


def test_images_that_are_not_as_configured_are_refused_and_told(opened, driver):
    camera = opened(driver.give)
    camera.grab(0.0)
    driver.give(draw(1), "mono8")
    camera.grab(0.0)
    driver.give(draw(3), size=(4, 8))

    assert camera.grab(0.0) is None
    [warning] = camera.take_warnings()
    assert "expected rgb8, got mono8; set kind" in warning


@pytest.mark.usefixtures("driver")
def test_a_topic_without_images_says_which_there_are(graph):
    with pytest.raises(DeviceError, match="no publisher; topics of images: /camera"):
        make(graph.clock, topic="/other").open()


@pytest.mark.usefixtures("driver")
def test_a_publisher_that_is_silent_is_counted(graph):
    with pytest.raises(DeviceError, match="none of 2 publisher"):
        make(graph.clock).open()


def test_a_graph_that_cannot_be_joined_is_told(graph, monkeypatch):
    def fail(*_):
        raise BusError("no network")

    monkeypatch.setattr(module, "open_bus", fail)
    with pytest.raises(DeviceError, match="no network"):
        make(graph.clock).open()


class TestRosCamera(CameraContract):
    @pytest.fixture
    def clock(self, graph):
        return graph.clock

    @pytest.fixture(autouse=True)
    def take_driver(self, driver, graph, monkeypatch):
        """Give an image whenever somebody waits, until the plug is out."""
        self.driver, self.is_plugged = driver, True

        def join(*_):
            bus = graph.join("camera")
            wait = bus.wait_until

            def wait_and_give(condition, timeout):
                if self.is_plugged:
                    stamp = DAY_NS + graph.clock()
                    self.driver.give(stamp_ns=stamp)
                return wait(condition, timeout)

            bus.wait_until = wait_and_give
            return bus

        monkeypatch.setattr(module, "open_bus", join)

    def make_camera(self, clock: ManualClock):
        return make(clock)

    def unplug(self, _camera):
        self.is_plugged = False
