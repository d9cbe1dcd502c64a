"""A newcomer's leader, as docs/adding_a_leader.md has it (acceptance 7)."""

from __future__ import annotations

import os

import numpy as np
import pages
import pytest
from product import measure, run_live

from paprle.ipc.process import WORKSPACE
from paprle.recording.reader import Episode

pytestmark = [pytest.mark.process, pytest.mark.timed]


@pytest.mark.nightly
def test_the_leader_of_the_page_drives_a_live_session_to_its_end(tmp_path):
    folder, out = tmp_path / "site", tmp_path / "out"
    folder.mkdir()
    pages.install("adding_a_leader", folder)
    path = os.pathsep.join([str(folder), str(WORKSPACE)])

    done = run_live(
        "leader=wave", "leader.height=0.05", "follower=piper", "env=kinematic",
        f"record.dir={out}", env={"PYTHONPATH": path},
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 episode" in done.stdout + done.stderr
    entry = measure(out)
    assert entry["gate"]["violations"] == 0
    assert entry["engaged_s"] == pytest.approx(3.0, abs=0.2)
    _, target = Episode.open(out).target["arm"]
    assert np.ptp(target[:, 2]) == pytest.approx(0.05, abs=2e-3)
