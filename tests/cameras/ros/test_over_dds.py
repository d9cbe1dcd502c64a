"""Images of another node, through DDS."""

import threading
import time

import numpy as np
from ros_rig import choose_domain, need_dds

from paprle.cameras.ros.camera import RosCamera
from paprle.cameras.ros.config import RosCameraConfig
from paprle.hardware.ros.bus import NEWEST
from paprle.hardware.ros.images import IMAGE
from paprle.hardware.ros.messages import load_codec

TOPIC = "/camera/image_raw"
SIZE = (640, 480)
CODEC = load_codec("jazzy")


def encode(rows):
    message = CODEC.make(
        IMAGE,
        header=CODEC.make_header(time.time_ns()),
        width=SIZE[0],
        height=SIZE[1],
        encoding="bgr8",
        step=3 * SIZE[0],
        data=np.frombuffer(rows, np.uint8),
    )
    return CODEC.encode(message, IMAGE)


def test_images_arrive_through_the_network():
    need_dds()
    from paprle.hardware.ros.transports.dds import DdsBus  # noqa: PLC0415 - after the skip

    how = {"domain": choose_domain(), "interface": "loopback"}
    driver = DdsBus(CODEC, "driver", **how)
    publisher = driver.advertise(TOPIC, IMAGE, NEWEST)
    config = RosCameraConfig(
        topic=TOPIC, width=SIZE[0], height=SIZE[1], transport="dds", timeout=10.0, **how
    )
    camera = RosCamera(config, time.monotonic_ns)
    must_end = threading.Event()

    def publish():
        while not must_end.wait(0.03):
            publisher.publish(encode(b"\1\2\3" * (SIZE[0] * SIZE[1])))

    thread = threading.Thread(target=publish)
    thread.start()
    frames = []
    try:
        camera.open()
        end = time.monotonic() + 5.0
        while len(frames) < 4 and time.monotonic() < end:
            frame = camera.grab(0.2)
            frames += [frame] if frame else []
    finally:
        must_end.set()
        thread.join()
        camera.close()
        driver.close()

    assert len(frames) == 4
    assert all(frame.data == b"\3\2\1" * (SIZE[0] * SIZE[1]) for frame in frames)
    assert camera.stamped_by == "device"
