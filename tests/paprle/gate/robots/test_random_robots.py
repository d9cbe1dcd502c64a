"""Robots that nobody has seen, from a bare URDF, driven by what tries to break them."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest
from adversary import BAD, PATTERNS, SLACK, Judge, drive, judge_joints, make_targets
from random_robots import make_random_robot
from shared_data import SHARED, find_shared

from paprle import Gate, GateConfig, RobotModel
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import SceneBodySettings
from paprle.testing.robots import make_robot_info

pytestmark = pytest.mark.long
URDFS = SHARED / "urdf"
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
    h = float(rng.choice([0.001, 0.002, 0.005, 0.01, 0.02]))
    judge, gate = (
        Judge(robot, settings),
        Gate(robot, settings, h=h, allow_no_bodies=True),
    )
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
    rng, robot = np.random.default_rng(seed), make_random_robot(tmp_path, seed)
    for is_home in (True, False):
        pattern, scene = rng.choice(PATTERNS), SCENES[rng.integers(3)]
        attack(robot, rng, 150, pattern, scene, is_home)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_hundreds_of_made_up_robots_are_as_safe(tmp_path):
    for seed in range(100, 400):
        rng = np.random.default_rng(seed)
        try:
            robot = make_random_robot(tmp_path, seed)
            for is_home in (True, False):
                pattern, scene = rng.choice(PATTERNS), SCENES[rng.integers(3)]
                attack(robot, rng, 300, pattern, scene, is_home)
        except ConfigError as err:
            assert re.search("(follows|mimics) a joint without limits", str(err))


def make_odd(rng, n=12):
    """Return joints whose ranges, speeds and accelerations span many decades."""
    middle, half = rng.choice([0.0, 1.0, 100.0]), 10.0 ** rng.uniform(-6, 3, n)
    half = np.where(rng.random(n) < 0.2, np.inf, half)
    return make_robot_info(
        3,
        n_limbs=n // 3,
        q_min=middle - half,
        q_max=middle + half,
        dq_max=10.0 ** rng.uniform(-4, 4, n),
        ddq_max=10.0 ** rng.uniform(-2, 6, n),
        home=middle,
    )


@pytest.mark.parametrize("targets", ["beyond", "walk", "absurd"])
def test_no_limits_are_too_odd_to_be_kept(targets):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        robot, h, shape = make_odd(rng), 10.0 ** rng.uniform(-4, -0.1), (150, 12)
        gate, commands = Gate(robot, h=h, allow_no_bodies=True), []
        q_des = {
            "beyond": rng.uniform(-2e3, 2e3, shape),
            "walk": robot.home
            + np.cumsum(rng.normal(0, 1, shape) * robot.dq_max * h, axis=0),
            "absurd": np.where(rng.random(shape) < 0.5, -1e30, 1e30),
        }[targets]
        q_des[rng.random(150) < 0.02, 0] = rng.choice(BAD)
        for target in q_des:
            if rng.random() < 0.05:
                gate.speed_scale = float(rng.choice([0.0, 0.1, 1.0, np.nan, 2.0, -1.0]))
            age = float(rng.choice([0.0, 0.0, 0.2, np.nan]))
            commands.append(gate.step(target, h, age, rng.normal(size=12)).q_cmd)

        verdict = judge_joints(commands, robot, h)

        assert verdict.is_ok, f"seed {seed}: {verdict}"


@pytest.mark.parametrize("name", sorted(path.stem for path in URDFS.glob("*.urdf")))
def test_robots_made_by_others_are_as_safe(name):
    robot, rng = RobotModel.from_urdf(URDFS / f"{name}.urdf"), np.random.default_rng(0)
    for pattern in ("square", "edge"):
        attack(robot, rng, 80, pattern, SCENES[1], is_home=True)


def test_there_are_robots_made_by_others():
    assert len(list(find_shared("urdf").glob("*.urdf"))) >= 12
