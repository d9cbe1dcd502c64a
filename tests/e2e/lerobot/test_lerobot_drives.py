"""LeRobot drives a robot of ours through the gate, by the two packages it finds.

With each release for which there is a Python.
"""

import json
import sys

import numpy as np
import pytest
from lerobot_env import RELEASES, ROOT, add_guests, find_lerobot, run
from running import judge

from paprle.contracts.types import SessionState
from paprle.recording.reader import Episode

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.timeout(3600),
]

MAIN = "'from paprle.cli import main; raise SystemExit(main())'"
PAPRLE = f"env PYTHONPATH={ROOT} {sys.executable} -c {MAIN}"
GUEST = ROOT / "tests/support/recordings/lerobot_guest.py"
ROBOT = ["follower=piper", "env=kinematic"]


@pytest.fixture(scope="module", params=RELEASES)
def lerobot(request):
    python = find_lerobot(request.param)
    add_guests(python)
    return python


def drive(python, verb, out, home, *more):
    """Let LeRobot drive for some seconds."""
    robot = json.dumps([*ROBOT, f"record.dir={out}"])
    teleop = json.dumps([*ROBOT, "leader=autopilot", "leader.laps=50"])
    words = ["--robot.type=paprle", f"--robot.command={PAPRLE}"]
    words += ["--teleop.type=paprle", f"--teleop.command={PAPRLE}"]
    words += [f"--robot.words={robot}", f"--teleop.words={teleop}", *more]
    home = {"HF_LEROBOT_HOME": str(home), "HF_HOME": str(home)}
    done = run(python, "-m", f"lerobot.scripts.lerobot_{verb}", *words, **home)
    assert done.returncode == 0, done.stderr[-3000:]


def to_record(root):
    """Return the words of ``lerobot-record`` for a short episode."""
    words = ["--dataset.repo_id=local/driven", f"--dataset.root={root}"]
    words += ["--dataset.num_episodes=1", "--dataset.episode_time_s=8"]
    words += ["--dataset.reset_time_s=0", "--dataset.single_task=draw"]
    return [*words, "--dataset.push_to_hub=false", "--play_sounds=false"]


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

    drive(lerobot, "record", out, tmp_path, *to_record(root))

    check(out)
    info = json.loads((root / "meta/info.json").read_text())
    assert info["features"]["action"]["names"][0] == "joint1.pos"
    assert info["total_frames"] > 100


def test_a_robot_comes_back_after_its_session_was_killed(lerobot):
    done = run(lerobot, str(GUEST), "killed", PAPRLE, json.dumps(ROBOT))

    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "killed": "DeviceNotConnectedError",
        "sent": "DeviceNotConnectedError",
        "twice": "DeviceAlreadyConnectedError",
        "is_back": True,
    }


def test_act_reads_the_objects_of_a_simulation_and_drives(lerobot, tmp_path):
    out = tmp_path / "out"
    words = ["follower=so101", "env=mujoco", f"record.dir={out}"]

    done = run(lerobot, str(GUEST), "act", PAPRLE, json.dumps(words))

    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["inputs"] == {
        "observation.environment_state": 6,
        "observation.state": 6,
    }
    assert told["moved"] > 1.0
    verdict = judge(Episode.open(out / "episode_000000.mcap"))
    assert verdict.is_ok, str(verdict)
