from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import (
    GateSettings,
    GripperSettings,
    LimbSettings,
    RobotSettings,
    SceneBodySettings,
)
from paprle.contracts.types import Vec
from paprle.robot import RobotModel
from paprle.robot.arrays import Bodies, Pairs, ReachTable, place_joints
from paprle.robot.bodies.arrays import make_bodies, place_bodies
from paprle.robot.bodies.distance import measure_pair

URDF = """<robot name="r">
<link name="base"><collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision>
</link>
<link name="upper"><collision><origin xyz="0.3 0 0.1" rpy="0 1.5708 0"/><geometry>
<cylinder radius="0.05" length="0.4"/></geometry></collision></link>
<link name="lower"><collision><origin xyz="0.2 0 0" rpy="0 1.5708 0"/><geometry>
<capsule radius="0.04" length="0.3"/></geometry></collision></link>
<link name="hand"><collision><origin xyz="0.1 0 0"/><geometry>
<box size="0.1 0.04 0.06"/></geometry></collision></link>
<link name="left"><collision><origin xyz="0.05 0 0"/><geometry>
<box size="0.1 0.01 0.02"/></geometry></collision></link>
<link name="right"><collision><origin xyz="0.05 0 0"/><geometry>
<sphere radius="0.01"/></geometry></collision></link>
{joints}</robot>"""


def joint(
    name: str, kind: str, parent: str, child: str, xyz: str, axis: str, rest: str = ""
) -> str:
    limits = "-1.5 2.5" if kind == "revolute" else "0 0.04"
    lower, upper = limits.split()
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}" rpy="0.2 0 0.1"/>'
        f'<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" velocity="1" '
        f'effort="1"/>{rest}</joint>'
    )


JOINTS = (
    joint("j1", "revolute", "base", "upper", "0 0 0.1", "0 0 1")
    + joint("j2", "revolute", "upper", "lower", "0.6 0 0.1", "0 1 0")
    + joint("j3", "revolute", "lower", "hand", "0.4 0 0", "0 1 0")
    + joint("f1", "prismatic", "hand", "left", "0.15 0 0", "0 1 0")
    + joint(
        "f2",
        "prismatic",
        "hand",
        "right",
        "0.15 0 0",
        "0 -1 0",
        '<mimic joint="f1" multiplier="2.0" offset="0.001"/>',
    )
)
SCENE = {
    "floor": SceneBodySettings(shape="ground", xyz=(0.0, 0.0, -0.4)),
    "desk": SceneBodySettings(
        shape="box", size=(0.5, 0.9, 0.1), xyz=(0.9, 0.1, -0.3), rpy=(0.1, 0.0, 0.3)
    ),
}


@pytest.fixture
def robot(tmp_path: Path) -> RobotModel:
    return make_robot(tmp_path)


def make_robot(folder: Path, scene: dict | None = None, **keys: object) -> RobotModel:
    (folder / "r.urdf").write_text(URDF.format(joints=JOINTS))
    arm = LimbSettings(
        base_link="base",
        eef_link="hand",
        home=(0.1, 0.2, 0.3),
        gripper=GripperSettings(joint="f1", closed=0.0, open=0.04),
    )
    limbs = {"arm": arm}
    settings = RobotSettings(urdf="r.urdf", limbs=limbs, **keys)  # type: ignore[arg-type]
    return RobotModel.from_settings(settings, "r", folder, scene)


def measure(robot: RobotModel, bodies: Bodies, pairs: Pairs, q: Vec) -> Vec:
    m, nb = len(robot.tree.parent), len(bodies.kind)
    R, p = np.zeros((m, 3, 3)), np.zeros((m, 3))
    R_body, p_body, out = np.zeros((nb, 3, 3)), np.zeros((nb, 3)), np.zeros(9)
    place_joints(robot.tree, q, R, p)
    place_bodies(bodies, R, p, R_body, p_body)
    return np.array(
        [
            measure_pair(bodies, a, b, R_body, p_body, out)
            for a, b in zip(pairs.a, pairs.b, strict=True)
        ]
    )


def spread(reach: ReachTable, n: int) -> Vec:
    """Return the bounds as a table, shape (n, k)."""
    table = np.zeros((n, len(reach.starts) - 1))
    pair = np.repeat(np.arange(table.shape[1]), np.diff(reach.starts))
    table[reach.column, pair] = reach.rate
    return table


def sample(robot: RobotModel, n: int, seed: int) -> Vec:
    rng = np.random.default_rng(seed)
    return rng.uniform(robot.q_min, robot.q_max, (n, len(robot.joint_names)))


def test_pairs_and_distances_are_those_of_the_collision_model(
    robot: RobotModel,
) -> None:
    bodies, pairs, names = make_bodies(robot, GateSettings(scene=SCENE))
    model = robot.make_collision_model(SCENE)

    assert list(names) == model.pairs
    assert ("base", "floor") not in names
    assert {("hand", "floor"), ("hand", "desk"), ("base", "lower")} <= set(names)
    for q in sample(robot, 30, seed=1):
        expected = model.clearances(q)
        found = measure(robot, bodies, pairs, q)
        apart = np.maximum(found, expected) > 1e-5
        assert found[apart] == pytest.approx(expected[apart], abs=5e-6)
        assert (expected[~apart] <= 1e-5).all()


