"""Pressing and grasping are no faults: the gate leashes, and never stops (L1, L2)."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.cli import main
from paprle.gate.reasons import Reason
from paprle.recording.reader import Episode

pytestmark = pytest.mark.sim


def test_pressing_on_the_table_is_leashed_and_never_stopped(tmp_path):
    t = np.arange(0.0, 8.0, 0.02)
    down = -0.45 * np.clip(np.sin(np.pi * t / 8.0), 0.0, 1.0)  # far below the table
    rows = [f"{a:.3f},0,0,{z:.6f},0,0,0,1" for a, z in zip(t, down, strict=True)]
    path = tmp_path / "press.csv"
    path.write_text("t,x,y,z,qx,qy,qz,qw\n" + "\n".join(rows) + "\n")

    code = main(
        [
            "run",
            "leader=offline",
            f"leader.path={path}",
            "follower=piper",
            "env=mujoco",
            "session.clock=virtual",
            f"record.dir={tmp_path}",
        ]
    )
    gate = Episode.open(tmp_path / "episode_000000.mcap").gate
    counts = gate["counts"][-1]

    assert code == 5  # it was told: a hand below the table is not followed
    assert counts[Reason.BLOCKED] > 100, "it never pressed on anything"
    for reason in (Reason.LAG, Reason.OVERSPEED, Reason.REVERSED):
        assert counts[reason] == 0, reason.name
    pressed = (gate["reasons"] & np.uint64(1 << Reason.BLOCKED)) > 0
    apart = np.abs(gate["q_cmd"] - gate["q_meas"])[pressed][:, :6].max(axis=1)
    assert np.median(apart) < 0.16  # E, and the lag of the drive
