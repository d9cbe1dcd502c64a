"""A million steps of joints and a hundred thousand of arms that meet, judged each."""

from __future__ import annotations

import adversary
import numpy as np
import pytest
from cells import spread

from benchmarks.gate_soak import run, run_robot
from paprle.contracts.settings.core import GateSettings

pytestmark = pytest.mark.long


def test_a_million_steps_of_limbs_break_nothing():
    assert run(1_000_000, seed=1, n_limbs=300) == 0


@pytest.mark.timeout(400)  # measured: 43 s of four arms, on one core
@pytest.mark.parametrize(
    ("robot", "n_steps"),
    spread(
        [("table2", 12_000), ("table2", 100_000), ("table4", 100_000)],
        ("table2", 12_000),
    ),
)
def test_arms_that_meet_keep_clear(robot, n_steps):
    assert run_robot(n_steps, seed=1, name=robot) == 0


@pytest.mark.parametrize("robot", ["table2", "table4"])
def test_the_judge_of_blocks_finds_all_that_the_whole_one_finds(robot):
    model = adversary.load(robot)
    judge, rng = adversary.Judge(model, GateSettings()), np.random.default_rng(3)
    low, high = np.maximum(model.q_min, -np.pi), np.minimum(model.q_max, np.pi)
    postures = rng.uniform(low, high, (800, len(low)))
    postures[::2] = model.home + 0.2 * (postures[::2] - model.home)

    bad = judge.find_bad(postures)

    assert bad == [k for k, q in enumerate(postures) if not judge.is_clear(q)]
    assert 20 < len(bad) < 780
