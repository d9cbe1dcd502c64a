"""The kinematic follower fills the contract, and says what is wrong."""

import numpy as np
import pytest

from paprle.contracts.errors import CommandError, DeviceError
from paprle.followers.kinematic.config import KinematicConfig
from paprle.followers.kinematic.follower import KinematicFollower
from paprle.testing import FollowerContract, ManualClock
from paprle.testing.robots import make_robot_info

ROBOT = make_robot_info(3, q_min=0.2, home=0.5)


def _make(**config):
    return KinematicFollower(KinematicConfig(**config), ROBOT, ManualClock())


class TestIdeal(FollowerContract):
    tolerance = 1e-9

    def make_follower(self, clock):
        return KinematicFollower(KinematicConfig(), make_robot_info(6), clock)


class TestLagging(FollowerContract):
    tolerance = 0.01

    def make_follower(self, clock):
        config = KinematicConfig(rate=500, time_constant=0.05, dead_time=0.0123)
        return KinematicFollower(config, make_robot_info(6), clock)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, [0.5, 0.5, 0.5]),
        ({"start": "zero"}, [0.2, 0.2, 0.2]),
        ({"q_start": {ROBOT.joint_names[1]: -3.0}}, [0.5, -3.0, 0.5]),
    ],
)
def test_starts_at_home_or_zero_or_where_told(config, expected):
    follower = _make(**config)
    follower.open()

    assert follower.read().q == pytest.approx(expected)


def test_states_its_lag():
    assert _make(time_constant=0.03, dead_time=0.02).open().lag == pytest.approx(0.05)


def test_unknown_joint_in_q_start_is_refused():
    with pytest.raises(DeviceError, match=r"env\.q_start: expected joints.*'elbo'"):
        _make(q_start={"elbo": 1.0}).open()


@pytest.mark.parametrize("q_cmd", [np.zeros(2), np.array([0.0, np.nan, 0.0])])
def test_malformed_command_is_refused(q_cmd):
    follower = _make()
    follower.open()

    with pytest.raises(CommandError, match="3 finite positions"):
        follower.write(q_cmd)
    assert np.isfinite(follower.read().q).all()


def test_closed_follower_says_so():
    with pytest.raises(DeviceError, match="expected an open follower"):
        _make().read()
