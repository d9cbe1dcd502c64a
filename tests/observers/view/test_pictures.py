"""Pictures of cameras on the page, in a browser: live, or told to be old."""

from __future__ import annotations

import time

import pytest
from page_alone import show_view

from paprle.contracts.images import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]
ROBOT = make_robot_info(has_gripper=True, n_limbs=1)
CAMERAS = {"wrist": CameraSettings(fps=30.0).make_info(64, 48, "rgb8")}
PIXELS = bytes([90]) * 64 * 48 * 3


@pytest.fixture(scope="module")
def shown():
    """Yield the view, its page and the picture on it."""
    with show_view(ROBOT, 18960) as both:
        yield both


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


def test_feedback_at_the_leader_is_shown_apart_from_the_robots_torques(shown):
    view, page = shown
    end = time.monotonic() + 20.0
    felt = {"left/joint1": -0.25, "left/gripper": 0.1}
    while not page.locator("#felt").is_visible():
        assert time.monotonic() < end
        view.observe(make_session_view(ROBOT, time.monotonic_ns(), felt=felt))
        page.wait_for_timeout(50)

    assert page.locator("#torques").inner_text().split("\n") == [
        "left/joint1", "-0.25 N·m", "left/gripper", "0.10 N·m",
    ]  # fmt: skip
    assert "effort of the robot" in page.locator("table").first.inner_text().lower()


def test_a_limit_of_the_gate_is_shown_with_joint_and_share(shown):
    view, page = shown
    end = time.monotonic() + 20.0
    reasons = ("a joint is at its velocity limit", "the gate was late")
    news = {"cuts": ["velocity of joint2, 12 %"]}
    acts = page.locator("#acts", has_text="velocity of joint2")
    while not acts.is_visible():
        assert time.monotonic() < end, page.locator("#acts").inner_text()
        now_ns = time.monotonic_ns()
        view.observe(make_session_view(ROBOT, now_ns, reasons=reasons, news=news))
        page.wait_for_timeout(50)

    assert acts.inner_text() == "Acts: velocity of joint2, 12 % · the gate was late"
