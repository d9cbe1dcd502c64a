"""The page of a live session by measure, with its 3-D picture.

All other situations: test_situations.py.

With PICTURES=FOLDER what was measured is kept there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser import open_browser
from operator_page import PATIENT, Operator
from page_judge import SIZES, find_covered, judge_page
from running import RunningSession

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    words = ["leader=web", "follower=piper", "env=mujoco", *PATIENT]
    made = RunningSession([*words, "observers.view.port=18590"], folder / "out")
    made.wait_for("#", 120.0)
    yield made
    made.end()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_all_can_be_read_and_pressed(session, size, scheme):
    width, height, is_touch = SIZES[size]
    folder, found = os.environ.get("PICTURES"), {}
    how = {"color_scheme": scheme, "has_touch": is_touch, "is_mobile": is_touch}
    with open_browser(width=width, height=height, **how) as browser:
        operator = Operator(session, browser)
        page = browser.page

        def look(situation):
            found[situation] = judge_page(page, is_touch=is_touch)
            if folder:
                browser.shoot(Path(folder) / f"page_{size}_{scheme}_{situation}.png")

        operator.open()
        page.locator("#picture iframe").wait_for(timeout=60_000)
        look("ready")
        operator.hold()
        look("driving")
        needed = ["#hold", "#jog button", "#openings input", "[data-press=stop]"]
        if size == "phone":
            needed += ["[data-press=next_episode]", "[data-press=redo]"]
        assert page.evaluate("scrollY") == 0
        assert find_covered(page, needed) == [], "in one screen, and not covered"
        operator.let_go()
        look("paused")
        page.locator("[data-press=stop]").dispatch_event("pointerdown")
        operator.see("Stopped")
        look("stopped")
        page.get_by_role("button", name="Release").click()
        operator.see("Ready")
        page.locator("#legend summary").click()
        if not is_touch:
            operator.press.press("?")
            page.locator("#keys dt").first.wait_for()
        look("legend")
        assert browser.errors == []

    assert {name: bad for name, bad in found.items() if bad} == {}


def test_a_view_that_was_reset_is_drawn_again_and_hears_the_keys(session):
    with open_browser(width=1280, height=720) as browser:
        operator = Operator(session, browser)
        operator.open()
        operator.wait_for_picture()

        browser.page.get_by_role("button", name="Reset view").click()
        operator.wait_for_picture()

        browser.page.mouse.click(100, 600)  # in the picture, which has the focus then
        assert browser.page.evaluate("document.activeElement.tagName") == "IFRAME"
        operator.hold()
        operator.let_go()
        assert browser.errors == []
