"""What somebody does at the page in a browser: sliders, limbs that are ticked."""

from __future__ import annotations

import time

import numpy as np
import pytest
from page_alone import PageAlone, serve_alone

from paprle.contracts.types import SessionState
from paprle.testing.robots import make_robot_info

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]
ROBOT = make_robot_info(has_gripper=True, n_limbs=2)
LIMBS = [limb.name for limb in ROBOT.limbs]
ON_ITS_WAY = 0.1  # [s] a message of the page; the slider leaps by 2 rad


class Hands(PageAlone):
    """A page that moves a robot.

    Attributes:
        emits: What its leader takes.
    """

    emits = "joints"
    state = SessionState.ENGAGED
    opening = 0.2

    def describe(self):
        q = np.zeros(len(ROBOT.joint_names))
        for limb in ROBOT.limbs:
            span = limb.gripper.open - limb.gripper.closed
            at = limb.gripper.closed + self.opening * span
            q[ROBOT.joint_names.index(limb.gripper.joint)] = at
        leader = {"hint": "hold", "hands": LIMBS, "emits": self.emits}
        news = {"leader": leader, "note": "", "folder": "OUT"}
        return {"news": news, "state": self.state, "q": q, "q_cmd": q}

    def focus(self):
        """Return the first slider, which has the focus."""
        slider = self.page.locator("#sliders input:enabled").first
        slider.focus()
        return slider

    def hold(self):
        """Press the dead-man; a page that was late for a moment has let go of it."""
        self.key.up("m")
        self.key.down("m")
        wait_for(lambda: self.view.wishes.hands.is_held)


@pytest.fixture(scope="module")
def served():
    with serve_alone(Hands, ROBOT, 18990) as made:
        yield made


@pytest.fixture
def hands(served):
    sliders = served.page.locator("#sliders input")
    sliders.first.wait_for(state="attached")
    yield served
    served.key.up("m")
    served.emits = "joints"


def read_value(slider):
    return float(slider.input_value())


def wait_for(is_true, timeout=20.0):
    end = time.monotonic() + timeout
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_a_slider_takes_its_own_keys_while_the_dead_man_is_held(hands):
    slider = hands.focus()
    hands.key.down("m")

    for key, way in [("ArrowRight", 1), ("ArrowDown", -1), ("PageUp", 1)]:
        before = read_value(slider)
        hands.key.press(key)
        assert way * (read_value(slider) - before) > 0.0, key


def test_a_slider_thrown_to_its_end_takes_the_joint_along_without_a_leap(hands):
    slider, view = hands.focus(), hands.view
    hands.hold()
    began, start = time.monotonic(), view.wishes.hands.joints[0]
    while view.wishes.hands.joints[0] > start - 0.05:
        hands.key.press("Home")
        if not view.wishes.hands.is_held:
            hands.hold()
            began, start = time.monotonic(), view.wishes.hands.joints[0]
        assert start - view.wishes.hands.joints[0] <= (
            view.config.turn_speed * (time.monotonic() - began + ON_ITS_WAY)
        )
    assert read_value(slider) == pytest.approx(ROBOT.q_min[0])
    hands.key.up("m")

    wait_for(lambda: read_value(slider) == pytest.approx(start, abs=0.01))


def test_another_press_begins_where_the_robot_is_however_soon_it_comes(hands):
    view = hands.view
    hands.focus()

    def has_moved():
        if not view.wishes.hands.is_held:  # a page that was late lets go
            hands.hold()
            hands.key.press("PageUp")
        return view.wishes.hands.joints[0] > 0.02

    wait_for(has_moved)
    n_presses = view.wishes.hands.n_presses
    hands.key.up("m")
    hands.key.down("m")
    wait_for(lambda: view.wishes.hands.n_presses > n_presses or hands.hold())

    assert view.wishes.hands.joints[0] == pytest.approx(ROBOT.home[0], abs=0.01)


@pytest.mark.parametrize("key", ["t", "#"])
def test_typing_lets_go_of_the_dead_man(hands, key):
    """A key that is let go of in a field is none of ours: it would be held for ever."""
    hands.hold()

    hands.key.press(key)

    wait_for(lambda: not hands.view.wishes.hands.is_held)
    hands.key.up("m")
    hands.key.press("Escape")
    hands.hold()


def test_sliders_of_a_limb_that_is_not_ticked_cannot_be_moved(hands):
    sliders = hands.page.locator("#sliders input")

    n = len(ROBOT.limbs[0].joint_names)
    wait_for(lambda: sliders.count() == 2 * n)
    assert [one.is_enabled() for one in sliders.all()] == [True] * n + [False] * n


