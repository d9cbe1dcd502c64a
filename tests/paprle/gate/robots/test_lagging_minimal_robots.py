"""Small robots that are not where their commands are."""

from __future__ import annotations

import numpy as np
import pytest
from minimal_robots import BALL, gap, make_crane, make_sliders

from paprle.gate.gate import Gate

H, KEEP = 0.01, 0.01  # [s], [m]


def test_the_measured_position_counts_as_well():
    gate, ahead = Gate(make_sliders(), h=H), np.array([0.0, 0.03])
    path = [gate.q_cmd]
    for _ in range(150):
        path.append(gate.step(np.ones(2), H, q_meas=path[-1] + ahead).q_cmd)

    result = gate.step(path[-1], H, q_meas=path[-1] + ahead)

    assert KEEP <= gap(path[-1] + ahead) < KEEP + 2e-3
    assert result.clearance == pytest.approx(gap(path[-1] + ahead))


@pytest.mark.parametrize("lag", [0.05, 0.2, 0.5])
def test_a_closing_joint_waits_for_the_joint_that_opens_the_pair(lag):
    gate = Gate(make_sliders(), h=H)
    q = np.array([0.44, 0.44])
    gate.reset(q)
    path, goal = [], np.array([0.8, 0.08])
    for _ in range(round((3.0 + 10 * lag) / H)):
        command = gate.step(goal, H, q_meas=q).q_cmd
        q = np.array([command[0], q[1] + (command[1] - q[1]) * H / lag])  # one is late
        path.append(q)

    assert gap(np.array(path)).min() >= KEEP
    assert q == pytest.approx(goal, abs=1e-3), "and arrives"


def test_half_way_back_to_the_robot_is_looked_at():
    gate = Gate(make_crane(), h=H)
    gate.reset([0.38, 0.0])
    gate.reset(np.array([0.5, 0.12]))

    result = gate.step(gate.q_cmd, H, q_meas=np.array([0.5, -0.12]))

    assert result.clearance == pytest.approx(-2 * BALL)
