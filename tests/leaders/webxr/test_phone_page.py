"""The page itself, in a browser, over TLS, with an emulated phone."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from cells import spread
from iwer import load_runtime, open_phone
from phones import TLS_ADDRESS, hold_until_engaged, wait_until

from paprle.contracts.types import SessionState
from paprle.leaders.webxr.config import WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.session.inputs.deadman import DeadMan
from paprle.testing.samples import make_feedback

pytestmark = [pytest.mark.timed]  # a message that is late lets go (safety.md A5)

_HIDE = """
Object.defineProperty(document, "hidden", {configurable: true, get: () => %s});
document.dispatchEvent(new Event("visibilitychange"));
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    return load_runtime(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="module")
def leader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    made = Webxr(
        WebxrConfig(device="phone", listen=TLS_ADDRESS, certificate=str(folder)),
        time.monotonic_ns,
    )
    made.open()
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser(leader, runtime):
    with open_phone(runtime, leader.notes[0].removeprefix("open ")) as opened:
        yield opened


@pytest.fixture
def page(browser):
    """The page, loaded anew: its browser takes seconds to start."""
    browser.page.mouse.up()
    browser.page.reload()
    browser.errors.clear()
    return browser


def start(page):
    button = page.page.get_by_role("button", name="Start AR")
    button.wait_for()
    wait_until(lambda: page.page.evaluate("!document.getElementById('enter').disabled"))
    button.click()


def hold(page):
    box = page.page.locator("#hold").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.page.mouse.down()


def place(page, x, y, z):
    page.page.evaluate(f"emulated.position.set({x}, {y}, {z})")


def read(leader):
    sample = leader.latest()
    return sample.limbs["hand"].T_leader_base_leader_eef.translation


def engage(page, leader):
    start(page)
    wait_until(lambda: leader.latest() is not None and leader.latest().valid)
    press(page, leader)


def press(page, leader):
    hold_until_engaged(leader, lambda: hold(page), page.page.mouse.up)


def test_the_page_enters_ar_and_drives(leader, page):
    engage(page, leader)
    before = read(leader)
    for k in range(1, 11):
        place(page, 0.005 * k, 1.4, -0.01 * k)
        time.sleep(0.03)

    wait_until(lambda: np.allclose(read(leader) - before, [0.1, -0.05, 0], atol=1e-3))
    assert leader.latest().engaged
    page.page.mouse.up()
    wait_until(lambda: not leader.latest().engaged)
    assert page.errors == []
    assert all(TLS_ADDRESS in address for address in page.elsewhere)
    assert "#" not in page.page.url, "the token is not left in the address"


def test_a_refused_permission_stays_on_the_page_until_ar_starts(page):
    page.page.evaluate(
        """() => {
          const ask = navigator.xr.requestSession.bind(navigator.xr);
          let n = 0;
          navigator.xr.requestSession = async (...words) => {
            if (n++ > 0) return ask(...words);
            throw new DOMException("permission denied", "NotAllowedError");
          };
        }"""
    )
    start(page)
    time.sleep(0.6)  # the session's state comes every 50 ms
    assert "AR did not start: permission denied" in page.page.inner_text("#advice")

    start(page)

    wait_until(lambda: "did not start" not in page.page.inner_text("#advice"))


_AWAY = {
    "hidden": _HIDE % "true",
    "blur": "window.dispatchEvent(new Event('blur'))",
    "pagehide": "window.dispatchEvent(new Event('pagehide'))",
    "freeze": "document.dispatchEvent(new Event('freeze'))",
    "turned": "window.dispatchEvent(new Event('orientationchange'))",
    "left AR": "emulated.activeSession.end()",
}


@pytest.mark.parametrize("what", spread(_AWAY, "hidden", "blur", "left AR"))
def test_a_hidden_page_lets_go(leader, page, what):
    engage(page, leader)
    page.page.evaluate(_AWAY[what])
    wait_until(lambda: not leader.latest().engaged)

    page.page.evaluate(_HIDE % "false")
    time.sleep(0.1)
    assert not leader.latest().engaged, "the finger is still down, and counts no more"


