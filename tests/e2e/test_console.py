"""The page of a live session in a browser: it moves the robot, stops it, records it."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager

import numpy as np
import pytest
from browser import open_browser
from running import RunningSession, judge

from paprle.contracts.types import SessionState

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,  # a page that is starved lets go
    pytest.mark.timeout(240),
]

WORDS = ["leader=web", "follower=piper", "env=mujoco"]
_ADDRESS = re.compile(r"open (http://\S+)")
A1 = 0.1  # [s] spec: safety.md A1
V_OVER_A = 0.36  # [s] of the PiPER's slowest joint, as its limits are configured
SLACK = 0.1  # [s] a page that is closed, and a shared machine


@contextmanager
def run_session(folder, *words, scene="false", **size):
    """Yield a session, and its page in a browser."""
    more = [f"observers.view.scene={scene}", "observers.view.port=18480", *words]
    session = RunningSession([*WORDS, *more], folder / "out")
    try:
        session.wait_for("#", 60.0)
        with open_browser(**size) as page:
            page.open(_ADDRESS.search(session.text())[1])
            see(page, "Ready")
            page.page.locator("#hold:enabled").wait_for()  # it was given control
            yield session, page
    finally:
        session.end()


def see(page, word, timeout=20.0):
    page.page.locator("#word", has_text=word).wait_for(timeout=1000 * timeout)


def drive(page, keys, seconds):
    """Hold these keys with the dead-man until it has driven for so long.

    Frames of a busy machine are late: then it pauses, and needs another press.
    """
    press, driven, before = page.page.keyboard, 0.0, time.monotonic()
    end = before + 60.0
    press.down("m")
    while driven < seconds:
        word, now = page.page.locator("#word").inner_text(), time.monotonic()
        assert now < end, word
        driven, before = driven + (now - before) * (word == "Driving"), now
        if word == "Driving":
            for key in keys:
                press.down(key)
        if word == "Paused":
            press.up("m")
            time.sleep(0.2)
            press.down("m")
            time.sleep(0.5)  # until the page shows what came of it
            before = time.monotonic()
        time.sleep(0.02)
    for key in keys:
        press.up(key)


def find_rest(episode, since_ns):
    """How long after this the command came to rest, [s]."""
    gate = episode.gate
    moving = np.abs(gate["dq_cmd"]).max(axis=1) > 1e-9
    stamps = gate["stamp_ns"][moving]
    last_ns = int(stamps[-1]) if len(stamps) else since_ns
    return (last_ns - since_ns) * 1e-9


def test_a_newcomer_moves_stops_releases_and_records(tmp_path):
    # frames of a busy machine are late; how soon silence brakes is not judged here
    words = ["session.max_gap=0.5"]
    with run_session(tmp_path, *words, width=1280, height=720) as (session, page):
        press = page.page.keyboard
        drive(page, ["PageUp"], 1.5)
        press.up("m")
        see(page, "Paused")
        drive(page, ["ArrowUp"], 1.0)
        press.down("ArrowUp")
        time.sleep(0.2)
        stopped_ns = time.monotonic_ns()
        press.press(" ")
        see(page, "Stopped")
        page.page.get_by_text("stop was pressed").first.wait_for()
        press.up("m")
        press.up("ArrowUp")
        press.press("c")
        see(page, "Ready")
        press.press("t")
        press.type("pick <b>the</b> cube n x")
        press.press("Enter")
        page.page.get_by_text("task: pick <b>the</b> cube n x").wait_for()
        drive(page, ["PageUp"], 0.5)
        press.up("m")
        press.press("+")
        row = page.page.locator("#episodes li").first
        row.filter(has_text="success").wait_for(timeout=20_000)
        assert "pick <b>the</b> cube n x" in row.inner_text()
        errors, elsewhere = list(page.errors), list(page.elsewhere)
        session.kill("session", 2)
        session.process.wait(40)

    assert (errors, elsewhere) == ([], [])
    first, second = session.episode(0), session.episode(1)
    assert find_rest(first, stopped_ns) < V_OVER_A + SLACK
    _, rows = first.target["arm"]
    moved = np.nanmax(rows[:, :3], axis=0) - np.nanmin(rows[:, :3], axis=0)
    assert moved[2] > 0.1, "up"
    assert moved[0] > 0.05, "forward"
    assert not judge(first).violations
    manifest = json.loads((session.out / "episode_000001.json").read_text())
    assert (manifest["outcome"], second.header["task"]) == (
        "success",
        "pick <b>the</b> cube n x",
    )


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["closed", "hidden", "killed"])
def test_a_page_that_is_gone_while_it_is_held_brakes(tmp_path, how):
    with run_session(tmp_path) as (session, page):
        session.find_pids(["gate", "leader", "observer:view"])
        drive(page, [], 0.5)
        page.page.keyboard.down("PageUp")
        time.sleep(0.5)
        gone_ns = time.monotonic_ns()
        if how == "closed":
            page.page.close()
        elif how == "hidden":
            page.page.evaluate("window.dispatchEvent(new Event('pagehide'))")
        else:
            session.kill("observer:view")
        time.sleep(2.0)
        assert session.process.poll() is None
        if how == "killed":
            assert "it is started again" in session.text()
            see(page, "Paused", 30.0)  # the same page, at the same address
            page.page.keyboard.up("m")
            drive(page, ["PageUp"], 0.3)
        session.kill("session", 2)
        session.process.wait(40)

    episode = session.episode()
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    stamps = episode.ticks["stamp_ns"][engaged]
    last = stamps[stamps < gone_ns + 1_500_000_000][-1]
    assert (int(last) - gone_ns) * 1e-9 < A1 + SLACK
    if how != "killed":
        assert find_rest(episode, gone_ns) < A1 + V_OVER_A + SLACK
