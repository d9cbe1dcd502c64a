"""What stands and lies around the robot is seen, by its name, where it is."""

import json

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.proximity import Near
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.settings.core import SceneBodySettings
from paprle.hosts.plan import make_robot
from paprle.hosts.views.scene_bodies import list_scene_bodies
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.drawing.proximity_colours import Nearness
from paprle.observers.view.drawing.surroundings import Surroundings, make_mesh
from paprle.observers.view.scene import Scene

HERE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
TABLE = SceneBody("table", "box", (1.2, 1.4, 0.04), (0.4, 0, -0.02, 0, 0, 0, 1.0))
BLOCK = SceneBody("block", "box", (0.03,) * 3, (0.3, 0, 0.015, 0, 0, 0, 1.0), True)


@pytest.fixture(scope="module")
def server():
    import viser  # noqa: PLC0415

    server = viser.ViserServer("127.0.0.1", 0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def around(server):
    return Surroundings(server, [TABLE, BLOCK], np.zeros(3))


def read_label(server, name):
    nodes = server.scene._handle_from_node_name
    return nodes[f"/around/{name}/name"].text


def test_a_standing_body_is_drawn_at_its_place_and_named(server, around):
    assert around._handles["table"].position == pytest.approx([0.4, 0, -0.02])
    shape, _ = around.shapes["table"][0]
    assert np.ptp(shape.vertices, axis=0) == pytest.approx(TABLE.size)
    assert read_label(server, "table") == "table"
    assert around.lowest == pytest.approx(-0.04)


def test_an_object_is_where_the_session_says_and_not_seen_when_it_is_not_there(around):
    row = np.array([0.1, 0.2, 0.3, 0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    around.show({"block": row})
    handle = around._handles["block"]
    assert handle.visible
    assert handle.position == pytest.approx(row[:3])
    assert handle.wxyz == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])

    around.show({})

    assert not handle.visible
    assert around._handles["table"].visible


def test_an_object_of_unknown_shape_is_axes_with_a_name(server, around):
    around.show({"cup": np.array(HERE)})

    assert around._handles["cup"].show_axes
    assert read_label(server, "cup") == "cup"


def test_a_body_of_the_scene_that_is_near_turns_colour(server, around):
    nearness = Nearness(server, around.shapes)
    shape, own = around.shapes["table"][0]

    nearness.show([Near(("hand", "table"), 0.01, 1.0, np.zeros((2, 3)))])
    assert tuple(shape.color) != own
    nearness.show([])

    assert tuple(shape.color) == own


@pytest.mark.parametrize(
    ("shape", "size", "wide"),
    [
        ("box", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
        ("sphere", (0.5,), (1.0, 1.0, 1.0)),
        ("cylinder", (0.5, 2.0), (1.0, 1.0, 2.0)),
        ("capsule", (0.5, 2.0), (1.0, 1.0, 3.0)),
    ],
)
def test_a_shape_is_as_large_as_the_scene_says_about_its_centre(shape, size, wide):
    low, high = make_mesh(SceneBody("one", shape, size, HERE)).bounds

    assert high - low == pytest.approx(wide, rel=0.02)
    assert high + low == pytest.approx([0.0, 0.0, 0.0], abs=0.02)


def test_a_ground_ends_at_its_own_plane():
    assert make_mesh(SceneBody("g", "ground", (), HERE)).bounds[1, 2] == 0.0


def test_the_scene_of_the_gate_and_the_world_of_the_env_are_both_there_once():
    turned = SceneBodySettings(
        shape="box", size=(1, 2, 3), xyz=(0.5, 0, 0), rpy=(0, 0, np.pi / 2)
    )
    world = json.loads(json.dumps([TABLE, BLOCK]))

    wall, *rest = list_scene_bodies({"wall": turned}, world)
    alone = list_scene_bodies({"table": turned}, world)

    half = np.sqrt(0.5)
    assert wall.pose == pytest.approx((0.5, 0, 0, 0, 0, half, half))
    assert rest == [TABLE, BLOCK]
    assert [body.name for body in alone] == ["table", "block"]


@pytest.mark.sim
@pytest.mark.long
def test_the_table_and_block_of_a_simulation_are_told_where_they_are():
    from paprle.followers.mujoco.config import MujocoConfig  # noqa: PLC0415
    from paprle.followers.mujoco.follower import MujocoFollower  # noqa: PLC0415
    from paprle.testing import ManualClock  # noqa: PLC0415

    words = ["leader=autopilot", "follower=piper", "env=mujoco"]
    robot = make_robot(resolve(words)).info
    follower = MujocoFollower(MujocoConfig(), robot, ManualClock())
    table, block = follower.open().bodies
    measured = follower.read().objects[0]
    follower.close("hold")

    assert (table.name, table.moves, block.moves) == ("table", False, True)
    assert block.pose == pytest.approx(tuple(measured), abs=1e-3)
    assert block.pose[2] - 0.5 * block.size[2] == pytest.approx(
        table.pose[2] + 0.5 * table.size[2], abs=1e-6
    )


def test_the_floor_of_the_picture_is_below_what_stands_on_it():
    robot = make_robot(resolve(["leader=web", "follower=piper", "env=kinematic"]))
    scene = Scene(robot.info, Robot(robot.info), None, 10, [TABLE])
    try:
        floor = scene.server.scene._handle_from_node_name["/floor"]
        assert floor.position[2] < -0.04
    finally:
        scene.close()
