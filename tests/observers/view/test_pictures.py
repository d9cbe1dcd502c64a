"""Pictures of cameras on the page, in a browser: live, or told to be old."""

from __future__ import annotations

import time

import pytest
from browser import find_browser, open_browser

from observers.view.config import ViewConfig
from observers.view.observer import View, find_port
from paprle.contracts.camera_settings import CameraSettings
from paprle.contracts.images import Frame
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]
ROBOT = make_robot_info(has_gripper=True, n_limbs=1)
CAMERAS = {"wrist": CameraSettings(fps=30.0).make_info(64, 48, "rgb8")}
PIXELS = bytes([90]) * 64 * 48 * 3


@pytest.fixture(scope="module")
def shown():
    """Yield the view, its page and the picture on it."""
    find_browser()
    config = ViewConfig(port=find_port(18960), scene=False)
    view = View(config, ROBOT, time.monotonic_ns)
    view.open()
    try:
        with open_browser() as browser:
            browser.open(view.notes[0].removeprefix("open "))
            yield view, browser.page
            assert browser.errors == []
    finally:
        view.close()


def go_on(shown, is_there, *, gives, timeout=20.0):
    """Let the session go on, with images or without, until the page shows something."""
    view, page = shown
    end = time.monotonic() + timeout
    while not is_there():
        assert time.monotonic() < end, page.locator("#cameras").inner_text()
        view.observe(make_session_view(ROBOT, time.monotonic_ns()))
        if gives:
            view.show({"wrist": Frame(time.monotonic_ns(), PIXELS)}, CAMERAS)
        page.wait_for_timeout(20)


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "silent"])
def test_a_picture_that_is_old_is_told_to_be_and_comes_back(shown, is_told):
    view, page = shown
    live, old = page.locator("figure:not(.old)"), page.locator("figure.old")
    go_on(shown, live.is_visible, gives=True)
    began = time.monotonic()

    if is_told:
        view.lose({"wrist"})
    go_on(shown, old.is_visible, gives=False)

    assert "wrist: no picture for" in old.inner_text()
    assert time.monotonic() - began < 2.0
    go_on(shown, live.is_visible, gives=True)
    assert live.inner_text() == "wrist"
