"""The page of robots with two arms fits a laptop and a phone held upright."""

import re

import pytest
from browser import open_browser
from running import RunningSession

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timeout(300),
]

SIZES = {"laptop": (1280, 720), "phone": (390, 844)}
_ADDRESS = re.compile(r"open (http://\S+)")


@pytest.mark.parametrize("follower", ["papras_7dof_2arm", "g1_upper"])
def test_nothing_is_cut_off_and_stop_is_always_there(follower, tmp_path):
    words = ["leader=web", f"follower={follower}", "env=mujoco"]
    session = RunningSession([*words, "observers.view.port=18560"], tmp_path / "out")
    try:
        session.wait_for("#", 120.0)
        for name, (width, height) in SIZES.items():
            with open_browser(width=width, height=height) as page:
                page.open(_ADDRESS.search(session.text())[1])
                page.page.locator("#word", has_text="Ready").wait_for()
                page.page.locator("#picture iframe").wait_for(timeout=60_000)
                assert page.page.locator("#limbs input").count() == 2
                wide = page.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, "something is cut off"
                for target in ("#hold", "#episodes"):
                    page.page.locator(target).scroll_into_view_if_needed()
                    box = page.page.locator("#stop").bounding_box()
                    assert 0 <= box["y"] <= height - box["height"]
                    assert 0 <= box["x"] <= width - box["width"]
                page.shoot(tmp_path / f"{name}.png")
                page.page.locator("#stop").dispatch_event("pointerdown")
                page.page.locator("#word", has_text="Stopped").wait_for()
                page.page.keyboard.press("c")
                page.page.locator("#word", has_text="Ready").wait_for()
            assert (page.errors, page.elsewhere) == ([], [])
    finally:
        session.end()
