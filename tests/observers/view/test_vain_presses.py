"""A press that moves nothing is answered, and what cannot be pressed is off."""

from __future__ import annotations

import pytest
from stage import SITUATIONS, set_stage

from paprle.testing.robots import make_robot_info

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(180)]

ROBOT = make_robot_info(has_gripper=True)
VAIN = "only while the dead-man is held"
OF_OPERATORS = "#jog button, #openings input, #limbs input, #task-form *, #note-form *"


@pytest.fixture(scope="module")
def stage():
    with set_stage(ROBOT, 19140) as made:
        yield made


@pytest.fixture(scope="module")
def page(stage):
    with stage.browse(width=1280, height=900) as browser:
        yield browser.page


def begin(stage, page, name):
    page.evaluate("document.getElementById('toast').hidden = true")
    page.evaluate("document.activeElement.blur()")  # a slider keeps its arrow keys
    stage.play(page, name)
    page.locator("body[data-control=you]").wait_for(timeout=20_000)


def count(page, state):
    return page.locator(OF_OPERATORS).evaluate_all(
        f"all => all.filter(one => 'disabled' in one && one.matches(':{state}')).length"
    )


def test_controls_and_fields_are_off_without_control(stage, page):
    begin(stage, page, "ready")
    n = count(page, "enabled")
    stage.play(page, "another")
    page.wait_for_timeout(300)  # [ms] three messages

    assert (count(page, "enabled"), count(page, "disabled")) == (0, n)
    stage.leave(page, "another")
    page.wait_for_timeout(300)
    assert count(page, "enabled") == n > 12


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ready", VAIN),
        ("paused", VAIN),
        ("stopped", "release it first"),
        ("homing", "wait for it"),
    ],
)
@pytest.mark.parametrize("is_key", [True, False], ids=["key", "button"])
def test_a_vain_jog_is_answered(stage, page, name, answer, is_key):
    begin(stage, page, name)

    if is_key:
        page.locator("body").press("ArrowUp")
    else:
        page.locator("#jog button").first.click()

    page.locator("#toast", has_text=answer).wait_for(timeout=2_000)


def test_a_jog_that_moves_is_not_answered(stage, page):
    begin(stage, page, "driving")

    page.keyboard.press("ArrowUp")
    page.locator("#jog button").first.click()

    assert page.locator("#toast").is_hidden()
    stage.leave(page, "driving")


def test_a_key_that_jogs_presses_its_button(stage, page):
    begin(stage, page, "driving")

    page.keyboard.down("ArrowUp")

    pressed = page.locator("#jog button.pressed")
    assert pressed.all_inner_texts() == ["forward ↑"]
    page.keyboard.up("ArrowUp")
    assert pressed.count() == 0
    stage.leave(page, "driving")


@pytest.mark.parametrize(
    "selector", ["#jog button", "#hold", "[data-press=engage]", "#task-form button"]
)
def test_a_button_shows_that_it_is_pressed(stage, page, selector):
    begin(stage, page, "ready")
    button = page.locator(selector).first
    read = "one => getComputedStyle(one).filter"
    button.hover()
    before = button.evaluate(read)

    page.mouse.down()

    assert button.evaluate(read) != before
    page.mouse.up()


def test_the_opening_of_a_gripper_is_read_in_percent(stage, page):
    begin(stage, page, "driving")
    shown, slider = page.locator("#openings output"), page.locator("#openings input")
    shown.get_by_text("0 %", exact=True).wait_for(timeout=5_000)

    slider.fill("0.4")

    assert shown.inner_text() == "40 %"
    stage.leave(page, "driving")


def test_a_camera_is_enlarged_over_the_picture_by_keys(stage, page):
    begin(stage, page, "cameras")
    button = page.get_by_role("button", name="camera front, large")
    button.focus()
    page.keyboard.press("Enter")

    picture, large = (
        page.locator(one).bounding_box() for one in ("#picture", "#enlarged figure")
    )
    assert large["width"] > 0.9 * picture["width"]
    assert picture["x"] <= large["x"]
    assert button.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.locator("#pictures figure").nth(1).wait_for()
    stage.leave(page, "cameras")


def test_the_tools_are_on_a_tablet_and_in_the_legend_of_a_phone(stage, page):
    tablet = {"width": 820, "height": 1180, "has_touch": True, "is_mobile": True}
    stage.situation = SITUATIONS["ready"]
    with stage.watch(page, **tablet) as beside:
        view, whole = beside.locator("#reset-view"), beside.locator("#full-screen")
        assert view.is_visible()
        beside.set_viewport_size({"width": 390, "height": 844})
        view.wait_for(state="hidden", timeout=2_000)
        beside.locator("#legend summary").tap()
        assert view.is_visible()
        assert whole.is_visible()
