"""Infrared, perfect depth and segmentation of the same place (X26)."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.images import RobotPose
from paprle.contracts.settings.camera import PoseSettings
from paprle.testing import CameraContract, ManualClock

pytest.importorskip("mujoco")
pytestmark = pytest.mark.sim

from lock_step import PIPER  # noqa: E402 - needs no MuJoCo, but its tests do

from paprle.cameras.mujoco.camera import MujocoCamera  # noqa: E402
from paprle.cameras.mujoco.config import MujocoCameraConfig  # noqa: E402
from paprle.cameras.mujoco.segments import WORLD, name_segments  # noqa: E402

WIDTH, HEIGHT = 160, 120
SIDE = 0.03  # [m] of the block
BLOCK = np.array([0.35, 0.1, SIDE / 2, 0.0, 0.0, 0.0, 1.0])
SCENARIO = "env.scenario={target: [0.4, -0.1], x: [0.3, 0.4], y: [0.0, 0.1]}"
ENV = resolve(["leader=autopilot", "follower=piper", "env=mujoco", SCENARIO]).to_dict()[
    "env"
]
# half a metre before the table, looking back and down at it
ASLANT = PoseSettings(xyz=(0.9, 0.1, 0.5), rpy_xyz_extrinsic=(-2.3, 0.0, np.pi / 2))


def make(clock, q=None, block=BLOCK, env=ENV, robot=PIPER.info, **fields):
    fields = {"width": WIDTH, "height": HEIGHT, "T_link_camera": ASLANT} | fields
    camera = MujocoCamera(MujocoCameraConfig(**fields), clock)
    q = robot.home if q is None else q
    objects = {"block": block}
    camera.watch(robot, env, lambda: RobotPose(clock() - 1, q, objects))
    return camera


def draw(**changes):
    clock = ManualClock()
    camera = make(clock, **changes)
    camera.open()
    clock.advance(0.1)
    frame = camera.grab(0.5)
    camera.close()
    return camera.info, frame


def draw_ids(**changes):
    _, frame = draw(picture="segmentation", **changes)
    return np.frombuffer(frame.data, "<u2").reshape(HEIGHT, WIDTH)


def cast(info):
    """Return where the camera is and where each pixel looks, for z of 1, in world."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    pixels = np.stack([columns, rows, np.ones_like(rows)], axis=-1)
    T = info.T_link_cam
    return T.translation, pixels @ np.linalg.inv(info.K).T @ T.rotation.T


def test_depth_of_table_and_block_is_the_analytic_one_at_each_pixel():
    info, frame = draw(depth=True)
    z = np.frombuffer(frame.depth, "<u2").reshape(HEIGHT, WIDTH) * info.depth_unit
    ids = draw_ids()
    centre, rays = cast(info)

    z_table = -centre[2] / rays[:, :, 2]  # its top is at 0
    z_block = (SIDE - centre[2]) / rays[:, :, 2]
    at = centre + z_block[:, :, None] * rays
    is_top = (np.abs(at[:, :, :2] - BLOCK[:2]) < 0.49 * SIDE).all(axis=-1)
    is_top &= ids == WORLD["block"]

    assert (ids == WORLD["table"]).sum() > 2000
    assert is_top.sum() > 8
    assert np.abs(z - z_table)[ids == WORLD["table"]].max() < 1e-3
    assert np.abs(z - z_block)[is_top].max() < 1e-3


def test_depth_is_in_whole_millimetres_of_sixteen_bits_and_zero_where_it_is_not_known():
    up = PoseSettings(xyz=(0.9, 0.1, 0.5), rpy_xyz_extrinsic=(0.0, 0.0, 0.0))
    info, sky = draw(depth=True, T_link_camera=up)

    assert info.depth_unit == 0.001
    assert len(sky.depth) == 2 * WIDTH * HEIGHT
    assert not any(sky.depth)


