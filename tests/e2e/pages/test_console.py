"""The page of a live session in a browser: it moves the robot, stops it, records it."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from operator_page import PATIENT, operate
from running import judge

from paprle.contracts.types import SessionState

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,  # a page that is starved lets go
    pytest.mark.timeout(240),
]

A1 = 0.1  # [s] spec: safety.md A1
V_OVER_A = 0.36  # [s] of the PiPER's slowest joint, as its limits are configured
REPEATED = 0.25  # [s] the longest stall of a page over which a held hand is repeated
SLACK = 0.1  # [s] a page that is closed, and a shared machine


def run_session(folder, *words, **size):
    """Yield somebody at the page of a session; its picture is another test's."""
    more = ["observers.view.scene=false", "observers.view.port=18480", *words]
    return operate(folder, "piper", *more, **size)


def stall(page, seconds):
    """Occupy the page's thread."""
    page.evaluate(
        "ms => { const end = performance.now() + ms; "
        "while (performance.now() < end); }",
        1000.0 * seconds,
    )


def find_last_engaged(episode, before_ns):
    """Stamp of the last engaged tick before a time, [ns]."""
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    stamps = episode.ticks["stamp_ns"][engaged]
    return int(stamps[stamps < before_ns][-1])


def find_rest(episode, since_ns):
    """How long after this the command came to rest, [s]."""
    gate = episode.gate
    moving = np.abs(gate["dq_cmd"]).max(axis=1) > 1e-9
    stamps = gate["stamp_ns"][moving]
    last_ns = int(stamps[-1]) if len(stamps) else since_ns
    return (last_ns - since_ns) * 1e-9


def test_a_newcomer_moves_stops_releases_and_records(tmp_path):
    with run_session(tmp_path, *PATIENT, width=1280, height=720) as operator:
        session, press, page = operator.session, operator.press, operator.page
        operator.drive(["PageUp"], 1.5)
        press.up("m")
        operator.see("Paused")
        operator.drive(["ArrowUp"], 1.0)
        press.down("ArrowUp")
        time.sleep(0.2)
        stopped_ns = time.monotonic_ns()
        press.press(" ")
        operator.see("Stopped")
        page.get_by_text("stop was pressed").first.wait_for()
        press.up("m")
        press.up("ArrowUp")
        press.press("c")
        operator.see("Ready")
        press.press("t")
        press.type("pick <b>the</b> cube n x")
        press.press("Enter")
        page.get_by_text("task: pick <b>the</b> cube n x").wait_for()
        operator.drive(["PageUp"], 0.5)
        press.up("m")
        operator.note("<i>slipped</i> once")
        press.press("+")
        row = page.locator("#episodes li").first
        row.filter(has_text="success").wait_for(timeout=20_000)
        assert "pick <b>the</b> cube n x" in row.inner_text()
        assert "<i>slipped</i> once" in row.inner_text()
        operator.note("held at last")
        row.filter(has_text="held at last").wait_for(timeout=20_000)
        browser = operator.browser
        errors, elsewhere = list(browser.errors), list(browser.elsewhere)
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
    notes = [note["text"] for note in manifest["notes"]]
    assert notes == ["<i>slipped</i> once", "held at last"]


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["closed", "hidden", "killed"])
def test_a_page_that_is_gone_while_it_is_held_brakes(tmp_path, how):
    with run_session(tmp_path) as operator:
        session, page = operator.session, operator.page
        session.find_pids(["gate", "leader", "observer:view"])
        operator.drive([], 0.5)
        page.keyboard.down("PageUp")
        time.sleep(0.5)
        gone_ns = time.monotonic_ns()
        if how == "closed":
            page.close()
        elif how == "hidden":
            page.evaluate("window.dispatchEvent(new Event('pagehide'))")
        else:
            session.kill("observer:view")
        time.sleep(2.0)
        assert session.process.poll() is None
        if how == "killed":
            assert "it is started again" in session.text()
            operator.see("Paused", 30.0)  # the same page, at the same address
            page.keyboard.up("m")
            operator.drive(["PageUp"], 0.3)
        session.kill("session", 2)
        session.process.wait(40)

    episode = session.episode()
    last_ns = find_last_engaged(episode, gone_ns + 1_500_000_000)
    assert (last_ns - gone_ns) * 1e-9 < A1 + SLACK
    if how != "killed":
        assert find_rest(episode, gone_ns) < A1 + V_OVER_A + SLACK


def test_short_stalls_of_the_page_are_driven_through(tmp_path):
    with run_session(tmp_path) as operator:
        operator.drive(["PageUp"], 0.3)
        before = operator.n_pauses
        for _ in range(5):
            stall(operator.page, 0.18)
            operator.page.wait_for_timeout(100)
            assert operator.word() == "Driving"
        operator.let_go()
        assert operator.n_pauses == before
        operator.session.kill("session", 2)
        operator.session.process.wait(40)


def test_a_page_that_stands_still_lets_go_until_another_press(tmp_path):
    with run_session(tmp_path) as operator:
        session, page = operator.session, operator.page
        operator.drive(["PageUp"], 0.3)
        page.keyboard.down("PageUp")
        time.sleep(0.3)
        stalled_ns = time.monotonic_ns()
        stall(page, 1.5)
        page.wait_for_timeout(500)
        assert operator.word() == "Paused"
        page.keyboard.up("m")
        operator.drive([], 0.2)
        session.kill("session", 2)
        session.process.wait(40)

    episode = session.episode()
    last_ns = find_last_engaged(episode, stalled_ns + 1_500_000_000)
    stood = (last_ns - stalled_ns) * 1e-9
    assert REPEATED - SLACK < stood < REPEATED + A1 + SLACK
