"""A game controller in the browser, and the mouse at a joint's slider."""

from __future__ import annotations

import threading
import time

import pytest
from browser import find_browser, open_browser
from phones import wait_until

from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(180)]

ROBOT = make_robot_info(has_gripper=True, n_limbs=1)
L1, R2 = 4, 7  # spec: W3C Gamepad, standard mapping: buttons
LEFT_Y, RIGHT_Y = 1, 3  # spec: likewise: axes, down is positive
PAD = """
window.pad = {id: "Pad of a test", mapping: "standard", axes: [0, 0, 0, 0],
  buttons: Array.from({length: 17}, () => ({pressed: false, value: 0}))};
navigator.getGamepads = () => [window.pad];
"""


@pytest.fixture(params=["axes", "joints"])
def emits(request):
    return request.param


@pytest.fixture
def served(emits):
    """A view of a leader at its page, and the page, which has a controller."""
    find_browser()
    config = ViewConfig(port=find_port(19180), scene=False)
    view = View(config, ROBOT, time.monotonic_ns)
    over = threading.Event()
    limbs = [limb.name for limb in ROBOT.limbs]
    leader = {"hint": "hold", "hands": limbs, "emits": emits}

    def go_on():
        while not over.wait(0.05):
            news = {"leader": leader, "note": ""}
            view.observe(make_session_view(ROBOT, time.monotonic_ns(), news=news))

    session = threading.Thread(target=go_on)
    view.open()
    session.start()
    try:
        with open_browser() as browser:
            browser.page.add_init_script(PAD)
            browser.open(view.notes[0].removeprefix("open "))
            browser.page.locator("#hold:enabled").wait_for(timeout=30_000)
            yield view, browser.page
            assert browser.errors == []
    finally:
        over.set()
        session.join()
        view.close()


def press(page, button, value=1):
    page.evaluate(
        "([k, value]) => { pad.buttons[k] = {pressed: value > 0, value}; }",
        [button, value],
    )


def tilt(page, axis, value):
    page.evaluate("([k, value]) => { pad.axes[k] = value; }", [axis, value])


@pytest.mark.nightly
@pytest.mark.parametrize("emits", ["axes"], indirect=True)
def test_a_controller_moves_while_its_shoulder_button_is_held(served):
    view, page = served
    page.locator("#pad", has_text="Pad of a test").wait_for()
    tilt(page, LEFT_Y, -1.0)
    tilt(page, RIGHT_Y, 0.1)  # a worn stick rests within the dead zone
    wait_until(lambda: view.wishes.hands is not None and view.wishes.hands.axes[0, 0])
    assert not view.wishes.hands.is_held

    press(page, L1)
    wait_until(lambda: view.wishes.hands.is_held)
    press(page, R2, 0.5)
    wait_until(lambda: view.wishes.hands.axes[0, 6] == pytest.approx(-0.5))
    assert view.wishes.hands.axes[0, :3].tolist() == [1.0, 0.0, 0.0]
    press(page, L1, 0)
    wait_until(lambda: not view.wishes.hands.is_held)

    press(page, L1)
    wait_until(lambda: view.wishes.hands.is_held)
    page.evaluate("navigator.getGamepads = () => []")  # it is pulled out
    wait_until(lambda: not view.wishes.hands.is_held)


@pytest.mark.parametrize("emits", ["joints"], indirect=True)
def test_a_slider_is_dragged_by_the_mouse_while_the_dead_man_is_held(served):
    view, page = served
    slider = page.locator("#sliders input:enabled").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.keyboard.down("m")
    wait_until(lambda: view.wishes.hands is not None and view.wishes.hands.is_held)
    before = float(view.wishes.hands.joints[0])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] / 8, y, steps=8)
    page.mouse.up()
    wanted = float(slider.input_value())

    assert wanted > before + 0.1
    wait_until(lambda: view.wishes.hands.joints[0] == pytest.approx(wanted, abs=2e-3))
    page.keyboard.up("m")
    wait_until(lambda: not view.wishes.hands.is_held)
