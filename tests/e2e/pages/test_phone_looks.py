"""The phone's page by measure, and the answers of its buttons; no robot is led."""

from __future__ import annotations

import re
import time

import pytest
from browser import open_browser
from operator_page import find_pictures
from page_judge import judge_page

from paprle.contracts.types import SessionState
from paprle.hardware.web.conversation import Told
from paprle.hardware.web.settings import WebSettings
from paprle.hardware.web.station import Station
from paprle.ipc.process import WORKSPACE
from paprle.observers.view.view_json import name_state

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
COLOURS = {"ready", "moving", "good", "paused", "bad", "off"}
STATES = list(SessionState)


@pytest.fixture(scope="module")
def station():
    made = Station(WebSettings(), "phone", ("hand",), time.monotonic_ns)
    made.open()
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(station):
    with open_browser(**PHONE) as browser:
        browser.open(station.address)
        yield browser.page
        assert browser.errors == []


def show(station, page, state):
    drives = state is SessionState.ENGAGED
    station.tell(Told(state=state.name, drives=drives, is_recorded=drives))
    word = re.compile(f"^{name_state(state)}$")
    page.locator("#state", has_text=word).wait_for(timeout=10_000)
    page.wait_for_timeout(120)  # [ms] two messages: homes have one word


@pytest.mark.parametrize("has_pads", [False, True], ids=["begin", "pads"])
def test_every_state_can_be_read_and_pressed(station, page, has_pads, tmp_path):
    page.reload()
    if has_pads:
        page.locator("#touch").click()
    found = {}

    for state in STATES:
        show(station, page, state)
        found[state.name] = judge_page(page, is_touch=True)
        path = find_pictures(tmp_path) / f"phone_{state.name}_{has_pads}.png"
        page.screenshot(path=path)

    assert {name: bad for name, bad in found.items() if bad} == {}


def test_states_have_the_words_and_the_colours_of_the_operators_page(station, page):
    grounds = {}
    for state in STATES:
        show(station, page, state)
        kind = page.locator("#state").get_attribute("data-kind")
        grounds.setdefault(kind, set()).add(
            page.evaluate(
                "getComputedStyle(document.getElementById('state')).backgroundColor"
            )
        )

    style = (WORKSPACE / "observers/view/page/style.css").read_text()
    assert set(grounds) == {"off", "ready", "moving", "driving", "paused", "stopped"}
    assert all(len(one) == 1 for one in grounds.values())
    assert len(set.union(*grounds.values())) == len(grounds), "one colour for each"
    phone = (WORKSPACE / "hardware/web/page/style.css").read_text()
    for name in COLOURS:
        (digits,) = {line.split(";")[0] for line in phone.split(f"--{name}: ")[1:]}
        assert digits in style, name


def test_buttons_that_act_in_vain_are_off_and_stop_never_is(station, page):
    vain = {}
    for state in STATES:
        show(station, page, state)
        vain[state] = [
            page.locator(f"#{one}").is_disabled() for one in ("next", "discard", "stop")
        ]

    is_off = {SessionState.INIT, SessionState.STOPPED, SessionState.CLOSING}
    assert vain == {
        state: [state in is_off, state in is_off, False] for state in STATES
    }


@pytest.mark.parametrize("name", ["stop", "next", "discard"])
def test_a_press_is_answered_at_once(station, page, name):
    show(station, page, SessionState.ENGAGED)
    button = page.locator(f"#{name}")

    button.tap()

    page.locator(f"#{name}.answered").wait_for(timeout=2_000)
    page.locator(f"#{name}:not(.answered)").wait_for(timeout=2_000)


def test_an_opening_that_was_asked_for_is_shown(station, page):
    show(station, page, SessionState.ENGAGED)
    shown = page.locator("#gripper-shown")

    page.locator("#gripper").fill("0.25")

    assert shown.inner_text() == "25 %"
    show(station, page, SessionState.HOMING)
    shown.get_by_text("–").wait_for(timeout=5_000)
