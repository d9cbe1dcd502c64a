"""Objects that an operator places at the page, in a browser."""

from __future__ import annotations

import time

import pytest
from page_alone import show_view

from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]
ROBOT = make_robot_info(has_gripper=True, n_limbs=1)
NEWS = {"objects": ["cup", "bin"]}


@pytest.fixture
def shown():
    """Yield the view and its page."""
    with show_view(ROBOT, 19280) as both:
        yield both


def go_on(shown, is_there, news=NEWS, timeout=20.0):
    """Let the session go on until something is so."""
    view, page = shown
    end = time.monotonic() + timeout
    while not is_there():
        assert time.monotonic() < end
        view.observe(make_session_view(ROBOT, time.monotonic_ns(), news=news))
        page.wait_for_timeout(20)


def test_a_typed_object_pose_holds_until_the_object_is_removed(shown):
    view, page = shown
    form = page.locator("form[data-object=cup]")
    put = form.locator("button", has_text="Put")
    go_on(shown, lambda: form.count() == 1 and put.is_enabled())
    assert form.locator("button", has_text="Take away").is_disabled()

    for k, text in enumerate(["0.3", "-0.05", "0.12"]):
        form.locator("input").nth(k).fill(text)
    put.click()
    go_on(shown, lambda: "cup" in view.wishes.placed)
    assert view.wishes.placed["cup"].tolist() == [0.3, -0.05, 0.12, 0.0, 0.0, 0.0, 1.0]
    assert "bin" not in view.wishes.placed
    go_on(shown, lambda: form.locator("input").nth(0).input_value() == "0.300")

    form.locator("input").nth(0).fill("-4e2")
    put.click()
    assert form.locator("input:invalid").count() == 1, "nowhere near a robot"
    form.locator("button", has_text="Take away").click()
    go_on(shown, lambda: not view.wishes.placed)
    assert not view._talk.refused


def test_a_session_without_objects_does_not_ask_for_any(shown):
    _, page = shown
    control = page.locator("#control")
    go_on(shown, lambda: control.inner_text().startswith("Give back"), news={})

    assert not page.locator("#objects").is_visible()
