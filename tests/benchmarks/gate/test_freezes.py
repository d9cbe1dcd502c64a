"""No robot stands for long while its operator asks it to move, and can move back."""

import pytest
from cells import spread

from benchmarks.gate.freezes import ROBOTS, measure


def judge(name, seconds, seed=0):
    found = measure(name, seconds, seed)
    assert found["unended"] == 0, found
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", spread(["papras_7dof", "piper_2arm"], "papras_7dof"))
def test_moving_back_ends_every_freeze(name):
    judge(name, 30.0)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ROBOTS)
def test_moving_back_ends_every_freeze_of_minutes(name):
    for seed in range(3):
        judge(name, 180.0, seed)
