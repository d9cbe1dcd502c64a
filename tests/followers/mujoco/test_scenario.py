"""The scenario: what is grasped, carried, let go, and laid again."""

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("mujoco")


from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.followers.mujoco.config import MujocoConfig, ScenarioConfig
from paprle.followers.mujoco.follower import MujocoFollower
from paprle.testing import ManualClock

pytestmark = pytest.mark.sim


HANDS = {  # the link that holds the block, and where in it the block lies, [m]
    "piper": ("gripper_base", (0.0, 0.0, 0.107)),
    "so101": ("tool", (0.0, 0.0, 0.016)),
}


@pytest.fixture
def make_world(load_robot):
    opened = []

    def make(robot="piper", **settings):
        config = MujocoConfig(
            rate=100,
            timestep=0.002,
            resolution=0.0,
            scenario=ScenarioConfig(**settings),
        )
        follower = MujocoFollower(config, load_robot(robot).info, ManualClock())
        follower.open()
        opened.append(follower)
        return World(follower, *HANDS[robot])

    yield make
    for follower in opened:
        follower.close()


class World:
    """A hand that goes where it is put, and the block where it is laid."""

    def __init__(self, follower, hand, place):
        self.hand, self.at = hand, np.array(place)
        self.follower, self.robot = follower, follower.robot
        self.sim, self.data = follower._sim, follower._data
        self.q = np.array(self.robot.home)
        self.links = LinkPoses(self.robot)
        self.begin = self.sim.objects["block"]
        self.grip = self.robot.joint_names.index(self.robot.limbs[0].gripper.joint)

    @property
    def scenario(self):
        return self.follower.scenario

    def place_hand(self):
        self.links.update(self.follower.read().q)
        return self.links.place(self.hand)

    def offer(self, aside=0.0):
        """Lay the block between the fingers, or beside them."""
        T = self.place_hand() * pin.SE3(np.eye(3), self.at + [0.0, aside, 0.0])
        x, y, z, w = pin.Quaternion(T.rotation).coeffs()
        self.data.qpos[self.begin : self.begin + 7] = *T.translation, w, x, y, z
        self.data.qvel[:] = 0.0

    def grip_to(self, opening, time=0.3):
        gripper = self.robot.limbs[0].gripper
        self.q[self.grip] = gripper.closed + opening * (gripper.open - gripper.closed)
        self.run(time)

    def run(self, time):
        for _ in range(round(time * 100)):
            self.follower.write(self.q)

    def grasp(self):
        """Close on the block, which hangs there while the fingers come."""
        for opening in np.linspace(1.0, 0.0, 85):
            if self.scenario.is_held:
                return
            self.offer()
            self.grip_to(opening, 0.01)

    def relate(self):
        block = pin.XYZQUATToSE3(self.follower.read().objects[0])
        return self.place_hand().inverse() * block


def test_an_object_between_closing_fingers_keeps_its_pose_until_they_open(
    make_world,
):
    world = make_world()
    world.grasp()
    assert world.scenario.is_held
    begin, stalled = world.relate(), world.follower.read().q[world.grip]

    world.grip_to(0.0)
    world.q[:3] += 0.1
    for _ in range(50):
        world.run(0.02)
        apart = begin.inverse() * world.relate()
        assert np.abs(apart.homogeneous - np.eye(4)).max() < 1e-9
    assert world.follower.read().q[world.grip] == pytest.approx(stalled, abs=2e-3)
    world.grip_to(1.0, 1.0)
    assert not world.scenario.is_held
    assert world.follower.read().objects[0, 2] < 0.02, "it fell"


def test_one_jaw_grasps_against_the_hand(make_world):
    world = make_world("so101")

    world.grasp()

    assert world.scenario.is_held
    world.grip_to(1.0, 1.0)
    assert not world.scenario.is_held


@pytest.mark.parametrize("case", ["opens", "one finger", "not graspable"])
def test_nothing_else_is_grasped(make_world, case):
    world = make_world(graspable=case != "not graspable")
    if case == "one finger":
        for _ in range(30):
            world.offer(aside=0.03)
            world.run(0.01)
    elif case == "opens":
        world.grip_to(0.45, 1.0)
        for opening in np.linspace(0.45, 1.0, 30):
            world.offer()
            world.grip_to(opening, 0.01)
    else:
        world.grasp()

    assert not world.scenario.is_held


def test_blocks_appear_within_bounds_beside_the_target_and_by_their_seed(make_world):
    world, again = make_world(seed=3), make_world(seed=3)
    c = ScenarioConfig()
    places = []
    for _ in range(200):
        block = world.follower.read().objects[0]
        places.append(block[:2].copy())
        assert np.array_equal(again.follower.read().objects[0], block)
        world.scenario._lay_block()
        again.scenario._lay_block()

    x, y = np.transpose(places)
    assert c.x[0] <= x.min() < x.max() <= c.x[1]
    assert c.y[0] <= y.min() < y.max() <= c.y[1]
    assert (np.abs(places - np.array(c.target)).max(axis=1) > 0.045 + 0.015).all()
    assert len(np.unique(x)) == 200


def test_a_block_that_lies_on_the_target_is_counted_once_and_another_is_laid(
    make_world,
):
    world = make_world()
    target = world.follower.read().objects[1]
    world.data.qpos[world.begin : world.begin + 2] = target[:2]

    world.run(0.2)
    assert world.scenario.n_placed == 0, "it may only pass"
    world.run(0.3)

    block = world.follower.read().objects[0]
    assert world.scenario.n_placed == 1
    assert np.linalg.norm(block[:2] - target[:2]) > 0.045
    assert world.follower.take_warnings() == ["scenario: block 1 is placed"]
    world.run(0.5)
    assert world.scenario.n_placed == 1
    world.follower.close()
    assert world.follower.closing_notes == ("scenario: 1 placed, 0 lost",)


def test_a_block_that_falls_is_lost_and_there_is_another(make_world):
    world = make_world()
    world.data.qpos[world.begin + 2] = -1.0

    world.run(0.02)

    assert world.scenario.n_lost == 1
    assert world.follower.read().objects[0, 2] == pytest.approx(0.015, abs=2e-3)


def test_a_scenario_without_block_or_room_is_refused(make_world):
    with pytest.raises(ValueError, match="block=true"):
        MujocoConfig(block=False, scenario=ScenarioConfig())
    with pytest.raises(Exception, match="expected room beside the target"):
        make_world(x=(0.24, 0.26), y=(-0.15, -0.13))
