"""Arms with fewer joints than a pose has numbers come back to their targets."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from arms import shift
from cells import spread
from scipy.optimize import minimize
from shared_data import require

from benchmarks.returns import ARMS, DT, ON_POS, ON_ROT, follow, load, make_path

EXACT = 5e-5  # [m] a tenth of what any of these arms repeats


def load_arm(name, **limits):
    require(ARMS[name].urdf)
    robot = load(ARMS[name], **limits)
    return robot, next(iter(robot.limbs.values()))


@pytest.mark.long
@pytest.mark.parametrize("name", spread(ARMS, "so101", "ur5e, 5 joints"))
def test_an_arm_comes_back_from_every_target_out_of_reach(name):
    robot, limb = load_arm(name)
    rng = np.random.default_rng(7)
    ends = []

    for _ in range(20):
        q, path = make_path(limb, rng)
        ends.append(follow(robot, limb, q, path)[-1])

    assert (np.array(ends) < [ON_POS, ON_ROT]).all(), np.array(ends)


@pytest.mark.long
@pytest.mark.parametrize("name", ARMS)
def test_position_is_exact_whatever_the_rotation_asks_for(name):
    robot, limb = load_arm(name)
    rng = np.random.default_rng(3)
    low, high = np.maximum(limb.q_min, -2.5), np.minimum(limb.q_max, 2.5)
    middle, half = 0.5 * (low + high), 0.2 * (high - low)

    for _ in range(5):
        q = rng.uniform(middle - half, middle + half)
        T, turn = limb.fk(q), rng.uniform(-0.3, 0.3, 3)
        path = [
            pin.SE3(T.rotation @ pin.exp3(s * turn), T.translation)
            for s in np.minimum(np.arange(400) / 200, 1.0)
        ]
        assert follow(robot, limb, q, path)[:, 0].max() < EXACT


def find_least_turn(limb, T, q):
    """Return the least angle to a pose at its position, from q on, [rad]."""

    def turn(q):
        return float(np.sum(pin.log3(limb.fk(q).rotation.T @ T.rotation) ** 2))

    def miss(q):
        return 100.0 * (limb.fk(q).translation - T.translation)

    found = minimize(
        turn,
        q,
        method="SLSQP",
        constraints=[{"type": "eq", "fun": miss}],
        bounds=list(zip(limb.q_min, limb.q_max, strict=True)),
        options={"maxiter": 200, "ftol": 1e-10},
    )
    assert np.linalg.norm(miss(found.x)) < 1e-2
    return math.sqrt(found.fun)


@pytest.mark.long
@pytest.mark.parametrize("name", ARMS)
def test_orientation_is_the_best_that_the_position_leaves(name):
    robot, limb = load_arm(name)
    rng = np.random.default_rng(11)
    low, high = np.maximum(limb.q_min, -2.5), np.minimum(limb.q_max, 2.5)
    middle, half = 0.5 * (low + high), 0.15 * (high - low)
    turns = []

    for _ in range(5):
        q = rng.uniform(middle - half, middle + half)
        T, turn = limb.fk(q), rng.uniform(-0.3, 0.3, 3)
        way = rng.uniform(-0.02, 0.02, 3)
        path = [
            pin.SE3(T.rotation @ pin.exp3(s * turn), T.translation + s * way)
            for s in np.minimum(np.arange(600) / 300, 1.0)
        ]
        pos, rot = follow(robot, limb, q, path)[-1]
        assert pos < EXACT
        turns.append((rot, find_least_turn(limb, path[-1], q)))

    ours, least = np.transpose(turns)
    assert (ours < least + 1e-3).all(), turns
    assert ours.max() > 0.1  # some of what is asked for is out of reach


def test_an_arm_that_was_too_slow_for_a_moment_goes_on_with_its_target():
    """Its elbow was at V once, and the hand stood off by 6 cm from then on."""
    robot, limb = load_arm("so100", speed=0.8, acceleration=5.0)
    q = np.array([0.0, 0.78, -1.37, 0.0, 0.0])
    T, speed = limb.fk(q), np.minimum(np.arange(1300) / 60, 1.0)  # 5 cm/s in the end
    turns = np.cumsum(speed) * DT
    circle = 0.05 * np.stack([0.0 * turns, np.sin(turns), 1.0 - np.cos(turns)], axis=1)

    left = follow(robot, limb, q, [shift(T, way) for way in circle])

    assert left[:, 0].max() < ON_POS
