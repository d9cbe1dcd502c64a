"""Levels between real and virtual on the page, in a browser."""

from __future__ import annotations

import time

import pytest
from page_alone import show_view

from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(120)]
ROBOT = make_robot_info(has_gripper=True, n_limbs=1)


@pytest.fixture(params=["real", "off"])
def shown(request):
    """Yield the view and its page."""
    with show_view(ROBOT, 18980, levels=request.param) as both:
        yield both


def go_on(shown, is_there, timeout=20.0):
    """Let the session go on until something is so."""
    view, page = shown
    end = time.monotonic() + timeout
    while not is_there():
        assert time.monotonic() < end
        view.observe(make_session_view(ROBOT, time.monotonic_ns()))
        page.wait_for_timeout(20)


@pytest.mark.nightly
def test_an_operator_chooses_among_the_levels_of_the_session(shown):
    view, page = shown
    go_on(shown, lambda: page.locator("#control").inner_text().startswith("Give back"))
    choice = page.locator("#level")

    if view.config.levels == "off":
        assert not choice.is_visible()
        return
    page.locator("#cues").uncheck()
    choice.select_option("3")
    go_on(shown, lambda: view._panel.level == 3)

    assert view._panel.parts.cues is False
    assert view._panel.held_limbs == [limb.name for limb in ROBOT.limbs]
    page.locator("#cues").check()
    go_on(shown, lambda: view._panel.parts.cues is True)
    choice.select_option("1")
    go_on(shown, lambda: view._panel.held_limbs == [])
