"""A million steps of joints and a hundred thousand of arms that meet, judged each."""

from __future__ import annotations

import pytest

from benchmarks.gate_soak import run, run_robot

pytestmark = pytest.mark.long


def test_a_million_steps_of_limbs_break_nothing():
    assert run(1_000_000, seed=1, n_limbs=300) == 0


@pytest.mark.parametrize(("robot", "n"), [("table2", 100_000), ("table4", 10_000)])
def test_arms_that_meet_keep_clear(robot, n):
    assert run_robot(robot, n, seed=1) == 0
