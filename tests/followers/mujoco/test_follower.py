"""The MuJoCo follower fills the contract, is crisp, and refuses what is broken."""

import json

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

pytest.importorskip("mujoco")

from paprle.contracts.errors import CommandError, DeviceError
from paprle.followers.mujoco.config import MujocoConfig, RandomiseConfig
from paprle.followers.mujoco.follower import MujocoFollower
from paprle.testing import FollowerContract, ManualClock
from paprle.testing.robots import make_robot_info

pytestmark = pytest.mark.sim

ROBOTS = [
    "piper",
    "ur5e",
    "papras_7dof",
    "papras_7dof_2arm",
    "open_manipulator_x",
    "g1",
    "so101",
    "so101_2arm",
]


@pytest.fixture
def make(load_robot):
    """Return a function that opens a follower."""
    opened = []

    def make(name="piper", **config):
        follower = MujocoFollower(
            MujocoConfig(**config), load_robot(name).info, ManualClock()
        )
        opened.append(follower)
        return follower, follower.open()

    yield make
    for follower in opened:
        follower.close("off")


def _is_arm(robot):
    grippers = {limb.gripper.joint for limb in robot.limbs if limb.gripper}
    return np.array([name not in grippers for name in robot.joint_names])


def _settle(follower, duration=0.5):
    for _ in range(int(duration * follower.config.rate)):
        follower.write(follower.robot.home)
    return follower.read()


class TestContract(FollowerContract):
    @pytest.fixture(autouse=True)
    def _load(self, load_robot):
        self.robot = load_robot("piper").info

    def make_follower(self, clock):
        return MujocoFollower(MujocoConfig(), self.robot, clock)


class TestContractWithTwoArms(FollowerContract):
    @pytest.fixture(autouse=True)
    def _load(self, load_robot):
        self.robot = load_robot("papras_7dof_2arm").info

    def make_follower(self, clock):
        return MujocoFollower(MujocoConfig(rate=200), self.robot, clock)


@pytest.mark.parametrize("name", ROBOTS)
def test_stands_at_home_without_droop(make, name):
    follower, _ = make(name, resolution=0.0)

    state = _settle(follower)

    assert state.q == pytest.approx(follower.robot.home, abs=1e-6)
    assert np.abs(state.dq).max() < 1e-5


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("rate", [200, 500, 1000])
def test_lag_is_short_and_as_stated(make, name, rate):
    follower, info = make(name, rate=float(rate))
    robot = follower.robot
    low, high = np.maximum(robot.q_min, -10), np.minimum(robot.q_max, 10)
    speed = 0.5 * np.where(robot.home < (low + high) / 2, 1, -1) * _is_arm(robot)

    for k in range(1, int(0.4 * rate) + 1):
        q_cmd = robot.home + speed * k / rate
        follower.write(q_cmd)

    lags = ((q_cmd - follower.read().q)[speed != 0]) / speed[speed != 0]
    assert info.lag <= 0.01
    assert lags == pytest.approx(np.full(len(lags), info.lag), abs=5e-4)


def test_measures_the_torque_that_carries_the_arm(make):
    carried, _ = make(payload=0.0)
    loaded, _ = make(payload=1.0)

    more = _settle(loaded).tau - _settle(carried).tau

    assert abs(_settle(carried).tau[1]) > 1.0
    assert np.abs(more[:6]).max() > 1.0


def test_without_gravcomp_it_droops_a_little(make):
    state = _settle(make(gravcomp=False)[0])

    assert 1e-5 < np.abs(state.q - make()[0].robot.home).max() < 5e-3


def test_block_is_where_it_can_be_seen(make):
    state = _settle(make()[0])

    assert state.objects[0][2] == pytest.approx(0.015, abs=1e-3)
    assert make(block=False)[0].read().objects is None


def test_two_runs_are_the_same_to_the_last_bit(make):
    def run(**config):
        follower, _ = make(payload=0.1, **config)
        for k in range(200):
            q_cmd = follower.robot.home + 0.05 * np.sin(k / 20) * np.eye(7)[2]
            follower.write(q_cmd)
        return follower.read().q

    randomised = RandomiseConfig(friction=0.2, load=0.05, seed=3)
    assert np.array_equal(run(), run())
    assert np.array_equal(run(randomise=randomised), run(randomise=randomised))
    other = RandomiseConfig(friction=0.2, load=0.05, seed=4)
    assert not np.array_equal(run(randomise=randomised), run(randomise=other))
    assert run() == pytest.approx(run(randomise=randomised), abs=1e-3)


