"""LeRobot drives a robot of ours through the gate, by the two packages it finds."""

import json
import sys

import numpy as np
import pytest
from lerobot_env import ROOT, find_lerobot, run
from running import judge

from paprle.contracts.types import SessionState
from paprle.recording.reader import Episode

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.timeout(3600),
]

PAPRLE = f"{sys.executable} -c 'from paprle.cli import main; raise SystemExit(main())'"
ROBOT = ["follower=piper", "env=kinematic"]


@pytest.fixture(scope="module")
def lerobot():
    python = find_lerobot()
    for name in ("lerobot_robot_paprle", "lerobot_teleoperator_paprle"):
        folder = str(ROOT / "packages" / name)
        done = run(python, "-m", "pip", "install", "--quiet", "--no-deps", folder)
        assert done.returncode == 0, done.stderr
    return python


def drive(python, verb, out, home, *more):
    """Let LeRobot drive for some seconds; return what it said."""
    robot = json.dumps([*ROBOT, f"record.dir={out}"])
    teleop = json.dumps([*ROBOT, "leader=autopilot", "leader.laps=50"])
    words = ["--robot.type=paprle", f"--robot.command={PAPRLE}"]
    words += ["--teleop.type=paprle", f"--teleop.command={PAPRLE}"]
    words += [f"--robot.words={robot}", f"--teleop.words={teleop}", *more]
    home = {"HF_LEROBOT_HOME": str(home), "HF_HOME": str(home)}
    found = f"env PYTHONPATH={ROOT} "
    words = [word.replace("command=", f"command={found}") for word in words]
    done = run(python, "-m", f"lerobot.scripts.lerobot_{verb}", *words, **home)
    assert done.returncode == 0, done.stderr[-3000:]


def check(out):
    """The robot went where it was asked to, within the gate's limits."""
    episode = Episode.open(out / "episode_000000.mcap")
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    assert engaged.sum() > 300
    aligning = episode.ticks["state"] == SessionState.ALIGNING
    assert aligning.sum() < 5.0 * 200, "it is not chased from place to place"
    assert np.ptp(episode.ticks["q_des"][engaged], axis=0).max() > 0.05
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)


def test_teleoperate_drives_through_the_gate(lerobot, tmp_path):
    out = tmp_path / "out"

    drive(lerobot, "teleoperate", out, tmp_path, "--teleop_time_s=10")

    check(out)


def test_record_drives_and_writes_its_data_set(lerobot, tmp_path):
    out, root = tmp_path / "out", tmp_path / "set"
    words = ["--dataset.repo_id=local/driven", f"--dataset.root={root}"]
    words += ["--dataset.num_episodes=1", "--dataset.episode_time_s=8"]
    words += ["--dataset.reset_time_s=0", "--dataset.single_task=draw"]
    words += ["--dataset.push_to_hub=false", "--play_sounds=false"]

    drive(lerobot, "record", out, tmp_path, *words)

    check(out)
    info = json.loads((root / "meta/info.json").read_text())
    assert info["features"]["action"]["names"][0] == "joint1.pos"
    assert info["total_frames"] > 100
