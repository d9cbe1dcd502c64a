"""Arms with four and five joints follow a hand's position; its turns as far as they go.

What they cannot follow is said once, before the session begins.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from played import write_csv
from product import find_error, run_virtual

from paprle.recording.reader import Episode

ENVS = ("kinematic", "mujoco")
ROBOTS = {"so101": 5, "so100": 5, "open_manipulator_x": 4}
SAID = "position before orientation ({} joints)"
CELLS = [
    pytest.param(robot, env, marks=() if k % 3 == 0 else pytest.mark.nightly)
    for k, (robot, env) in enumerate((r, e) for e in ENVS for r in ROBOTS)
]


@pytest.fixture(scope="module")
def motion(tmp_path_factory):
    """A hand that draws a loop of 8 by 6 cm and yaws by 0.5 rad, which no arm can."""
    t = np.arange(0.0, 8.0, 0.02)
    phase, fade = 2 * np.pi * t / t[-1], np.sin(np.pi * t / t[-1]) ** 2
    p = np.stack([0 * t, 0.04 * fade * np.sin(2 * phase), 0.03 * fade], axis=1)
    yaws = 0.5 * fade
    quats = [pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, a)).coeffs() for a in yaws]
    path = tmp_path_factory.mktemp("motion") / "loop.csv"
    return write_csv(path, "t,x,y,z,qx,qy,qz,qw", np.column_stack([t, p, quats]))


@pytest.mark.long
@pytest.mark.sim
@pytest.mark.parametrize(("robot", "env"), CELLS)
def test_position_is_followed_and_what_is_not_is_said_once(
    robot, env, motion, tmp_path, capsys
):
    entry = run_virtual(
        tmp_path,
        "leader=offline",
        f"leader.path={motion}",
        "leader.frame=relative",
        f"follower={robot}",
        f"env={env}",
    )

    said = capsys.readouterr().out
    limb = entry["limbs"]["arm"]
    assert said.count(SAID.format(ROBOTS[robot])) == 1
    assert "not where the hand was" not in said
    assert "gate acted" not in said
    assert entry["gate"]["violations"] == 0
    assert find_error(limb) < 0.05  # [mm]
    assert limb["ate_mm"]["raw"]["max"] < 2.0
    assert find_longest_rest(tmp_path / "episode_000000.mcap") < 0.5


def find_longest_rest(path) -> float:
    """Return the longest time for which a recorded robot stood in its motion, [s]."""
    gate = Episode.open(path).gate
    t = 1e-9 * (gate["stamp_ns"] - gate["stamp_ns"][0])
    speed = np.abs(np.gradient(gate["q_cmd"], t, axis=0)).max(axis=1)
    begin, *_, end = np.flatnonzero(speed > 1e-2)
    moving = begin + np.flatnonzero(speed[begin:end] > 1e-3)
    return float(np.diff(t[moving]).max())
