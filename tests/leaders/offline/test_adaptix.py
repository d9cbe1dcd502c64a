"""A recording of AdaptiX is played, and an episode of ours becomes one."""

import numpy as np
import pytest

from leaders.offline.config import OfflineConfig
from leaders.offline.motion import load_motion
from paprle.cli import main
from paprle.contracts.types import SessionState
from paprle.recording.adaptix import CLOSED, parse_adaptix
from paprle.recording.reader import Episode

ROBOT = ["follower=papras_7dof", "session.clock=virtual", "session.status=false"]


def run(folder, *words):
    assert main(["run", *ROBOT, f"record.dir={folder}", *words]) == 0
    return Episode.open(folder / "episode_000000.mcap")


def test_fingers_are_an_opening_and_degrees_are_said(tmp_path):
    path = tmp_path / "v0.csv"
    rows = [[0.02 * k, k, 0, 0, 0, 0, 0, 1, angle, 0, 0, 0] for k, angle in
            enumerate([0.0, CLOSED / 2, CLOSED])]  # fmt: skip
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))

    motion = load_motion(OfflineConfig(path=str(path)))

    rows = motion.tracks["hand"].rows
    np.testing.assert_allclose(rows.opening, [1.0, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(rows.p[:, 0], [0.0, 0.01, 0.02])
    assert not motion.is_absolute
    assert any("AdaptiX, version 0" in note for note in motion.notes)


@pytest.mark.sim
@pytest.mark.long
def test_an_episode_goes_out_and_its_motion_is_the_same_in_another_scene(tmp_path):
    pytest.importorskip("mujoco")
    world = ["env=mujoco", "env.rate=50", "session.rate=25"]
    lap = ["leader=autopilot", "leader.laps=1", "leader.size=0.04", "leader.speed=0.2"]
    made = run(tmp_path / "made", *world, *lap, "env.scenario.seed=1")
    path = tmp_path / "motion.csv"

    code = main(["export", str(made.path), str(path), "--format", "adaptix-v2"])
    play = [*world, "leader=offline", f"leader.path={path}"]
    here = run(tmp_path / "here", *play, "env.scenario.seed=1")
    there = run(tmp_path / "there", *play, "env.scenario.seed=2")

    assert code == 0
    assert not np.array_equal(here.objects["block"][1][0], there.objects["block"][1][0])
    np.testing.assert_array_equal(here.gate["q_cmd"], there.gate["q_cmd"])
    engaged = here.ticks["state"] == SessionState.ENGAGED
    recorded = parse_adaptix(path, path.read_text()).frames
    before = np.array([frame.joints[-1, :3] for frame in recorded])
    after = here.ticks["target"][engaged, 0, :3]
    assert np.ptp(after, axis=0) == pytest.approx(np.ptp(before, axis=0), abs=0.002)
    assert np.ptp(here.gate["q_cmd"], axis=0).max() > 0.02, "it moves"
