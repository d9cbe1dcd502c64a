"""Pairs that cannot meet are left out of a period, and nothing comes of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from adversary import H, Judge, Servo, load, make_targets
from cells import spread

from paprle.contracts.settings.core import GateSettings, SceneBodySettings
from paprle.gate.contact.broad_phase import bound_block
from paprle.gate.gate import Gate

SCENE = {
    "ground": SceneBodySettings(shape="ground", xyz=(0.0, 0.0, -0.1)),
    "box": SceneBodySettings(shape="box", size=(0.1, 0.3, 0.3), xyz=(1.2, 0.0, 0.2)),
}


def look_at_everything(gate):
    """Let every pair matter in every period: the dense way, which is the judge."""
    blocks = gate._parts.collision.blocks
    blocks.keep[:] = np.inf
    blocks.reach.rate[:] = 1e6
    return gate


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "pattern", "lag"),
    spread(
        itertools.product(
            ("piper", "papras_7dof_2arm", "g1", "table4"),
            ("clash", "rub", "walk"),
            (None, 0.08),
        ),
        ("papras_7dof_2arm", "clash", None),
        ("papras_7dof_2arm", "rub", 0.08),
        ("papras_7dof_2arm", "walk", 0.08),
        ("table4", "rub", None),  # of many pairs most are left out
    ),
)
def test_commands_are_the_very_ones_of_looking_at_every_pair(name, pattern, lag):
    robot, rng = load(name), np.random.default_rng(7)
    settings = GateSettings(scene=SCENE)
    ours = Gate(robot, settings, h=H)
    dense = look_at_everything(Gate(robot, settings, h=H))
    targets = make_targets(rng, robot, 400, pattern, Judge(robot, settings))
    servo = None if lag is None else Servo(robot.home, np.full(len(robot.home), lag))

    for target in targets:
        q_meas = None if servo is None else servo.q
        one = ours.step(target, H, q_meas=q_meas)
        other = dense.step(target, H, q_meas=q_meas)

        assert (one.q_cmd == other.q_cmd).all()
        assert one.events == other.events
        assert one.clearance == other.clearance
        if servo is not None:
            servo.step(one.q_cmd)


@pytest.mark.parametrize("name", ["papras_7dof_2arm", "table4"])
def test_a_block_is_never_farther_than_its_pairs(name):
    robot, rng = load(name), np.random.default_rng(3)
    judge = Judge(robot, GateSettings())
    gate = Gate(robot, h=H)
    blocks, names = gate._parts.collision.blocks, gate.pair_names
    places = [judge.model.pairs.index(pair) for pair in names]
    for _ in range(30):
        q = rng.uniform(np.maximum(robot.q_min, -3.0), np.minimum(robot.q_max, 3.0))
        gate.reset(q)
        gate.step(None, H)
        distances = judge.model.clearances(q)[places]

        for g in range(len(blocks.one)):
            own = slice(blocks.starts[g], blocks.starts[g + 1])
            assert bound_block(blocks, g) <= distances[own].min() + 1e-6


def test_far_arms_are_not_looked_at_and_near_ones_are():
    robot = load("table4")
    gate = Gate(robot, h=H)
    for _ in range(5):
        gate.step(robot.home, H)
    blocks = gate._parts.collision.blocks
    arms = blocks.is_seen[(blocks.one != blocks.two)]

    assert not arms.all(), "some of them are too far to meet"
    assert blocks.is_seen[blocks.one == blocks.two].all()
