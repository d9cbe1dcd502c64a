"""The same run twice is the same run (acceptance 8)."""

from __future__ import annotations

import numpy as np
import pytest
from product import run_virtual

from benchmarks.devices.itv import measure_spread
from paprle.cli import main
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs

N_REPLAYS = 5


def read_path(out):
    episode = Episode.open(out)
    (limb,) = make_limbs(episode.robot_info, episode.urdf).values()
    return compute_poses(limb, limb.take(episode.gate["q_meas"].T).T)


@pytest.mark.parametrize(
    "env",
    [
        "kinematic",
        pytest.param("mujoco", marks=[pytest.mark.sim, pytest.mark.nightly]),
    ],
)
def test_replays_on_the_virtual_clock_are_identical(tmp_path, env):
    first = tmp_path / "first"
    run_virtual(
        first, "leader=autopilot", "leader.size=0.04", "leader.speed=0.1",
        "follower=piper", f"env={env}",
    )  # fmt: skip

    paths = []
    for number in range(N_REPLAYS):
        out = tmp_path / f"again{number}"
        episode = first / "episode_000000.mcap"
        words = ["session.clock=virtual", f"record.dir={out}"]
        assert main(["replay", str(episode), *words]) == 0
        paths.append(read_path(out))

    for path in paths[1:]:
        assert path.shape == paths[0].shape
        assert np.abs(path - paths[0]).max() <= 1e-9


@pytest.mark.nightly
@pytest.mark.sim
@pytest.mark.process
@pytest.mark.timed
@pytest.mark.timeout(1800)
def test_live_replays_of_a_robot_that_varies_spread_little(tmp_path):
    """The aim of the issue; the paper's robot has 3.91 mm."""
    itv = measure_spread(20, tmp_path)

    assert itv["n_trials"] == 20
    assert itv["arc_length_mm"] <= 0.1
    # A motion may begin up to a tick of 5 ms later than another: 0.25 mm at 0.05 m/s.
    assert itv["normalised_time_mm"] <= 0.25
