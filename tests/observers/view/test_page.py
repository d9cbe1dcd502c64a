"""A browser shows the arm of a live session moving, and has nothing to complain of."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from browser import find_browser, open_browser

from paprle.ipc.process import WORKSPACE

DEMO = ["leader=autopilot", "follower=piper", "env=mujoco", "session.episodes=30"]
_SEEN = 40  # of 255, summed over three colours: no light flickers by so much
# A page in a hurry draws fewer pixels, and lines of the floor come out broader or
# finer. A block of them is as bright then; with a camera that moves it is not.
_BLOCK = 20  # [pixels]
_STILL = 6  # measured: 3.5 by the drawing, 8 when the camera turns by four pixels


@pytest.fixture
def demo(tmp_path):
    """The session of ``make demo``, for as long as a browser needs."""
    log = (tmp_path / "log.txt").open("w")
    session = subprocess.Popen(
        [sys.executable, "run.py", *DEMO, "observers.view.port=18180",
         f"record.dir={tmp_path / 'OUT'}"],
        cwd=WORKSPACE, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
    )  # fmt: skip
    yield session, tmp_path / "log.txt"
    session.send_signal(signal.SIGINT)
    session.wait(30)
    log.close()


def wait_for(pattern, path, session, timeout=60.0):
    end = time.monotonic() + timeout
    while not (found := re.search(pattern, path.read_text())):
        assert session.poll() is None, path.read_text()
        assert time.monotonic() < end, path.read_text()
        time.sleep(0.1)
    return found


def find_change(before, after):
    """How much the floor in front changes, mean of the block that changes most."""
    front = (after - before)[-3 * _BLOCK :]
    front = front.sum(axis=2).reshape(3, _BLOCK, -1, _BLOCK).mean(axis=(1, 3))
    return np.abs(front).max()


def count_changed(before, after):
    """Return how many pixels of the picture's middle changed: the arm's."""
    changed = np.abs(before - after).sum(axis=2) > _SEEN
    height, width = changed.shape
    middle = changed[height // 5 : 4 * height // 5, width // 4 : 3 * width // 4]
    return middle.sum()


def shoot(page, path=None):
    """Return the 3-D picture of the page."""
    box = page.page.locator("#picture iframe").bounding_box()
    top, bottom = int(box["y"]), int(box["y"] + box["height"])
    width = int(box["width"]) // _BLOCK * _BLOCK
    return page.shoot(path)[top:bottom, :width]


def shoot_at_rest(page, path, timeout=60.0):
    """Return a picture once the camera has come to rest: the floor in front stands."""
    end, before = time.monotonic() + timeout, shoot(page)
    while time.monotonic() < end:
        time.sleep(1.0)
        seen = shoot(page, path)
        if find_change(before, seen) <= _STILL:
            return seen
        before = seen
    raise AssertionError("the camera never comes to rest")


@pytest.mark.process
@pytest.mark.sim
@pytest.mark.timeout(240)
def test_the_page_of_the_demo_shows_the_arm_moving(demo, tmp_path):
    find_browser()
    session, log = demo
    address = wait_for(r"http://127\.0\.0\.1:\S+", log, session)[0]
    wait_for("ENGAGED", log, session)

    with open_browser() as page:
        page.open(address)
        page.page.get_by_text("Driving").first.wait_for(timeout=60_000)
        page.page.locator("#picture iframe").wait_for()
        end, n_changed = time.monotonic() + 60.0, 0
        while n_changed <= 300:  # a page in a hurry is slow to draw its first picture
            assert time.monotonic() < end, "the arm stands still"
            first = shoot_at_rest(page, tmp_path / "first.png")
            time.sleep(2.0)
            second = shoot(page, tmp_path / "second.png")
            n_changed = count_changed(first, second)

    assert find_change(first, second) <= _STILL, "the floor in front moves"
    assert page.errors == []
    assert page.elsewhere == [], "the page asks other machines"
    assert session.poll() is None
