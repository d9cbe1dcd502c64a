"""The viewer of recordings by measure; PICTURES=FOLDER keeps what it looked like."""

from __future__ import annotations

import pytest
from browser import open_browser
from filmed import write_episode
from films_page import serve_films
from operator_page import find_pictures
from page_judge import SIZES, judge_page

pytestmark = [pytest.mark.nightly, pytest.mark.process, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    write_episode(folder, 2.0, cameras=("front",), task="pick the cup")
    with serve_films(folder) as made:
        yield made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_viewer_can_be_read_and_pressed(address, size, scheme, tmp_path):
    width, height, is_touch = SIZES[size]
    how = {"color_scheme": scheme, "has_touch": is_touch, "is_mobile": is_touch}
    with open_browser(width=width, height=height, **how) as browser:
        page = browser.page
        browser.open(address)
        page.locator("#play:enabled").wait_for(timeout=60_000)
        page.locator("#cameras img[src]").first.wait_for(timeout=60_000)
        closed = judge_page(page, is_touch=is_touch)
        browser.shoot(find_pictures(tmp_path) / f"viewer_{size}_{scheme}.png")
        page.locator("#choice summary").click()
        if page.locator("#recordings").is_hidden():
            page.locator("#show-list").click()
        opened = judge_page(page, is_touch=is_touch)
        browser.shoot(find_pictures(tmp_path) / f"viewer_{size}_{scheme}_open.png")
        assert browser.errors == []

    assert (closed, opened) == ([], [])
