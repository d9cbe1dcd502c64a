"""The page by measure: clipped text, covered buttons, contrast, sizes for fingers.

With PICTURES=FOLDER what was measured is kept there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser import open_browser
from operator_page import PATIENT, Operator
from running import RunningSession

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timeout(600),
]

SIZES = {
    "laptop": (1280, 720, False),
    "desk": (1920, 1080, False),
    "tablet": (820, 1180, True),
    "phone": (390, 844, True),
}
TAP = 44.0  # [px] spec: WCAG 2.1, 2.5.5
CONTRAST = 4.5  # spec: WCAG 2.1 AA, 1.4.3
LARGE = 3.0  # spec: likewise, from 24 px, or 18.66 px bold

SUPPORT = Path(__file__).resolve().parents[2] / "support/pages"
MEASURE = (SUPPORT / "page_measures.js").read_text()
COVERED = (SUPPORT / "page_covered.js").read_text()


def judge_page(page, *, is_touch):
    """Return what is wrong with the page as it stands."""
    found = []
    for row in page.evaluate(MEASURE):
        name = f"{row['kind']} {row['name'][:40]!r}"
        least = LARGE if row["isLarge"] else CONTRAST
        if row["ratio"] is not None and not row["isOff"] and row["ratio"] < least:
            found.append(f"{name}: contrast {row['ratio']:.2f}")
        if row["isClipped"]:
            found.append(f"{name}: text is clipped")
        if is_touch and row["isControl"] and row["height"] < TAP - 0.5:
            found.append(f"{name}: {row['height']:.0f} px high")
    wide, width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if wide > width:
        found.append(f"the page is {wide} px wide in {width} px")
    return found


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
        assert page.evaluate(COVERED, needed) == [], "in one screen, and not covered"
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


def test_touch_screens_are_told_of_no_keys(session):
    with open_browser(width=390, height=844, has_touch=True, is_mobile=True) as browser:
        operator = Operator(session, browser)
        operator.open()
        shown = browser.page.locator("body").inner_text()

    assert "PgUp" not in shown
    assert "(m)" not in shown
