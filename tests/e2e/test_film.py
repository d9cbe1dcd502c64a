"""A recorded episode in a browser: played, searched, stopped, without an error."""

import re
import shutil
import signal
import subprocess
import sys

import pytest
from browser import open_browser
from filmed import write_episode

from paprle.ipc.process import WORKSPACE

pytestmark = [pytest.mark.nightly, pytest.mark.process, pytest.mark.timeout(240)]

CODE = "import sys; from paprle.cli import main; sys.exit(main())"
SECONDS = 4.0


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    made = write_episode(folder, SECONDS, cameras=("front",))
    episode = shutil.move(made, folder / "episode_<b>1.mcap")  # names are text
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", CODE, "view", str(episode)],
        stdout=subprocess.PIPE, text=True, cwd=WORKSPACE,
    )  # fmt: skip
    lines = iter(process.stdout.readline, "")
    yield next(found[1] for line in lines if (found := re.search(r"open (\S+)", line)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


def read_time(page):
    return float(page.page.locator("#time").inner_text().split()[0])


def seek(page, t):
    page.page.locator("#seek").evaluate(
        "(bar, t) => { bar.value = t; bar.dispatchEvent(new Event('input'));"
        " bar.dispatchEvent(new Event('change')); }",
        t,
    )
    page.page.wait_for_function(
        "t => Math.abs(parseFloat(document.getElementById('time').textContent) - t) "
        "< 0.11",
        arg=t,
    )


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_recording_is_played_and_searched(address, tmp_path, width, height):
    with open_browser(width=width, height=height) as page:
        page.open(address)
        page.page.locator("#picture iframe").wait_for(timeout=60_000)
        page.page.locator("#pictures img").wait_for()
        assert page.page.locator("#plots svg").count() == 3
        assert not page.page.locator("[data-press=stop]").is_visible()
        page.page.locator("#word", has_text="Recording").wait_for()
        assert "episode_<b>1" in page.page.locator("#does").inner_text()
        if "Pause" in page.page.locator("#play").inner_text():
            page.page.keyboard.press(" ")
        page.page.locator("#play", has_text="Play").wait_for()
        for t in (0.5, 3.0):
            before = page.page.locator("#pictures img").get_attribute("src")
            seek(page, t)
            page.page.wait_for_function(  # another picture, soon
                "src => document.querySelector('#pictures img').src !== src",
                arg=before,
            )
        page.page.keyboard.press(" ")
        page.page.wait_for_timeout(700)
        now = read_time(page)
        wide = page.page.evaluate("document.documentElement.scrollWidth")
        page.shoot(tmp_path / "film.png")

    assert 3.0 < now <= SECONDS
    assert wide <= width, "something is cut off"
    assert (page.errors, page.elsewhere) == ([], [])