def test_each_pixel_says_what_stands_there():
    info, _ = draw()
    ids = draw_ids()
    centre, rays = cast(info)
    at = centre - centre[2] / rays[:, :, 2:] * rays  # on the table

    def is_around(x, y, half):
        return (np.abs(at[:, :, :2] - [x, y]) < half).all(axis=-1)

    assert (ids[is_around(0.4, -0.1, 0.035)] == WORLD["target"]).mean() > 0.9
    assert WORLD["block"] in ids[is_around(0.35, 0.1, 0.01)]
    assert (ids[is_around(0.5, 0.3, 0.05)] == WORLD["table"]).all()
    assert (ids[0] != WORLD["table"]).all()


def test_the_scenarios_block_is_blue_and_its_target_red():
    _, frame = draw()
    image = np.frombuffer(frame.data, np.uint8).reshape(HEIGHT, WIDTH, 3).astype(int)
    ids = draw_ids()

    red, _, blue = np.median(image[ids == WORLD["block"]], axis=0)
    assert blue > red + 50
    red, _, blue = np.median(image[ids == WORLD["target"]], axis=0)
    assert red > blue + 50


def test_a_link_has_its_number_wherever_it_is():
    names = name_segments(PIPER.info.urdf_path.read_text())
    numbers = {name: number for number, name in names.items()}
    turned = np.array(PIPER.info.home) + np.eye(7)[0] * 0.5

    home, away = draw_ids(), draw_ids(q=turned)

    hand = home == numbers["gripper_base"], away == numbers["gripper_base"]
    assert min(one.sum() for one in hand) > 10
    assert (hand[0] != hand[1]).any()
    assert {names[i] for i in np.unique(home) if i} >= {
        "base_link",
        "link2",
        "gripper_base",
    }


def test_numbers_are_the_same_in_each_process_and_beside_other_things():
    first, again = draw_ids(), draw_ids(fine=True)
    bare = draw_ids(env={"table": True, "block": True})

    np.testing.assert_array_equal(first, again)
    is_other = first != bare
    assert (first[is_other] == WORLD["target"]).all()
    assert (bare[is_other] == WORLD["table"]).all()


def test_a_robots_own_table_is_one_of_its_links():
    papras = resolve(["leader=autopilot", "follower=papras_7dof_2arm", "env=kinematic"])
    from paprle.hosts.plan import make_robot  # noqa: PLC0415 - takes its time

    robot = make_robot(papras).info
    names = name_segments(robot.urdf_path.read_text())
    own = next(
        number for number, name in names.items() if name == "table" and number > 2
    )

    assert own in draw_ids(robot=robot, env={"table": True})


def test_infrared_has_one_channel_and_two_eyes_see_how_far_things_are():
    """A D435's eyes are 50 mm apart: what is z away is f · b / z to the left."""
    above = (0.35, 0.1, 0.6)
    left = PoseSettings(xyz=above, rpy_xyz_extrinsic=(np.pi, 0.0, 0.0))
    right = PoseSettings(
        xyz=(above[0] + 0.05, *above[1:]), rpy_xyz_extrinsic=(np.pi, 0, 0)
    )
    columns = []
    for place in (left, right):
        info, frame = draw(picture="infrared", T_link_camera=place)
        assert info.encoding == "mono8"
        grey = np.frombuffer(frame.data, np.uint8).reshape(HEIGHT, WIDTH)
        ids = draw_ids(T_link_camera=place)
        block, table = ids == WORLD["block"], ids == WORLD["table"]
        assert np.median(grey[table]) - np.median(grey[block]) > 20  # wood is lighter
        columns.append(np.nonzero(block)[1].mean())

    disparity = info.K[0, 0] * 0.05 / (above[2] - SIDE)
    assert columns[0] - columns[1] == pytest.approx(disparity, abs=0.5)


def test_depth_beside_a_segmentation_is_another_cameras():
    with pytest.raises(ConfigError, match="a second camera for depth"):
        resolve([
            "leader=autopilot", "follower=piper", "env=mujoco",
            "cameras.front.type=mujoco", "cameras.front.picture=segmentation",
            "cameras.front.depth=true",
        ])  # fmt: skip


class TestSegmentation(CameraContract):
    def make_camera(self, clock):
        return make(clock, picture="segmentation")

    def unplug(self, camera):
        camera.watch(PIPER.info, ENV, lambda: None)
