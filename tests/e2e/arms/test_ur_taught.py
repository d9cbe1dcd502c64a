"""A hand teaches an emulated UR at a terminal, and the arm passes the poses."""

from __future__ import annotations

import time

import numpy as np
import pytest
import yaml
from running import RunningSession, judge
from terminal import TerminalSession
from ur_rig import EmulatedUr, find_speeds

pytest.importorskip("rtde_control")

pytestmark = [
    pytest.mark.process,
    pytest.mark.timed,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
]
START = 120.0  # [s] a session compiles and connects, on a busy machine
RATE = 200
BUTTON = 16
WAYS = (0.2, -0.35)  # [rad] of the first joint, led by hand


def wait_for_event(arm, words, timeout=10.0):
    end = time.monotonic() + timeout
    while words not in [text for _, text in arm.read().events]:
        assert time.monotonic() < end, words
        time.sleep(0.05)


def teach(arm, path, out):
    """Lead the arm to two poses, keep them, let go, and clear the stop."""
    words = ["leader=teach", f"leader.path={path}", "leader.starts=on_key"]
    words += [*arm.args, f"env.freedrive_input={BUTTON}", f"env.rate={RATE}"]
    terminal = TerminalSession(words, out, {})
    try:
        terminal.wait_for("waiting for the leader", START)
        arm.do("input", number=BUTTON, is_on=True)
        terminal.wait_for("led by hand")
        wait_for_event(arm, "teach mode")
        for number, way in enumerate(WAYS, start=1):
            arm.do("lead", joint=1, by=way, time=0.5)
            time.sleep(1.5)
            terminal.press(b"e")
            terminal.wait_for(f"kept 'pose {number}'")
        arm.do("input", number=BUTTON, is_on=False)
        wait_for_event(arm, "end of teach mode")
        time.sleep(1.0)
        terminal.press(b"c")
        terminal.wait_for("waiting for the leader")
        time.sleep(0.5)
        terminal.press(b"q")
        assert terminal.wait_gone() == 0
    finally:
        terminal.end()


def test_poses_that_a_hand_shows_are_kept_and_played(tmp_path):
    path = tmp_path / "poses.yaml"
    with EmulatedUr(tmp_path) as arm:
        teach(arm, path, tmp_path / "taught")
        taught = arm.read()
        (ended,) = (at for at, text in taught.events if text == "end of teach mode")
        plays_ns = time.monotonic_ns()
        words = ["leader=teach", f"leader.path={path}", "session.episodes=1"]
        played = RunningSession(
            [*words, *arm.args, f"env.rate={RATE}"], tmp_path / "played"
        )
        try:
            assert played.process.wait(START + 60.0) == 0, played.text()
        finally:
            played.end()
        record = arm.read()

    kept = yaml.safe_load(path.read_text())["poses"]
    poses = [list(pose["limbs"]["arm"]["q"].values()) for pose in kept]
    assert [q[0] for q in poses] == pytest.approx(np.cumsum(WAYS), abs=2e-3)
    at = record.state_stamps
    still = (at > ended + 0.05e9) & (at < plays_ns)
    assert find_speeds(record)[still].max() < 0.01, "leaving it moves nothing"
    for pose in poses:
        near = np.abs(record.q - pose).max(axis=1)[at > plays_ns]
        assert near.min() < 5e-3
    assert not [text for _, text in record.events if "exception" in text]
    assert judge(played.episode()).is_ok
