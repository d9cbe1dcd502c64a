"""A browser shows the arm of a live session moving, and has nothing to complain of."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from browser import find_browser, open_browser

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.ipc.process import WORKSPACE
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port
from paprle.testing.views import make_session_view

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


def wait_for_floor(page, timeout=120.0):
    """Wait for the first picture: its floor is not quite white, an empty page is."""
    end = time.monotonic() + timeout
    while (shoot(page)[-3 * _BLOCK :] == 255).mean() > 0.5:
        assert time.monotonic() < end, "there is no picture"


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


@pytest.mark.timed
@pytest.mark.process
@pytest.mark.sim
@pytest.mark.timeout(360)
def test_the_page_of_the_demo_shows_the_arm_moving(demo, tmp_path):
    find_browser()
    session, log = demo
    address = wait_for(r"http://127\.0\.0\.1:\S+", log, session)[0]
    wait_for("ENGAGED", log, session)

    with open_browser() as page:
        page.open(address)
        page.page.get_by_text("Driving").first.wait_for(timeout=60_000)
        page.page.locator("#picture iframe").wait_for()
        wait_for_floor(page)
        end, n_changed = time.monotonic() + 60.0, 0
        while n_changed <= 300:  # between two episodes it stands
            assert time.monotonic() < end, "the arm stands still"
            first = shoot_at_rest(page, tmp_path / "first.png")
            time.sleep(2.0)
            second = shoot(page, tmp_path / "second.png")
            n_changed = count_changed(first, second)

    assert find_change(first, second) <= _STILL, "the floor in front moves"
    assert page.errors == []
    assert page.elsewhere == [], "the page asks other machines"
    assert session.poll() is None


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.timeout(120)
def test_a_picture_that_comes_later_than_its_page_is_seen(monkeypatch):
    find_browser()
    piper = make_robot(resolve([*DEMO[:2], "env=kinematic"])).info
    ready, show = threading.Event(), View._show

    def show_late(self, relay):
        ready.wait(60.0)
        show(self, relay)

    monkeypatch.setattr(View, "_show", show_late)
    view = View(ViewConfig(port=find_port(18480)), piper, time.monotonic_ns)
    view.open()
    try:
        with open_browser() as page:
            gone = []
            page.page.on(
                "console", lambda said: gone.append(said) if "Disc" in said.text else ()
            )
            page.open(view.notes[0].removeprefix("open "))
            view.observe(make_session_view(piper))
            end = time.monotonic() + 60.0
            while not gone:
                assert time.monotonic() < end, "the picture was there at once"
                page.page.wait_for_timeout(100)
            blank = shoot(page)
            ready.set()
            while count_changed(blank, shoot(page)) <= 300:
                view.observe(make_session_view(piper))
                assert time.monotonic() < end, "no picture"
    finally:
        ready.set()
        view.close()
