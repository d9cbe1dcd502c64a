"""Over a link, lag and errors count from the operator's capture, not from its picture.

The judge takes the hand from the recorded captures and the robot from its measured
joints, and knows nothing of targets.
"""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs
from paprle_lab.evaluation.reporting.report import evaluate

WORDS = ["leader=autopilot", "leader.laps=3", "leader.size=0.05", "leader.speed=0.15"]
ROBOT = ["follower=piper", "env=kinematic", "session.clock=virtual"]


def judge(episode):
    """Return lag [ms], and raw and lag-removed median errors [mm], of the whole hand.

    The robot's pose at engaging is where both paths begin.
    """
    new = episode.is_new_sample & (episode.ticks["driver"][:, 0] >= 0)
    sample = episode.ticks["sample"][new]
    t, first = np.unique(sample["stamp_ns"] * 1e-9, return_index=True)
    hand = sample["pose"][first, 0, :3]
    limb = make_limbs(episode.robot_info, episode.urdf)["arm"]
    gate = episode.gate
    t_robot = gate["meas_ns"] * 1e-9
    robot = compute_poses(limb, limb.take(gate["q_meas"].T).T)[:, :3]
    inside = (t > t[0] + 1.0) & (t < t[-1] - 1.0)
    t, hand = t[inside], hand[inside]

    def measure(lag):
        there = np.stack([np.interp(t + lag, t_robot, x) for x in robot.T], axis=1)
        return there - hand

    lags = np.arange(0.0, 0.5, 0.001)
    spread = [measure(lag).std(axis=0).sum() for lag in lags]
    lag = lags[int(np.argmin(spread))]
    off = measure(lag).mean(axis=0)
    raw, without = (
        float(np.median(np.linalg.norm(measure(one) - off, axis=1)))
        for one in (0.0, lag)
    )
    return 1e3 * lag, 1e3 * raw, 1e3 * without


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(["link.emulate=4g"], id="over a link"),
        pytest.param(
            ["retarget.filter.min_cutoff=1.0"], id="filtered", marks=pytest.mark.nightly
        ),
        pytest.param([], id="here", marks=pytest.mark.nightly),
    ],
)
def test_lag_and_errors_count_from_the_capture(tmp_path, network):
    words = [*WORDS, *ROBOT, *network, f"record.dir={tmp_path}"]
    assert VirtualSession(resolve(words)).run() == "done"
    path = tmp_path / "episode_000000.mcap"

    (entry,) = evaluate([path])
    errors = entry["limbs"]["arm"]["ate_mm"]
    lag, raw, without = judge(Episode.open(path))

    told = errors["lag_compensated"]
    assert told["tau_ms"] == pytest.approx(lag, abs=5.0)
    assert errors["raw"]["median"] == pytest.approx(raw, rel=0.05, abs=0.05)
    assert told["median"] == pytest.approx(without, rel=0.2, abs=0.05)
