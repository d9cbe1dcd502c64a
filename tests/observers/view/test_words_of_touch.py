"""A touch screen has no keys: no word of the page names one."""

from __future__ import annotations

import re

import pytest
from stage import SITUATIONS, set_stage

from paprle.contracts.operator.actions import PAGE_KEYS
from paprle.contracts.types import LeaderInfo
from paprle.session.press_words import tell_again, tell_press, tell_wait
from paprle.testing.robots import make_robot_info

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(180)]

ROBOT = make_robot_info(has_gripper=True)
WEB = LeaderInfo(
    limbs=("limb0",), has_deadman=True, engage_hint="hold the page's button (m)"
)
CAPS = "|".join(re.escape(row.cap) for row in PAGE_KEYS)
NAMES_A_KEY = re.compile(
    rf"\((?:m|{CAPS})\)|[Pp]ress (?:m|{CAPS})(?![\w-])|hold m\b|PgUp|Enter|Space"
)
HINTS = [
    f"{tell_press(WEB)} to start",
    tell_wait(WEB, is_spent=True),
    tell_again(WEB, has_let_go=True),
    tell_again(LeaderInfo(limbs=("limb0",)), has_let_go=False),
    "reset the scene, or press Enter",
    "'joint6' is 200° away, more than half a turn; press Enter to go there",
    *(f"press {row.cap} to {row.help}" for row in PAGE_KEYS),
]
TOUCH = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def stage():
    with set_stage(ROBOT, 19120) as made:
        yield made


@pytest.fixture(scope="module")
def page(stage):
    with stage.browse(**TOUCH) as browser:
        yield browser.page


def read(page):
    """Return all that is seen of the page."""
    return page.locator("body").inner_text()


@pytest.fixture
def hinted(stage):
    yield stage
    stage.extra = {}


@pytest.mark.parametrize("name", ["ready", "paused", "stopped", "stuck", "another"])
def test_no_situation_names_a_key(stage, page, name):
    stage.play(page, name)

    seen = read(page)
    stage.leave(page, name)

    assert NAMES_A_KEY.findall(seen) == []


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("name", ["ready", "paused"])
def test_no_hint_of_a_session_names_a_key(hinted, page, name, hint):
    hinted.situation = SITUATIONS[name]
    number = f"{name} {HINTS.index(hint)}"  # this one is shown, and none before
    hinted.extra = {"note": f"{hint}, {number}"}
    page.locator("#next", has_text=f", {number}.").wait_for(timeout=10_000)

    assert NAMES_A_KEY.findall(read(page)) == [], page.locator("#next").inner_text()


def test_a_hint_names_the_button_in_place_of_the_key(hinted, page):
    hinted.situation = SITUATIONS["ready"]
    hinted.extra = {"note": HINTS[0]}

    told = "Next: hold the page's button, or press Start to start."
    page.locator("#next").get_by_text(told, exact=True).wait_for(timeout=10_000)


def test_a_vain_drag_is_answered_without_a_key(stage, page):
    stage.situation = SITUATIONS["ready"]
    page.locator("#word", has_text="Ready").wait_for()
    page.locator("#hold:enabled").wait_for()

    stage.view._panel.note_vain_drag()

    toast = page.locator("#toast", has_text="only while the dead-man is held")
    toast.wait_for(timeout=10_000)
    assert NAMES_A_KEY.findall(toast.inner_text()) == []


def test_words_name_keys_on_a_computer_that_has_them(stage, page):
    stage.situation = SITUATIONS["ready"]
    with stage.watch(page, width=1280, height=720) as beside:
        hint = "hold the page's button (m), or press Enter to start"
        beside.locator("#next", has_text=hint).wait_for(timeout=10_000)


def test_the_pattern_of_this_test_finds_keys():
    assert all(NAMES_A_KEY.search(hint) for hint in HINTS if "press" in hint)