def test_reach_bounds_how_fast_distances_change(robot: RobotModel) -> None:
    bodies, pairs, _ = make_bodies(robot, GateSettings(scene=SCENE))
    rng = np.random.default_rng(2)

    for q in sample(robot, 150, seed=3):
        step = rng.normal(size=len(q)) * rng.choice([0.003, 0.1, 1.0])
        other = np.clip(q + step * (rng.random(len(q)) < 0.5), robot.q_min, robot.q_max)
        before = measure(robot, bodies, pairs, q)
        after = measure(robot, bodies, pairs, other)
        apart = (before > 0.0) & (after > 0.0)
        most = np.abs(other - q) @ spread(pairs.reach, len(q))
        assert (np.abs(after - before)[apart] <= most[apart] + 1e-7).all()


def test_reach_is_zero_for_joints_that_do_not_matter_and_tight_for_those_that_do(
    robot: RobotModel,
) -> None:
    _, pairs, names = make_bodies(robot, GateSettings(scene=SCENE))
    reach = dict(zip(names, spread(pairs.reach, 4).T, strict=True))

    assert reach["upper", "hand"][0] == 0.0
    assert reach["base", "lower"][[2, 3]] == pytest.approx(0.0)
    # The mimicking finger slides twice as fast as the joint it follows.
    assert reach["right", "floor"][3] == pytest.approx(2.0)
    assert reach["left", "floor"][3] == pytest.approx(1.0)
    # The base's corner is nearer to the axis of j1 than the lower arm can get.
    assert reach["base", "lower"][0] == pytest.approx(math.hypot(0.15, 0.1), abs=0.03)


def test_a_pair_that_is_near_at_home_keeps_less(tmp_path: Path) -> None:
    robot = make_robot(tmp_path)
    model = robot.make_collision_model(SCENE)
    at_home = dict(zip(model.pairs, model.clearances(robot.home), strict=True))

    _, pairs, names = make_bodies(
        robot, GateSettings(scene=SCENE, clearance_self=0.1, clearance_scene=0.5)
    )

    for pair, keep in zip(names, pairs.keep, strict=True):
        asked = 0.5 if set(pair) & set(SCENE) else 0.1
        assert keep == pytest.approx(min(asked, max(0.9 * at_home[pair], 0.0)))
    assert (pairs.keep < 0.5).any()


def test_slow_moves_see_the_scene(tmp_path: Path) -> None:
    wall = {"wall": SceneBodySettings(shape="sphere", size=(0.1,), xyz=(0.5, 0.0, 0.2))}

    assert make_robot(tmp_path).find_collision(np.zeros(4)) is None
    hit = make_robot(tmp_path, wall).find_collision(np.zeros(4))
    assert hit is not None
    assert hit[1] == "wall"


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (
            {"desk": SceneBodySettings(shape="box", size=(0.1, 0.2))},
            r"gate.scene.desk.size: expected \[x, y, z\] of a box, all above 0 \[m\], "
            r"got \[0.1, 0.2\]",
        ),
        (
            {"ball": SceneBodySettings(shape="sphere", size=(-0.1,))},
            r"gate.scene.ball.size: expected \[radius\] of a sphere",
        ),
        (
            {"floor": SceneBodySettings(shape="ground", size=(1.0,))},
            "gate.scene.floor.size: expected no size, for a ground has none",
        ),
        (
            {"hand": SceneBodySettings(shape="ground")},
            "gate.scene.hand: expected a name that no link has, got 'hand'",
        ),
    ],
)
def test_mistakes_in_a_scene_are_told(
    tmp_path: Path, scene: dict[str, SceneBodySettings], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_robot(tmp_path, scene)


def test_a_slide_that_nothing_bounds_is_refused(tmp_path: Path) -> None:
    body = "<collision><geometry><sphere radius='0.02'/></geometry></collision>"
    (tmp_path / "r.urdf").write_text(
        f"""<robot name='r'><link name='base'>{body}</link><link name='mid'/>
        <link name='wheel'/><link name='rack'>{body}</link>
        <joint name='j' type='revolute'><parent link='base'/><child link='mid'/>
          <limit lower='-1' upper='1' velocity='1'/></joint>
        <joint name='w' type='continuous'><parent link='mid'/><child link='wheel'/>
          <limit velocity='1'/></joint>
        <joint name='s' type='prismatic'><parent link='mid'/><child link='rack'/>
          <limit lower='0' upper='1' velocity='1'/><mimic joint='w'/></joint>
        </robot>"""
    )
    robot = RobotModel.from_urdf(tmp_path / "r.urdf")

    with pytest.raises(ConfigError, match="have unbounded reach: a prismatic joint"):
        make_bodies(robot, GateSettings())


def test_omitted_pairs_have_a_reason(tmp_path: Path) -> None:
    robot = make_robot(tmp_path, ignore_collisions=(("base", "hand"),))
    left_out = robot.make_collision_model(SCENE).left_out

    assert left_out["base", "upper"] == "joined by one joint"
    assert left_out["base", "hand"] == "told to be ignored"
    assert left_out["base", "floor"] == "one rigid part"
    assert left_out["left", "right"] == "fingers of one gripper"
