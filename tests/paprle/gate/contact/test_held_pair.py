"""The pair that is named for a hold is the one that holds, by coal's distances."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import H, Judge, load

from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate

NEAR = 0.003  # [m] from the kept distance
STILL = 2e-6  # [rad] a period


def push(gate, target, n=1500):
    """Return the last step of a command that is asked for a target all the time."""
    for _ in range(n):
        before = gate.q_cmd.copy()
        gate.step(target, H, q_meas=before)
    return np.abs(gate.q_cmd - before).max()


@pytest.mark.long
@pytest.mark.parametrize("name", ["piper", "ur5e", "papras_7dof_2arm"])
def test_a_robot_that_stands_names_the_bodies_that_are_near(name):
    robot, rng = load(name), np.random.default_rng(7)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    pairs = [frozenset(pair) for pair in judge.model.pairs]
    n_named = 0

    for _ in range(8):
        target = judge.draw_clash(rng, robot)
        step = push(gate, target)
        if step > STILL or np.abs(gate.q_cmd - target).max() < 0.05:
            continue
        room = judge.model.clearances(gate.q_cmd) - judge.keep
        for cause in gate.kept_by[gate.kept_by >= 0]:
            named = frozenset(gate.pair_names[cause])
            of_named = [room[k] for k, pair in enumerate(pairs) if pair == named]
            assert min(of_named) < NEAR, f"{set(named)}; nearest {room.min():.3f} m"
            n_named += 1

    assert n_named >= 4
