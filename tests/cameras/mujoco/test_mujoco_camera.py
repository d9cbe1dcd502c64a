"""A camera that draws the robot where the gate says that it is."""

import numpy as np
import pytest

from paprle.contracts.errors import DeviceError
from paprle.contracts.images import RobotPose
from paprle.contracts.settings.camera import PoseSettings
from paprle.testing import CameraContract, ManualClock

pytest.importorskip("mujoco")
pytestmark = pytest.mark.sim

from lock_step import PIPER  # noqa: E402 - needs no MuJoCo, but its tests do

from paprle.cameras.mujoco.camera import MujocoCamera  # noqa: E402
from paprle.cameras.mujoco.config import MujocoCameraConfig  # noqa: E402

WIDTH, HEIGHT = 160, 120
BLOCK = np.array([0.35, 0.1, 0.015, 0.0, 0.0, 0.0, 1.0])
# a metre above the table, looking straight down: x of the image is −y of the world
ABOVE = PoseSettings(xyz=(0.35, 0.0, 1.0), rpy_xyz_extrinsic=(np.pi, 0.0, -np.pi / 2))
ENV = {"table": True, "block": True}


class Robot:
    """Where it is told to be."""

    def __init__(self, clock, q=None, block=BLOCK):
        self.clock = clock
        self.q = PIPER.info.home if q is None else q
        self.block, self.age_ns = block, 1_000_000
        self.is_known = True
        self.look = self.tell

    def tell(self):
        if not self.is_known:
            return None
        there = {} if self.block is None else {"block": self.block}
        return RobotPose(self.clock() - self.age_ns, self.q, there)


def make(clock, robot, env=ENV, **fields):
    fields = {"width": WIDTH, "height": HEIGHT, "T_link_camera": ABOVE} | fields
    camera = MujocoCamera(MujocoCameraConfig(**fields), clock)
    camera.watch(PIPER.info, env, lambda: robot.look())  # noqa: PLW0108 - tests change it
    return camera


@pytest.fixture(scope="module")
def clock():
    return ManualClock()


@pytest.fixture(scope="module")
def robot(clock):
    return Robot(clock)


@pytest.fixture(scope="module")
def camera(clock, robot):
    """Return one open camera for all tests: to make one takes a while."""
    camera = make(clock, robot, depth=True)
    camera.open()
    yield camera
    camera.close()


@pytest.fixture
def draw(clock, robot, camera):
    """Draw one image of the robot; afterwards it is as it was."""

    def draw_one(**changes):
        vars(robot).update(changes)
        clock.advance(0.1)
        return camera.info, camera.grab(0.05)

    yield draw_one
    robot.__init__(clock)


def draw_anew(clock, **fields):
    camera = make(clock, Robot(clock), **fields)
    camera.open()
    clock.advance(0.1)
    frame = camera.grab(0.5)
    camera.close()
    return camera.info, frame


def to_image(info, frame):
    return np.frombuffer(frame.data, np.uint8).reshape(info.height, info.width, 3)


def find_red(image):
    """Return the middle of what is as red as the block, x and y, [px]."""
    red = image.astype(int)
    rows, columns = np.nonzero(red[:, :, 0] > red[:, :, 1:].max(axis=2) + 60)
    assert len(rows) > 4, "the block is in the picture"
    return np.array([columns.mean(), rows.mean()])


def project(info, p_world):
    T_world_cam = info.T_link_cam
    x, y, z = T_world_cam.inverse().act(np.asarray(p_world))
    return (info.K @ [x / z, y / z, 1.0])[:2], z


def test_a_known_point_is_where_the_calibration_says(draw):
    info, frame = draw()

    expected, _ = project(info, BLOCK[:3])

    assert np.abs(find_red(to_image(info, frame)) - expected).max() < 1.5


def test_objects_move_in_the_picture_as_they_are_told(draw):
    moved = BLOCK + [0.05, -0.2, 0, 0, 0, 0, 0]
    info, frame = draw(block=moved)

    expected, _ = project(info, moved[:3])

    assert np.abs(find_red(to_image(info, frame)) - expected).max() < 1.5


def test_an_object_that_is_not_there_is_not_drawn(draw):
    info, frame = draw(block=None)

    with pytest.raises(AssertionError, match="in the picture"):
        find_red(to_image(info, frame))


def test_the_robot_is_drawn_as_it_stands(draw):
    turned = np.array(PIPER.info.home) + np.eye(7)[0] * 1.2

    _, home = draw()
    _, other = draw(q=turned)

    assert (
        np.mean(
            np.frombuffer(home.data, np.uint8) != np.frombuffer(other.data, np.uint8)
        )
        > 0.02
    )


def test_depth_is_the_distance_along_the_view(draw):
    info, frame = draw()
    depth = np.frombuffer(frame.depth, "<u2").reshape(HEIGHT, WIDTH)
    (x, y), z = project(info, [*BLOCK[:2], 0.03])  # the block's upper side

    assert info.depth_unit * depth[round(y), round(x)] == pytest.approx(z, abs=1e-3)


def test_a_camera_on_a_link_moves_with_it(clock):
    """It looks along the hand: that turns with the last joint, and the picture too."""
    ahead = PoseSettings(xyz=(0.0, 0.0, 0.2))
    robot = Robot(clock)
    camera = make(clock, robot, link="gripper_base", T_link_camera=ahead)
    camera.open()
    images = []
    for angle in (0.0, 1.0):
        robot.q = np.array(PIPER.info.home) + np.eye(7)[5] * angle
        clock.advance(0.1)
        images.append(camera.grab(0.1).data)
    camera.close()

    assert images[0] != images[1]


def test_the_stamp_is_that_of_what_is_drawn(draw, clock):
    _, frame = draw(age_ns=7_000_000)

    assert frame.stamp_ns == clock() - 7_000_000


def test_nothing_is_drawn_twice(draw):
    _, first = draw()

    _, again = draw(look=lambda: RobotPose(first.stamp_ns, PIPER.info.home, {}))

    assert again is None


@pytest.mark.parametrize(
    "change",
    [{"is_known": False}, {"q": np.full(7, np.nan)}],
    ids=["no status", "no joints"],
)
def test_a_robot_is_not_drawn_while_nobody_knows_where_it_is(draw, change):
    assert draw(**change)[1] is None


def test_a_link_that_there_is_not_is_refused_by_name(clock):
    with pytest.raises(DeviceError, match=r"got 'hand'; it has: .*gripper_base"):
        make(clock, Robot(clock), link="hand").open()


def test_without_a_session_there_is_nothing_to_draw(clock):
    with pytest.raises(DeviceError, match="a session whose robot"):
        MujocoCamera(MujocoCameraConfig(), clock).open()


def test_the_pinhole_model_follows_from_the_angle_of_view(clock):
    info = make(clock, Robot(clock), fovy=90.0).info

    assert info.K[1, 1] == pytest.approx(HEIGHT / 2)
    assert info.K[0, 2] == (WIDTH - 1) / 2


def test_the_first_link_is_the_world(clock):
    info, frame = draw_anew(clock, link="base_link")

    expected, _ = project(info, BLOCK[:3])
    assert np.abs(find_red(to_image(info, frame)) - expected).max() < 1.5


class TestMujocoCamera(CameraContract):
    def make_camera(self, clock):
        return make(clock, Robot(clock))

    def unplug(self, camera):
        camera.watch(PIPER.info, ENV, lambda: None)
