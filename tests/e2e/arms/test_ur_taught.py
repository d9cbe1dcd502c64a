"""A hand teaches an emulated UR at a terminal, and the arm passes the poses."""

from __future__ import annotations

import time

import numpy as np
import pytest
import yaml
from running import judge
from terminal import TerminalSession
from ur_rig import EmulatedUr, find_speeds

pytest.importorskip("rtde_control")

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.nightly]
BUTTON = 16
WAYS = (0.2, -0.35)  # [rad] of the first joint, led by hand


def wait_for_event(arm, words, timeout=10.0):
    end = time.monotonic() + timeout
    while words not in [text for _, text in arm.read().events]:
        assert time.monotonic() < end, words
        time.sleep(0.05)


def test_poses_that_a_hand_shows_are_kept_and_played(tmp_path):
    path = tmp_path / "poses.yaml"
    with EmulatedUr(tmp_path) as arm:
        words = ["leader=teach", f"leader.path={path}", "leader.starts=on_key"]
        words += [*arm.args, f"env.freedrive_input={BUTTON}", "env.rate=200"]
        terminal = TerminalSession(words, tmp_path / "out", {})
        try:
            terminal.wait_for("press Enter", 60.0)
            arm.do("input", number=BUTTON, is_on=True)
            terminal.wait_for("led by hand")
            wait_for_event(arm, "teach mode")
            for number, way in enumerate(WAYS, start=1):
                arm.do("lead", joint=1, by=way, time=0.5)
                time.sleep(0.8)
                terminal.press(b"e")
                terminal.wait_for(f"kept 'pose {number}'")
            arm.do("input", number=BUTTON, is_on=False)
            wait_for_event(arm, "end of teach mode")
            time.sleep(0.5)
            still_ns = time.monotonic_ns()
            terminal.press(b"c")
            terminal.wait_for("press Enter")
            time.sleep(0.5)
            moves_ns = time.monotonic_ns()
            terminal.press(b"\r")
            terminal.wait_for("ENGAGED")
            terminal.press(b"y")
            terminal.wait_for("led by taught")
            time.sleep(3.0)
            terminal.press(b"q")
            assert terminal.wait_gone() == 0
        finally:
            terminal.end()
        record = arm.read()

    kept = yaml.safe_load(path.read_text())["poses"]
    poses = [list(pose["limbs"]["arm"]["q"].values()) for pose in kept]
    assert [q[0] for q in poses] == pytest.approx(np.cumsum(WAYS), abs=2e-3)
    at = record.state_stamps
    assert find_speeds(record)[(at > still_ns) & (at < moves_ns)].max() < 0.01
    for pose in poses:
        near = np.abs(record.q - pose).max(axis=1)[at > moves_ns]
        assert near.min() < 5e-3
    assert not [text for _, text in record.events if "exception" in text]
    assert judge(terminal.episode()).is_ok
