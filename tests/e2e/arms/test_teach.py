"""Taught at a terminal, played by another session."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
import yaml
from browser import open_browser
from running import RunningSession, judge
from terminal import TerminalSession

pytestmark = [pytest.mark.process]

WORDS = [
    "leader=mix", "follower=piper", "env=kinematic", "leaders.keys.type=keyboard",
    "leaders.taught.type=teach", "leaders.taught.starts=on_key",
    "retarget.limbs.arm.from=[taught.arm,keys.hand]",
]  # fmt: skip


def lead(terminal, key):
    terminal.press(key)
    time.sleep(1.2)  # a press moves for as long as the first repeat would take


@pytest.mark.nightly  # tests/leaders/teach are in every run
def test_poses_kept_at_a_terminal_are_played_there_and_by_the_next_session(tmp_path):
    path = tmp_path / "poses.yaml"
    terminal = TerminalSession(
        [*WORDS, f"leaders.taught.path={path}"], tmp_path / "taught", {}
    )
    try:
        terminal.wait_for("press Enter", 60.0)
        terminal.press(b"\r")
        terminal.wait_for("ENGAGED")
        for number, key in enumerate((b"w", b"r"), start=1):
            lead(terminal, key)
            terminal.press(b"e")
            terminal.wait_for(f"kept 'pose {number}'")
        lead(terminal, b"s")
        terminal.press(b"y")
        terminal.wait_for("led by taught")
        terminal.wait_for("led by keys")  # the poses have been passed
        terminal.press(b"q")
        assert terminal.wait_gone() == 0
    finally:
        terminal.end()
    kept = yaml.safe_load(path.read_text())["poses"]
    first, last = (list(pose["limbs"]["arm"]["q"].values()) for pose in kept)
    assert np.abs(np.subtract(first, last)).max() > 0.02
    episode = terminal.episode()
    drivers = [one["leader"] for one in episode.events if one["event"] == "driver"]
    assert drivers == ["", "taught.arm", "", "keys.hand"]
    assert np.abs(episode.gate["q_cmd"][-1][:6] - last).max() < 2e-3
    assert judge(episode).is_ok

    again = RunningSession(
        ["leader=teach", f"leader.path={path}", "follower=piper", "env=kinematic",
         "session.episodes=1"], tmp_path / "played",
    )  # fmt: skip
    try:
        assert again.process.wait(60.0) == 0, again.text()
    finally:
        again.end()
    episode = again.episode()
    q = episode.gate["q_cmd"][:, :6]
    for pose in (first, last):
        assert np.abs(q - pose).max(axis=1).min() < 2e-3
    assert judge(episode).is_ok


@pytest.mark.sim
@pytest.mark.timed
@pytest.mark.nightly
def test_the_page_has_a_button_that_keeps_a_pose(tmp_path):
    path = tmp_path / "poses.yaml"
    words = [
        "leader=mix", "follower=piper", "env=kinematic", "leaders.hand.type=web",
        "leaders.taught.type=teach", "leaders.taught.starts=on_key",
        f"leaders.taught.path={path}", "retarget.limbs.arm.from=[taught.arm,hand.arm]",
        "observers.view.scene=false", "observers.view.port=18490",
    ]  # fmt: skip
    session = RunningSession(words, tmp_path / "out")
    try:
        session.wait_for("#", 60.0)
        with open_browser() as page:
            page.open(re.search(r"open (http://\S+)", session.text())[1])
            page.page.locator("#word", has_text="Ready").wait_for(timeout=30_000)
            button = page.page.get_by_role("button", name="Keep this pose")
            button.wait_for(timeout=10_000)
            button.click()
            session.wait_for("kept 'pose 1'", 10.0)
            page.page.locator("#alerts", has_text="kept 'pose 1'").wait_for()
    finally:
        session.end()
    assert len(yaml.safe_load(path.read_text())["poses"]) == 1
