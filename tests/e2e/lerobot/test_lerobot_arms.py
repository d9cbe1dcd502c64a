"""LeRobot's own SO-101 classes, unmodified, against emulated arms.

With each release for which there is a Python.
"""

import json

import pytest
from feetech_rig import running_feetech
from lerobot_env import RELEASES, ROOT, find_lerobot, run

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.timed,
    pytest.mark.timeout(3600),
]

ARMS = ROOT / "tests/support/recordings/lerobot_arms.py"
LED = 300.0  # [s]


@pytest.fixture(scope="module", params=RELEASES)
def lerobot(request):
    return find_lerobot(request.param)


@pytest.fixture
def rigs(lerobot, tmp_path):
    """Ports of follower and leader, and LeRobot's home, which has their calibration."""
    home = {"HF_LEROBOT_HOME": str(tmp_path), "HF_HOME": str(tmp_path)}
    with (
        running_feetech("rig=so101") as follower,
        running_feetech("rig=so101_leader", "motion=sines") as leader,
    ):
        ports = follower.ports["follower"], leader.ports["leader"]
        done = run(lerobot, str(ARMS), "learn", *ports, **home)
        assert done.returncode == 0, done.stderr[-3000:]
        yield ports, home


def test_its_classes_lead_for_five_minutes_without_an_exception(lerobot, rigs):
    ports, home = rigs

    done = run(lerobot, str(ARMS), "lead", *ports, str(LED), **home)

    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["exceptions"] == []
    assert told["cycles"] > 0.9 * LED * 60.0
    assert min(told["travel"].values()) > 20.0
    assert max(told["off"].values()) < 15.0


def test_its_record_command_writes_an_episode(lerobot, rigs, tmp_path):
    (follower, leader), home = rigs
    root = tmp_path / "set"
    words = ["--robot.type=so101_follower", f"--robot.port={follower}"]
    words += ["--robot.id=emulated", "--teleop.id=emulated"]
    words += ["--teleop.type=so101_leader", f"--teleop.port={leader}"]
    words += ["--dataset.repo_id=local/led", f"--dataset.root={root}"]
    words += ["--dataset.num_episodes=1", "--dataset.episode_time_s=8"]
    words += ["--dataset.reset_time_s=0", "--dataset.single_task=lead"]
    words += ["--dataset.push_to_hub=false", "--play_sounds=false"]

    done = run(lerobot, "-m", "lerobot.scripts.lerobot_record", *words, **home)

    assert done.returncode == 0, done.stderr[-3000:]
    info = json.loads((root / "meta/info.json").read_text())
    assert info["total_frames"] > 100
    names = info["features"]["action"]["names"]
    assert names[0] == "shoulder_pan.pos"
    assert names[-1] == "gripper.pos"