@pytest.mark.parametrize(
    "q_cmd", [np.zeros(3), np.array([0, 0, np.nan, 0, 0, 0, 0]), np.full(7, np.inf)]
)
def test_malformed_command_never_reaches_mujoco(make, q_cmd):
    """MuJoCo would drive to zero."""
    follower, _ = make()
    before = follower.read()

    with pytest.raises(CommandError, match="7 finite positions"):
        follower.write(q_cmd)

    assert np.array_equal(follower.read().q, before.q)
    assert follower.read().sim_time == before.sim_time


def test_a_warning_of_mujoco_is_fatal_and_stays_so(make):
    follower, _ = make()

    with pytest.raises(DeviceError, match=r"broke down: BADCTRL 2× at 0\.0"):
        follower.write(np.full(7, 1e300))
    with pytest.raises(DeviceError, match="broke down"):
        follower.write(follower.robot.home)
    with pytest.raises(DeviceError, match="broke down"):
        follower.read()


def test_a_broken_state_is_no_silent_reset(make):
    follower, _ = make()
    _settle(follower, 0.1)
    follower._data.qvel[0] = np.nan

    with pytest.raises(DeviceError, match="broke down"):
        follower.write(follower.robot.home)


def test_no_urdf_is_a_device_error():
    follower = MujocoFollower(MujocoConfig(), make_robot_info(), ManualClock())

    with pytest.raises(DeviceError, match="env 'mujoco': nowhere.urdf: expected"):
        follower.open()


def test_closed_follower_says_so(make):
    follower, _ = make()
    follower.close("off")

    with pytest.raises(DeviceError, match="expected an open follower"):
        follower.write(follower.robot.home)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"rate": 300.0, "timestep": 0.001},
            "a period of whole time steps.*is 3.33333 steps of 0.001",
        ),
        ({"rate": 1000.0, "timestep": 0.002}, "is 0.5 steps of 0.002"),
        ({"rate": 2000.0}, "less than or equal to 1000"),
        ({"randomise": {"friction": 2.0}}, "less than or equal to 1"),
        ({"timestp": 0.001}, "timestp"),
    ],
)
def test_wrong_config_is_refused(values, message):
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(MujocoConfig).validate_json(json.dumps(values))


@pytest.mark.parametrize(
    ("rate", "n_steps"), [(1000.0, 1), (500.0, 2), (400.0, 2), (300.0, 3), (200.0, 4)]
)
def test_a_period_is_a_whole_number_of_steps(rate, n_steps):
    assert MujocoConfig(rate=rate).n_steps == n_steps


def _swing(follower, n):
    """Return states of a motion."""
    states = []
    for k in range(n):
        follower.write(follower.robot.home + 0.05 * np.sin(0.02 * k))
        states.append(follower.read())
    return states


def test_measured_values_have_the_steps_of_an_encoder(make):
    measured = _swing(make("piper")[0], 50)
    ideal = _swing(make("piper", resolution=0.0)[0], 50)

    step = 2.0**-18  # [rad] the power of two below the default
    steps = {"q": step, "dq": 256 * step, "tau": 1024 * step}
    for name, least in steps.items():
        told, true = (
            np.array([getattr(state, name) for state in states])
            for states in (measured, ideal)
        )
        assert (np.mod(told, least) == 0.0).all()
        assert np.abs(told - true).max() == pytest.approx(least / 2, rel=0.05)


def test_a_block_that_lies_is_told_as_still(make):
    follower, _ = make("piper")
    _settle(follower, 1.0)
    before = follower.read().objects

    poses = [follower.write(follower.robot.home) or follower.read().objects
             for _ in range(400)]  # fmt: skip

    assert len({pose.tobytes() for pose in [before, *poses]}) <= 2
    assert np.linalg.norm(before[0, 3:]) == pytest.approx(1.0, abs=1e-15)
