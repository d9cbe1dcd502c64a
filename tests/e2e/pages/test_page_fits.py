"""The page of robots with two arms fits a laptop and a phone, and drives both arms."""

import numpy as np
import pytest
from browser import open_browser
from operator_page import PATIENT, Operator
from running import RunningSession, judge

from paprle.contracts.types import SessionState

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timeout(300),
]

SIZES = {"laptop": (1280, 720), "phone": (390, 844)}
DRIVEN = 0.5  # [s] at each size
UP = 0.01  # [m] what one message moves at least, of a page that draws in software


@pytest.mark.parametrize("follower", ["papras_7dof_2arm", "g1_upper"])
def test_nothing_is_cut_off_stop_is_always_there_and_both_arms_are_driven(
    follower, tmp_path
):
    words = ["leader=web", f"follower={follower}", "env=mujoco", *PATIENT]
    session = RunningSession([*words, "observers.view.port=18560"], tmp_path / "out")
    try:
        session.wait_for("#", 120.0)
        for name, (width, height) in SIZES.items():
            with open_browser(width=width, height=height) as browser:
                operator = Operator(session, browser)
                operator.open()
                look_around(browser, width, height)
                drive_both(operator)
                browser.shoot(tmp_path / f"{name}.png")
                browser.page.locator("[data-press=stop]").dispatch_event("pointerdown")
                operator.see("Stopped")
                operator.press.press("c")
                operator.see("Ready", 60.0)
            assert (browser.errors, browser.elsewhere) == ([], [])
        session.kill("session", 2)
        session.process.wait(60)
    finally:
        session.end()

    for number in range(len(SIZES)):
        check_driven(session.episode(number))


def look_around(browser, width, height):
    page = browser.page
    page.locator("#picture iframe").wait_for(timeout=60_000)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, "something is cut off"
    for target in ("#hold", "#episodes"):
        page.locator(target).scroll_into_view_if_needed()
        box = page.locator("[data-press=stop]").bounding_box()
        assert 0 <= box["y"] <= height - box["height"]
        assert 0 <= box["x"] <= width - box["width"]


def drive_both(operator):
    choices = operator.page.locator("#limbs input")
    assert choices.count() == 2
    for choice in choices.all():
        choice.check()
    operator.drive(["PageUp"], DRIVEN)
    operator.let_go()


def check_driven(episode):
    """Every limb was led upwards, and each command was within its limits."""
    is_on = episode.ticks["state"] == SessionState.ENGAGED
    assert is_on.any()
    for limb, (_, rows) in episode.target.items():
        assert np.ptp(rows[:, 2]) > UP, limb
    assert not judge(episode).violations
