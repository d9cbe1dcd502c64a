"""Whole sessions around a recorded hand, in virtual time."""

import numpy as np
import pytest
from hand_films import write_film

from paprle.config import resolve
from paprle.contracts.types import SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode

BOTH = "retarget.limb_map={left: hand, right: hand}"
ARMS = "retarget.limb_map={left_arm: hand, right_arm: hand}"


def run(tmp_path, robot, env, *settings, imu=True):
    """Play a film of a second's stillness and five seconds' circles."""
    film = write_film(tmp_path / "hand.npz", 6.0, imu=imu)
    args = ["leader=hand_imu", f"leader.camera.recorded={film}", "leader.hold=0.5"]
    args += [f"follower={robot}", f"env={env}", "session.clock=virtual", *settings]
    reason = VirtualSession(resolve([*args, f"record.dir={tmp_path / 'out'}"])).run()
    return reason, Episode.open(tmp_path / "out/episode_000000.mcap")


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "env", ["kinematic", pytest.param("mujoco", marks=pytest.mark.sim)]
)
@pytest.mark.parametrize(
    ("robot", "settings"),
    [("piper", ()), ("papras_7dof_2arm", (BOTH,)), ("g1_upper", (ARMS,))],
    ids=["piper", "papras_7dof_2arm", "g1_upper"],
)  # fmt: skip
def test_a_recorded_hand_drives_every_robot_to_a_clean_end(
    tmp_path, robot, settings, env
):
    reason, episode = run(tmp_path, robot, env, "retarget.scale=0.5", *settings)

    ticks = episode.ticks
    is_engaged = ticks["state"] == SessionState.ENGAGED
    assert reason == "done"
    assert is_engaged.sum() > 4.0 * 200
    target = ticks["target"][is_engaged][:, 0, :3]
    assert np.ptp(target[np.isfinite(target).all(axis=1)], axis=0).max() > 0.03


@pytest.mark.long
@pytest.mark.timeout(600)
def test_without_a_sensor_a_recorded_hand_moves_and_turns_nothing(tmp_path):
    _, episode = run(tmp_path, "piper", "kinematic", imu=False)

    ticks = episode.ticks
    pose = ticks["target"][ticks["state"] == SessionState.ENGAGED][:, 0]
    pose = pose[np.isfinite(pose).all(axis=1)]
    assert np.ptp(pose[:, :3], axis=0).max() > 0.08
    assert np.ptp(pose[:, 3:], axis=0).max() < 1e-6
