"""Every leader on four robots, ideal and simulated: it drives, and ends cleanly.

In virtual time, from emulated devices or recorded input.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulated_hands import PADS
from leader_rows import ENVS, ROBOTS, ROWS, Bench, drive, play_pad
from played import make_pose_rows, write_csv
from preloaded import run_preloaded

from paprle.ipc.process import WORKSPACE
from paprle.testing.stepped import SteppedSession

APART = "spacemouse"  # the real hidapi needs a process: preloaded_mouse.py
CELLS = [
    (leader, robot, env)
    for leader in ROWS
    if leader != APART
    for robot in ROBOTS
    for env in ENVS
]
SPREAD = CELLS[::11]  # 15, no leader twice, each robot in each env


@pytest.mark.sim
@pytest.mark.parametrize(
    ("leader", "robot", "env"),
    [
        pytest.param(
            *cell, marks=pytest.mark.long if cell in SPREAD else pytest.mark.nightly
        )
        for cell in CELLS
    ],
)
def test_a_leader_drives_a_robot_for_5_s_and_ends(
    leader, robot, env, monkeypatch, tmp_path
):
    drive(leader, Bench(monkeypatch, tmp_path, robot), env)


@pytest.mark.process
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_mouse_that_the_real_hidapi_reads_drives_them_as_well(tmp_path):
    run_preloaded(Path(__file__).with_name("preloaded_mouse.py"), tmp_path)


def test_every_config_of_a_leader_has_a_row():
    configs = {path.stem for path in (WORKSPACE / "configs" / "leader").glob("*.yaml")}
    # other rigs of the same leader: tests/contract/test_puppeteer_configs.py and
    # tests/leaders/puppeteer/test_feetech.py; arms that carry themselves, driven with
    # their followers: tests/leaders/damiao
    led = ("puppeteer_", "so101", "openarm", "yam")
    rigs = {name for name in configs if name.startswith(led)}
    rows = {name.split()[0] for name in ROWS}

    assert configs - rigs | {"puppeteer"} == rows


def test_the_daily_spread_has_each_robot_in_each_env_and_no_leader_twice():
    assert len(SPREAD) == len({leader for leader, _, _ in SPREAD}) == 15
    assert len({cell[1:] for cell in SPREAD}) == len(ROBOTS) * len(ENVS)


@pytest.mark.long
def test_three_sources_drive_two_arms_and_one_that_lets_go_gives_way(tmp_path):
    """The left arm follows a pad while its dead-man is held, else an autopilot."""
    rows = make_pose_rows(np.arange(0.0, 10.0, 0.02))
    path = write_csv(tmp_path / "hand.csv", "t,x,y,z,qx,qy,qz,qw", rows)
    pad = play_pad(None)
    words = (
        "leader=mix",
        *("leaders.auto.type=autopilot", "leaders.auto.laps=20"),
        *("leaders.file.type=offline", f"leaders.file.path={path}"),
        *("leaders.pad.type=gamepad", pad.words[1].replace("leader.", "leaders.pad.")),
        "retarget.limbs.left_arm.from=[pad.hand,auto.hand]",
        "retarget.limbs.right_arm.from=file.hand",
    )
    target = ("follower=g1_upper", "env=kinematic")
    session = SteppedSession(words, pad.make_hand, target, name="pad")
    robot = session.session.plan.robot.info
    rows_of = {
        limb.name: [robot.joint_names.index(joint) for joint in limb.joint_names]
        for limb in robot.limbs
    }
    session.step(0.5)
    session.hand.is_held = True
    session.until("ENGAGED").step(1.0)
    q_held = session.q_cmd
    session.step(1.0)
    still = np.abs(session.q_cmd - q_held)[rows_of["left_arm"]].max()
    session.hand.is_held = False
    session.step(2.0)
    moved = np.abs(session.q_cmd - q_held)
    session.close()
    PADS["Faulty pad"].unplug()
    session.judge()

    assert still < 1e-6, "a pad at rest holds its arm"
    assert moved[rows_of["left_arm"]].max() > 0.01, "the autopilot goes on"
    assert moved[rows_of["right_arm"]].max() > 0.01