def test_one_limb_is_ticked_and_the_others_move_once_they_are(hands):
    hands.emits = "pose"
    boxes, view = hands.page.locator("#limbs input"), hands.view
    wait_for(lambda: view._dragged == (LIMBS[0],))
    # a page that still shows sliders builds its boxes anew in a moment
    wait_for(lambda: hands.page.locator("#sliders input").count() == 0)
    assert [box.is_checked() for box in boxes.all()] == [True, False]

    boxes.nth(1).check()

    wait_for(lambda: view._panel.chosen == set(LIMBS))
    wait_for(lambda: view._dragged == tuple(LIMBS))


def test_a_grippers_slider_follows_the_robot_and_asks_nothing_untouched(hands):
    hands.emits, view = "pose", hands.view
    slider = hands.page.locator(f"#openings input[data-limb={LIMBS[0]}]")
    slider.wait_for(state="attached")
    for opening in (0.2, 0.8):  # the second by itself, as home would
        hands.opening = opening
        wait_for(lambda: read_value(slider) == pytest.approx(opening, abs=0.01))  # noqa: B023
    hands.hold()
    time.sleep(ON_ITS_WAY)
    assert np.isnan(view.wishes.hands.openings[0]), "nobody touched it"

    slider.fill("0.5")
    wait_for(lambda: view.wishes.hands.openings[0] == 0.5)
    hands.key.up("m")
    wait_for(lambda: read_value(slider) == pytest.approx(0.8, abs=0.01))
    slider.fill("0.4")
    hands.state = SessionState.HOMING
    wait_for(lambda: read_value(slider) == pytest.approx(0.8, abs=0.01))
    hands.state = SessionState.ENGAGED
    hands.hold()
    time.sleep(ON_ITS_WAY)
    assert np.isnan(view.wishes.hands.openings[0]), "the robot has moved since"


def test_keys_move_no_handle_while_the_robot_stands(hands):
    hands.emits, view = "pose", hands.view
    hands.page.locator("#openings input").first.wait_for(state="attached")
    hands.hold()
    hands.key.down("ArrowUp")
    try:
        wait_for(lambda: view.wishes.hands.axes[0, 0] == 1.0)
        hands.state = SessionState.CLUTCHED
        wait_for(lambda: view.wishes.hands.axes[0, 0] == 0.0)
    finally:
        hands.key.up("ArrowUp")
        hands.state = SessionState.ENGAGED


def test_a_game_controller_of_the_browser_moves_while_its_shoulder_is_held(hands):
    hands.emits, page, view = "axes", hands.page, hands.view
    page.evaluate(
        """() => {
          const rest = () => ({ pressed: false, value: 0 });
          window.buttons = Array.from({ length: 17 }, rest);
          const axes = [0, 0, -1, 0.1], { buttons } = window;
          window.pad = { index: 1, id: "emulated", mapping: "standard", axes, buttons };
          navigator.getGamepads = () => [null, window.pad];
        }"""
    )
    page.locator("#pad", has_text="emulated; hold L1 to move").wait_for()
    page.wait_for_timeout(100)
    page.evaluate("window.pad.axes[1] = -1")
    assert not view.wishes.hands.is_held, "a stick alone moves nothing"
    page.evaluate("window.buttons[4].pressed = true")
    wait_for(lambda: view.wishes.hands.is_held)
    wait_for(lambda: view.wishes.hands.axes[0][0] == 1.0)
    _, _, up, _, _, yaw, _ = view.wishes.hands.axes[0]
    assert up == 0.0, "a worn stick rests within 0.15"
    assert yaw == 0.0, "a stick that was never seen at rest moves nothing"
    page.evaluate("window.pad.axes[2] = 0")
    page.wait_for_timeout(100)
    page.evaluate("window.pad.axes[2] = 0.5")
    wait_for(lambda: view.wishes.hands.axes[0][5] == -0.5)
    page.evaluate("navigator.getGamepads = () => []")
    wait_for(lambda: not view.wishes.hands.is_held)


def test_a_game_controller_that_comes_back_held_counts_after_a_release(hands):
    page, view = hands.page, hands.view
    page.evaluate(
        """() => {
          const rest = () => ({ pressed: false, value: 0 });
          window.buttons = Array.from({ length: 17 }, rest);
          const axes = [0, 0, 0, 0], { buttons } = window;
          window.pad = { index: 0, id: "emulated", mapping: "standard", axes, buttons };
          window.buttons[4].pressed = true;
          navigator.getGamepads = () => [window.pad];
        }"""
    )
    for _ in range(2):  # plugged in, and plugged in again, with L1 down
        page.locator("#pad", has_text="emulated; hold L1 to move").wait_for()
        page.wait_for_timeout(200)
        assert not view.wishes.hands.is_held
        page.evaluate("window.buttons[4].pressed = false")
        page.wait_for_timeout(100)
        page.evaluate("window.buttons[4].pressed = true")
        wait_for(lambda: view.wishes.hands.is_held)
        page.evaluate("navigator.getGamepads = () => []")
        wait_for(lambda: not view.wishes.hands.is_held)
        page.evaluate("navigator.getGamepads = () => [window.pad]")
    page.evaluate("delete navigator.getGamepads")
