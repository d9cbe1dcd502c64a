"""A newcomer without hardware: the mouse drags the hand, a stop, a release, a data set.

With PICTURES=FOLDER what was seen is kept there.
"""

from __future__ import annotations

import json
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from operator_page import PATIENT, Outlook, find_pictures, operate
from product import run_verb
from running import SLACK, find_rest_ns, judge

from paprle.contracts.types import SessionState

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,
    pytest.mark.timeout(600),
]

FOLLOWER, LIMB = "piper", "arm"
DOWN, FAR = 0, -0.1  # [m] along the arrow that points down
NEAR = 0.002  # [m] spec: how far the measured hand is off in the end
STILL = 2e-4  # [rad] a simulated joint that holds
SETTLED = 1.0  # [s] what a servo takes to be where the command is
TASK = "lift the <b>hand</b>"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Everything that somebody does at the page, once."""
    folder = tmp_path_factory.mktemp("played")
    pictures, outlook, at = find_pictures(folder / "seen"), Outlook(FOLLOWER), {}
    size = {"width": 1280, "height": 720}
    words = ["observers.view.port=18640", *PATIENT]
    with operate(folder, FOLLOWER, *words, **size) as operator:
        page = operator.page
        operator.wait_for_picture()
        operator.wait_for_handle(outlook, LIMB, DOWN)
        operator.shoot("ready", pictures)
        at["goal"] = operator.drag(outlook, LIMB, DOWN, FAR)
        at["followed"] = time.monotonic_ns()
        operator.shoot("dragged", pictures)
        operator.let_go()
        operator.wait_for_rest(outlook, LIMB)
        at["rest"] = time.monotonic_ns()
        time.sleep(2.0)
        at["held"] = time.monotonic_ns()
        operator.drive(["ArrowDown"], 0.7)
        operator.press.down("ArrowDown")
        page.locator("[data-press=stop]").click()
        operator.see("Stopped")
        at["why"] = page.locator("#why").inner_text()
        operator.press.up("ArrowDown")
        operator.press.up("m")
        operator.shoot("stopped", pictures)
        operator.press.down("m")  # a stop that is latched is no pause
        time.sleep(1.0)
        at["latched"] = operator.word()
        operator.press.up("m")
        operator.wait_for_handle(outlook, LIMB, DOWN)  # no key has turned the picture
        page.get_by_role("button", name="Release").click()
        operator.see("Ready")
        page.locator("#task").fill(TASK)
        page.get_by_role("button", name="Set", exact=True).click()
        page.get_by_text(f"task: {TASK}").wait_for()
        operator.drive(["PageUp"], 0.5)
        operator.let_go()
        page.get_by_role("button", name="Success").click()
        row = page.locator("#episodes li").first
        row.filter(has_text="success").wait_for(timeout=30_000)
        at["row"] = row.inner_text()
        row.evaluate("row => row.scrollIntoView()")
        operator.shoot("listed", pictures)
        at["said"] = list(operator.browser.errors), list(operator.browser.elsewhere)
        operator.session.kill("session", 2)
        operator.session.process.wait(60)
    return operator.session, outlook, at


def find_measured(outlook, episode, at_ns):
    """Where the measured hand was at a time, in its base, shape (3,), [m]."""
    row = np.searchsorted(episode.gate["meas_ns"].astype(np.int64), at_ns) - 1
    T_world_eef = outlook.find_eef(episode.gate["q_meas"][row], LIMB)
    return (outlook.find_base(LIMB).inverse() * T_world_eef).translation


def between(episode, start_ns, end_ns):
    stamps = episode.gate["stamp_ns"].astype(np.int64)
    return episode.gate[(stamps > start_ns) & (stamps < end_ns)]


def test_the_measured_hand_follows_the_mouse(played):
    session, outlook, at = played
    first = session.episode(0)

    moved = find_measured(outlook, first, at["followed"])
    start = find_measured(outlook, first, int(first.gate["stamp_ns"][1]))

    assert np.linalg.norm(moved - start) == pytest.approx(abs(FAR), abs=NEAR)
    assert np.linalg.norm(moved - at["goal"]) < NEAR
    assert not judge(first).violations


def test_let_go_of_it_holds(played):
    session, _, at = played

    rows = between(session.episode(0), at["rest"], at["held"])

    assert len(rows) > 200, "two seconds of it"
    assert np.ptp(rows["q_cmd"], axis=0).max() == 0.0
    assert np.ptp(rows["q_meas"], axis=0).max() < STILL


def test_a_stop_in_motion_brakes_within_the_bound_and_says_why(played):
    session, outlook, at = played
    first = session.episode(0)
    ticks, robot = first.ticks, first.robot_info
    own = [robot.joint_names.index(name) for name in outlook.limbs[LIMB].joint_names]
    stopped_ns = int(ticks["stamp_ns"][ticks["state"] == SessionState.STOPPED][0])
    before = between(first, stopped_ns - 50_000_000, stopped_ns)
    speed = np.abs(before["dq_cmd"]).max(axis=0)
    periods = 2 * float(first.header["gate_period"])  # that it runs in, and the next

    rest = (find_rest_ns(first, stopped_ns) - stopped_ns) * 1e-9

    assert speed.max() > 0.05, "in motion"
    assert rest <= periods + float((robot.dq_max / robot.ddq_max)[own].max()) + SLACK
    assert "stop was pressed" in at["why"]
    assert at["latched"] == "Stopped"


def test_it_is_listed_evaluated_and_made_a_data_set(played, tmp_path):
    session, _, at = played
    episode = session.out / "episode_000001.mcap"

    assert TASK in at["row"]
    assert json.loads(episode.with_suffix(".json").read_text())["outcome"] == "success"
    report = run_verb("evaluate", episode, "--json")
    run_verb("dataset", "create", episode, "--out", tmp_path / "set")
    tasks = pq.read_table(tmp_path / "set/meta/tasks.parquet").to_pylist()

    assert json.loads(report)
    assert TASK in str(tasks)


def test_its_browser_has_nothing_to_complain_of(played):
    *_, at = played

    assert at["said"] == ([], [])