def test_a_jump_of_tracking_needs_another_press(leader, page):
    dead_man = DeadMan(has_deadman=True)

    def counts():
        sample = leader.latest()
        dead_man.update(is_engaged=sample.engaged, is_good=sample.valid)
        return dead_man.is_held

    start(page)
    wait_until(lambda: leader.latest() is not None and leader.latest().valid)
    counts()
    hold(page)
    wait_until(counts)
    before, jumps = read(leader), leader._station.device.n_jumps
    place(page, 1.0, 1.4, 0.0)
    wait_until(lambda: not counts())
    assert leader._station.device.n_jumps == jumps + 1

    np.testing.assert_allclose(read(leader), before, atol=1e-9)
    wait_until(lambda: leader.latest().valid and not counts())
    assert leader.latest().engaged, "the finger is still down"
    page.page.mouse.up()
    wait_until(lambda: not (counts() or leader.latest().engaged))
    hold(page)
    wait_until(counts)


def test_buttons_sliders_and_what_the_robot_meets(leader, page):
    wait_until(lambda: leader.latest() is not None)
    before = leader.latest().actions
    page.page.locator("#stop").click()
    wait_until(lambda: leader.latest().actions.since(before).stop == 1)
    leader.apply(make_feedback(SessionState.WAITING))  # before, the robot goes itself
    start(page)
    wait_until(lambda: leader.latest().valid)
    page.page.get_by_text("Hold the button to begin.").wait_for()
    page.page.locator("#gripper").evaluate(
        "e => { e.value = 0.25; e.dispatchEvent(new Event('input')); }"
    )
    wait_until(lambda: leader.latest().limbs["hand"].opening == 0.25)
    page.page.locator("#next").click()
    page.page.locator("#discard").click()
    wait_until(lambda: leader.latest().actions.since(before)[1:4] == (1, 1, 1))

    page.page.evaluate(
        "globalThis.felt = []; navigator.vibrate = (ms) => felt.push(ms)"
    )
    feedback = make_feedback(SessionState.ENGAGED)
    object.__setattr__(feedback, "rumble", 0.8)
    object.__setattr__(feedback, "is_recorded", True)
    leader.apply(feedback)
    page.page.get_by_text("Driving", exact=True).wait_for()
    wait_until(lambda: page.page.evaluate("felt.includes(40)"))
    assert page.page.locator("#rec").is_visible(), "it is being recorded"
    leader.apply(make_feedback(SessionState.STOPPED))
    page.page.get_by_text("cleared at the robot's computer").wait_for()
    wait_until(lambda: page.page.evaluate("felt.at(-1) === 0"))
    assert page.page.locator("#rec").is_hidden()
    leader.apply(make_feedback(SessionState.WAITING))
    page.page.get_by_text("Hold the button to begin.").wait_for()
    hold(page)
    page.page.get_by_text("Let go, then hold again to begin.").wait_for()


def test_a_robot_that_does_not_move_is_not_shown_as_driving(leader, page):
    """The state's word, its reason, and the way out (A8)."""
    said = make_feedback(SessionState.ENGAGED)
    shown = page.page.locator("#state")
    leader.apply(replace(said, standing="arm: link2 kept clear of link6"))
    wait_until(lambda: shown.inner_text().lower() == "held")
    assert shown.get_attribute("data-kind") != "driving"

    leader.apply(said)
    wait_until(lambda: shown.inner_text().lower() == "driving")


def test_without_ar_the_pads_move_it(leader, page):
    page.page.locator("#touch").click()
    wait_until(lambda: leader.latest() is not None and leader.latest().valid)
    press(page, leader)
    before = read(leader)
    page.page.evaluate("""() => {
      const pad = document.getElementById("plane");
      pad.setPointerCapture = () => {};
      const say = (name, x, y) => pad.dispatchEvent(
        new PointerEvent(name, {pointerId: 9, clientX: x, clientY: y}));
      say("pointerdown", 100, 100);
      for (let k = 1; k <= 10; k += 1) {
        setTimeout(() => say("pointermove", 100, 100 - 10 * k), 30 * k);
      }
    }""")

    wait_until(lambda: np.allclose(read(leader) - before, [0.03, 0, 0], atol=1e-6))


def test_a_page_with_another_token_says_that_it_is_refused(leader, page):
    address = leader.notes[0].removeprefix("open ").split("#")[0]
    page.page.goto("about:blank")
    time.sleep(0.1)  # what the page before has sent arrives
    n = leader._station.device.n_messages
    page.page.goto(f"{address}#another")
    page.page.get_by_text("refused, or nobody there").wait_for()
    n_after = leader._station.device.n_messages
    page.page.goto("about:blank")
    page.page.goto(leader.notes[0].removeprefix("open "))  # for the tests that follow

    assert n_after == n
