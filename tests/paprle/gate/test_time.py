"""Not safe by freezing: how long targets take, against the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import H, Judge, drive, load

from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate

pytestmark = pytest.mark.long
ROOM = 0.01  # [m] more than is kept, all the way
SHARE = 1.05  # spec: issue 3, of the time-optimal


def time_to(way, V, A):
    """Time-optimal time from rest to rest of the joint that takes longest, [s]."""
    peak = np.minimum(V, np.sqrt(A * way))
    return float(np.max(way / peak + peak / A, where=way > 0.0, initial=0.0))


def draw_free(robot, judge, rng):
    """Return two postures with nothing in the way between them."""
    low = np.maximum(robot.q_min, -np.pi) + 0.02
    high = np.minimum(robot.q_max, np.pi) - 0.02
    while True:
        start, goal = rng.uniform(low, np.maximum(low, high), (2, len(low)))
        ways = start + np.linspace(0.0, 1.0, 25)[:, None] * (goal - start)
        if all(judge.is_clear(q) for q in ways):
            return start, goal


def test_the_optimum_is_that_of_ruckig():
    ruckig = pytest.importorskip("ruckig")
    rng = np.random.default_rng(0)
    for _ in range(20):
        way, V, A = (
            rng.uniform(0.01, 3, 7),
            rng.uniform(0.5, 3, 7),
            rng.uniform(2, 20, 7),
        )
        asked = ruckig.InputParameter(7)
        asked.target_position = way
        asked.max_velocity, asked.max_acceleration = V, A
        found = ruckig.Trajectory(7)
        ruckig.Ruckig(7).calculate(asked, found)

        assert time_to(way, V, A) == pytest.approx(found.duration, rel=1e-6)


@pytest.mark.parametrize("name", ["piper", "papras_7dof", "papras_7dof_2arm", "table2"])
def test_a_free_target_takes_hardly_longer_than_the_optimum(name):
    robot, rng = load(name), np.random.default_rng(1)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings(), slack=-ROOM)
    A = robot.info.ddq_max
    shares = []
    for _ in range(8):
        start, goal = draw_free(robot, judge, rng)
        gate.reset(start)

        path, _, _ = drive(gate, [goal] * 1500)

        arrived = (np.argmax((np.abs(path - goal) < 1e-6).all(axis=1)) + 1) * H
        shares.append(
            (arrived - 2 * H) / time_to(np.abs(goal - start), robot.dq_max, A)
        )
        over = np.sign(goal - start) * (path - goal)
        assert over.max() < 1e-6
        assert (path[-1] == goal).all()
    assert max(shares) <= SHARE, shares
