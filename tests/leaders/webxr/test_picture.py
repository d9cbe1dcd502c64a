"""What the robot's camera sees, in a headset: from the robot's host to the display."""

from __future__ import annotations

import threading
import time

import pytest
from headset_eye import (
    FRONT,
    draw_marks,
    enter,
    look,
    make_rotation,
    measure,
    turn_head,
)
from iwer import load_runtime, open_phone
from phones import TLS_ADDRESS, wait_until
from sights import make_sight, write_key

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Frame
from paprle.leaders.webxr.config import SightSettings, WebxrConfig
from paprle.leaders.webxr.leader import Webxr

pytest.importorskip("cv2")

PERIOD = 0.05  # [s]
STRAIGHT = (0.0, 0.0, 0.0)


class Robot:
    """A robot's host, whose camera gives the same picture again and again."""

    def __init__(self, key):
        self.sight = make_sight(key, time.monotonic_ns, most=20.0)
        self.sight.open()
        self.data = draw_marks().tobytes()
        self.stamp_ns = None  # of what it shows, and a little more; None: now
        self.is_blind = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def is_fine(self):
        """Whether its pictures are sent as fine as they can be."""
        sender = self.sight._senders.get(("front", "colour"))
        return sender is not None and sender._level == 0

    def _run(self):
        n = 0  # of images: one that has the stamp of the last one is no new one
        while not self._stop.wait(PERIOD):
            if not self.is_blind:
                n += 1
                then_ns = None if self.stamp_ns is None else self.stamp_ns + n
                frame = Frame(then_ns or time.monotonic_ns(), self.data)
                self.sight.show({"front": frame}, {"front": FRONT})

    def close(self):
        self._stop.set()
        self._thread.join()
        self.sight.close()


def open_headset(folder, key, robot, **fields):
    sight = SightSettings(
        host="127.0.0.1", key=key, udp_port=robot.sight.config.udp_port, **fields
    )
    config = WebxrConfig(listen=TLS_ADDRESS, certificate=str(folder), sight=sight)
    leader = Webxr(config, time.monotonic_ns)
    leader.open()
    return leader


@pytest.fixture(params=[False, True], ids=["fixed", "turning"])
def headset(request, tmp_path):
    """A robot's host, a leader, and the page in a browser that plays a headset."""
    key = write_key(tmp_path)
    robot = Robot(key)
    leader = open_headset(tmp_path, key, robot, turns_with_head=request.param)
    address = leader.notes[0].removeprefix("open ")
    try:
        with open_phone(load_runtime(tmp_path), address, kind="headset") as opened:
            enter(opened)
            wait_until(lambda: robot.is_fine, 20.0)
            yield robot, opened
            assert opened.errors == []
    finally:
        leader.close()
        robot.close()


POSES = [STRAIGHT, (0.05, -0.1, 0.0), (-0.08, 0.12, 0.2)]


@pytest.mark.timed  # what is late, and what stands still, is by the clock
@pytest.mark.nightly
def test_a_picture_is_where_the_head_sees_it_by_now(headset, request):
    robot, opened = headset
    turns = "turning" in request.node.name
    before = (0.1, -0.15, 0.0) if turns else STRAIGHT
    R_anchor = make_rotation(before)
    for rpy in POSES:
        turn_head(opened, before)
        time.sleep(0.3)
        robot.stamp_ns = time.monotonic_ns()  # all that it shows is of this moment
        time.sleep(0.1)
        turn_head(opened, rpy)
        time.sleep(0.4)
        robot.is_blind = True
        errors = measure(opened, make_rotation(rpy).T @ R_anchor)
        robot.stamp_ns, robot.is_blind = None, False
        assert errors.max() < 1.0, f"{rpy}: {errors}"

    robot.is_blind = True
    opened.page.get_by_text("stands still").wait_for()
    assert look(opened)[0].max() < 0.5 * 255, "what stands is dimmed"


def test_a_camera_that_cannot_be_shown_is_told(tmp_path):
    with pytest.raises(ValueError, match="a headset"):
        WebxrConfig(device="phone", sight=SightSettings(host="127.0.0.1", key="k"))

    missing = SightSettings(host="127.0.0.1", key=str(tmp_path / "none"))
    with pytest.raises(DeviceError, match="leader.sight"):
        Webxr(WebxrConfig(sight=missing), time.monotonic_ns).open()
