"""Robots that nobody has seen, from a bare URDF, driven by what tries to break them."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from adversary import PATTERNS, SLACK, Judge, drive, judge_joints, make_targets
from strangers import make_stranger

from paprle import Gate, GateConfig, RobotModel
from paprle.errors import ConfigError
from paprle.settings import SceneBodySettings

pytestmark = pytest.mark.long
SHARED = Path(__file__).resolve().parents[4] / "shared/data/urdf"
SCENES = (
    {},
    {"ground": SceneBodySettings(shape="ground", xyz=(0.0, 0.0, -0.1))},
    {"box": SceneBodySettings(shape="box", size=(0.1, 0.3, 0.3), xyz=(0.45, 0, 0.2))},
)


@pytest.fixture(autouse=True)
def be_quiet(caplog):
    caplog.set_level(logging.ERROR)  # of links that have no bodies


def attack(robot, rng, n, pattern, scene, is_home):
    """Drive a robot from home or from anywhere, its limits changed in motion."""
    settings = GateConfig(scene=scene)
    judge, gate = Judge(robot, settings), Gate(robot, settings)
    h = float(rng.choice([0.001, 0.002, 0.005, 0.01, 0.02]))
    start = robot.home
    if not is_home:
        start = rng.uniform(np.maximum(gate.q_min, -3.0), np.minimum(gate.q_max, 3.0))
    targets = make_targets(rng, robot, n, pattern, judge)
    gate.reset(start)

    commands, _, _ = drive(gate, targets, h, rng=rng)

    verdict = judge_joints(commands, robot, h, start)
    assert verdict.is_ok, str(verdict)
    at_start = judge.model.clearances(start)
    # too near already, they come no nearer; how deep bodies overlap is an estimate
    least = np.where(at_start > 0.0, np.minimum(judge.keep, at_start), -np.inf)
    for k in judge.find_bad(commands):
        assert (judge.model.clearances(commands[k]) >= least - SLACK).all(), k


@pytest.mark.parametrize("seed", range(8))
def test_no_made_up_robot_is_driven_out_of_its_limits_or_into_itself(tmp_path, seed):
    rng, robot = np.random.default_rng(seed), make_stranger(tmp_path, seed)
    for is_home in (True, False):
        pattern, scene = rng.choice(PATTERNS), SCENES[rng.integers(3)]
        attack(robot, rng, 150, pattern, scene, is_home)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_hundreds_of_made_up_robots_are_as_safe(tmp_path):
    for seed in range(100, 400):
        rng = np.random.default_rng(seed)
        try:
            robot = make_stranger(tmp_path, seed)
            for is_home in (True, False):
                pattern, scene = rng.choice(PATTERNS), SCENES[rng.integers(3)]
                attack(robot, rng, 300, pattern, scene, is_home)
        except ConfigError as err:
            assert "follows a joint without limits" in str(err)


@pytest.mark.parametrize("name", sorted(path.stem for path in SHARED.glob("*.urdf")))
def test_robots_made_by_others_are_as_safe(name):
    robot, rng = RobotModel.from_urdf(SHARED / f"{name}.urdf"), np.random.default_rng(0)
    for pattern in ("square", "edge"):
        attack(robot, rng, 80, pattern, SCENES[1], is_home=True)


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
def test_there_are_robots_made_by_others():
    assert len(list(SHARED.glob("*.urdf"))) >= 12
