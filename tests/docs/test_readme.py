"""Somebody types the README's blocks in a fresh folder, and moves the robot by a page.

Prints the seconds of each step. ``INSTALL=1`` types ``make setup`` in a clone, too.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from browser import open_browser
from operator_page import ADDRESS, PATIENT, Operator

from paprle.cli.verb import say
from paprle.ipc.process import WORKSPACE

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timeout(1800),
]
MAIN = "import sys; from paprle.cli import main; sys.exit(main())"
BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
BUDGET = 600.0  # [s] spec: ten minutes, without the installation
KEPT, DISCARDED = 5, 1  # the second of six is discarded
INSTALLING = 1500.0  # [s] chosen: a clone's packages and kernels, on two cores


def list_lines():
    """Return the lines of the first two blocks: the installation, and the others."""
    first, second, *_ = BLOCK.findall((WORKSPACE / "README.md").read_text())
    lines = [line.partition("#")[0].strip() for line in (first + second).splitlines()]
    at = next(k for k, line in enumerate(lines) if line.startswith("paprle "))
    return lines[:at], [shlex.split(line)[1:] for line in lines[at:]]


class Clock:
    """Seconds of each step."""

    def __init__(self):
        self.seconds = {}

    @contextmanager
    def measure(self, step):
        begin = time.monotonic()
        yield
        self.seconds[step] = time.monotonic() - begin
        say(f"{self.seconds[step]:7.1f} s  {step}")


class Typed:
    """A command that runs in a folder; ``text`` is what it has printed."""

    def __init__(self, words, folder):
        self.log = folder / f"{words[0]}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-c", MAIN, *words],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def text(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern, timeout=300.0):
        end = time.monotonic() + timeout
        while not (found := re.search(pattern, self.text())):
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < end, self.text()
            time.sleep(0.05)
        return found

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def typing(words, folder):
    typed = Typed(words, folder)
    try:
        yield typed
    except BaseException:
        say(typed.text())
        raise
    finally:
        typed.end()


def install(lines, folder, clock):
    """Type the installation in a clone, where it is asked for."""
    if not os.environ.get("INSTALL"):
        say("installation: not measured; that of this checkout is used (INSTALL=1)")
        return
    clone = folder / "clone"
    words = ["git", "clone", "-q", str(WORKSPACE), str(clone)]
    subprocess.run(words, check=True, timeout=120)
    with clock.measure("installation, apart"):
        subprocess.run(
            ["sh", "-e", "-c", "\n".join(lines)], cwd=clone, check=True,
            timeout=INSTALLING, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def record(typed, clock):
    """Move the robot, keep five episodes of six, and discard the second."""
    with clock.measure("until the page is there"):
        typed.wait_for(r"open http://\S+")
    with open_browser(width=1280, height=720) as browser:
        operator = Operator(typed, browser)
        with clock.measure("until the robot can be moved"):
            browser.open(ADDRESS.search(typed.text())[1])
            operator.see("Ready", 240.0)  # drawn on the processor
            operator.page.locator("#hold:enabled").wait_for()
        with clock.measure("six episodes"):
            for k in range(KEPT + DISCARDED):
                wait_until_ready(operator)
                operator.drive(["PageUp" if k % 2 else "ArrowDown"], 1.0, 120.0)
                operator.press.up("m")
                operator.press.press("x" if k == 1 else "n")
                if k < KEPT + DISCARDED - 1:  # with the last one the session ends
                    row = operator.page.locator("#episodes li").nth(k)
                    row.wait_for(timeout=60_000)
        with clock.measure("end of the session"):
            assert typed.process.wait(120) == 0, typed.text()


def wait_until_ready(operator, timeout=120.0):
    """Wait until an episode may begin; release a stop of a busy machine."""
    end = time.monotonic() + timeout
    while (word := operator.word()) != "Ready":
        assert time.monotonic() < end, word
        if word == "Stopped":
            say(f"stopped: {operator.page.locator('#why').inner_text()}")
            operator.page.get_by_role("button", name="Release").click()
        operator.page.wait_for_timeout(500)


def look(words, folder):
    """Open the third episode in the viewer, and play it."""
    with typing(words, folder) as typed, open_browser() as browser:
        browser.open(typed.wait_for(r"open (http://\S+)")[1])
        page = browser.page
        page.locator("#play:enabled").wait_for(timeout=120_000)
        assert page.locator("#title").inner_text() == "episode_000002"
        page.keyboard.press(" ")
        page.wait_for_function(
            "() => parseFloat(document.getElementById('time').textContent) > 0.2"
        )
        os.kill(typed.process.pid, signal.SIGINT)
        assert typed.process.wait(60) == 0, typed.text()


def run(words, folder):
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words], cwd=folder, capture_output=True,
        text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_readme_leads_to_a_data_set_within_ten_minutes(tmp_path):
    installation, typed = list_lines()
    session, view, evaluate, dataset = typed
    verbs = [words[0] for words in typed]
    assert verbs == ["run", "view", "evaluate", "dataset"]
    assert installation[0] == "make setup"
    folder, clock = tmp_path / "fresh", Clock()
    folder.mkdir()

    install(installation, tmp_path, clock)
    apart = sum(clock.seconds.values())
    with typing([*session, *PATIENT], folder) as running:
        record(running, clock)
    with clock.measure("a look at the third episode"):
        look(view, folder)
    with clock.measure("a report"):
        assert "This run" in run(evaluate, folder)
    with clock.measure("a data set"):
        run(dataset, folder)
    total = sum(clock.seconds.values()) - apart
    say(f"{total:7.1f} s  together, without the installation")

    manifests = [json.loads(path.read_text()) for path in find_manifests(folder)]
    discarded = [bool(one.get("discarded")) for one in manifests]
    assert discarded == [k == 1 for k in range(KEPT + DISCARDED)]
    info = json.loads((folder / "DATA/meta/info.json").read_text())
    assert info["total_episodes"] == KEPT
    assert total <= BUDGET


def find_manifests(folder):
    found = sorted((folder / "OUT").glob("episode_??????.json"))
    assert len(found) == KEPT + DISCARDED
    return found
