"""Recordings in a browser: listed, played, searched, zoomed, without an error."""

import shutil

import pytest
from browser import open_browser
from filmed import write_episode
from films_page import serve_films

from paprle_lab.evaluation.reporting.report import evaluate

pytestmark = [pytest.mark.nightly, pytest.mark.process, pytest.mark.timeout(240)]

SECONDS = 4.0


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    write_episode(folder, SECONDS, cameras=("front",), task="pick <b>")
    evaluate([folder / "episode_000000.mcap"], folder)
    made = write_episode(folder, 2.0, task="place", discard=True)
    shutil.move(made, folder / "episode_<b>1.mcap")  # names are text
    with serve_films(folder) as made:
        yield made


@pytest.fixture(params=[(1280, 720), (390, 844)])
def viewer(request, address):
    width, height = request.param
    with open_browser(width=width, height=height) as browser:
        browser.open(address)
        browser.page.locator("#play:enabled").wait_for(timeout=60_000)
        yield browser
    assert (browser.errors, browser.elsewhere) == ([], [])


def read_time(page):
    return float(page.locator("#time").inner_text().split()[0])


def find_picture(page):
    return page.locator("#cameras img").get_attribute("src")


def wait_for_another(page, before):
    page.wait_for_function(
        "before => { const i = document.querySelector('#cameras img');"
        " return i && i.src && !i.src.endsWith(before); }",
        arg=before or "none",
    )


def test_a_recording_is_played_and_searched(viewer, tmp_path):
    page = viewer.page
    page.locator("#robot iframe").wait_for(timeout=60_000)
    wait_for_another(page, None)
    assert page.locator("#plots .uplot").count() == 5
    for t in (0.5, 3.0):
        before = find_picture(page)
        page.locator("#seek").evaluate(
            "(bar, t) => { bar.value = t; bar.dispatchEvent(new Event('input'));"
            " bar.dispatchEvent(new Event('change')); }",
            t,
        )
        wait_for_another(page, before)
    page.keyboard.press(" ")
    page.wait_for_timeout(700)
    page.keyboard.press(" ")
    now = read_time(page)
    page.keyboard.press(".")
    page.wait_for_function(
        "t => parseFloat(document.getElementById('time').textContent) >= t", arg=now
    )
    wide = page.evaluate("document.documentElement.scrollWidth")
    viewer.shoot(tmp_path / "viewer.png")

    assert 3.0 < now <= SECONDS
    assert wide <= page.viewport_size["width"], "something is cut off"


def test_the_list_tells_what_each_is_and_keys_lead_through_it(viewer):
    page = viewer.page
    rows = page.locator("#entries li").all_inner_texts()
    assert "pick <b>" in rows[0]
    assert "success" in rows[0]
    assert "episode_<b>1" in rows[1]

    page.keyboard.press("n")
    page.locator("#title", has_text="episode_<b>1").wait_for()
    page.locator("#play:enabled").wait_for()
    page.keyboard.press("p")
    page.locator("#title", has_text="episode_000000").wait_for()
    page.keyboard.press("?")
    page.locator("#keys[open]").wait_for()
    page.keyboard.press("Escape")
    if page.locator("#recordings").is_visible():
        page.locator("#find").fill("<b>1")
        assert page.locator("#entries li:visible").count() == 1


def test_a_report_leads_to_its_moments_in_the_viewer(viewer):
    page = viewer.page
    page.locator("#report").click()
    page.locator(".verdict").wait_for()
    link = page.locator("td a").last
    t = float(link.inner_text().split()[2])
    assert page.locator("td code").count() == page.locator("td a").count()
    link.click()
    page.locator("#play:enabled").wait_for(timeout=60_000)

    assert page.locator("#title").inner_text() == "episode_000000"
    page.wait_for_function(
        "t => parseFloat(document.getElementById('time').textContent) === t", arg=t
    )
    assert "#" not in page.url, "neither token nor place stay in the address"


def test_an_address_of_another_film_is_followed(viewer, address):
    page = viewer.page
    page.goto(f"{address}&film=1&t=0.5")
    page.locator("#title", has_text="episode_<b>1").wait_for()
    page.locator("#play:enabled").wait_for(timeout=60_000)

    assert read_time(page) == pytest.approx(0.5, abs=0.05)
    assert page.locator("#report").is_hidden(), "it has none"
    rows = page.locator("#entries li").all_inner_texts()
    assert "no score" in rows[1]


def test_a_plot_is_zoomed_and_shown_whole_again(viewer):
    page = viewer.page
    page.locator("#plots .u-over").first.wait_for()
    page.locator("#plots .u-over").first.scroll_into_view_if_needed()
    box = page.locator("#plots .u-over").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.25 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], y, steps=5)
    page.mouse.up()
    page.locator("#zoom").wait_for()
    begin, _, end, _ = page.locator("#range").inner_text().split()
    assert (float(begin), float(end)) == pytest.approx((1.0, 2.0), abs=0.1)
    page.locator("#whole").click()
    page.locator("#zoom").wait_for(state="hidden")
