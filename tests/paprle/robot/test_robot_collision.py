from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from public_robots import PUBLIC
from shared_data import require

from paprle.contracts.settings.core import GripperSettings, LimbSettings, RobotSettings
from paprle.robot import RobotModel


def link(name: str, shape: str = "", xyz: str = "0 0 0") -> str:
    if not shape:
        return f'<link name="{name}"/>'
    return (
        f'<link name="{name}"><collision><origin xyz="{xyz}"/><geometry>{shape}'
        "</geometry></collision></link>"
    )


def joint(name: str, parent: str, child: str, xyz: str, rest: str = "") -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>'
        f'<limit lower="-3" upper="3" velocity="1" effort="1"/>{rest}</joint>'
    )


BALL = '<sphere radius="0.1"/>'
# A chain of three links of 1 m along x, a ball at the beginning and at the end.
CHAIN = (
    link("base", BALL)
    + link("upper")
    + link("lower")
    + link("tip", BALL, xyz="1 0 0")
    + joint("j1", "base", "upper", "0 0 0")
    + joint("j2", "upper", "lower", "1 0 0")
    + joint("j3", "lower", "tip", "1 0 0")
)
TRIANGLE = np.array([0.0, 2 * math.pi / 3, 2 * math.pi / 3])


def make(folder: Path, body: str, **keys: object) -> RobotModel:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{body}</robot>')
    keys.setdefault("limbs", {"arm": LimbSettings(base_link="base", eef_link="tip")})
    return RobotModel.from_settings(
        RobotSettings(urdf="robot.urdf", **keys),  # type: ignore[arg-type]
        "r",
        folder,
    )


def test_tells_which_links_touch(tmp_path: Path) -> None:
    robot = make(tmp_path, CHAIN)

    assert robot.find_collision(np.zeros(3)) is None
    assert robot.find_collision(TRIANGLE) == ("base", "tip")
    assert robot.find_collisions(TRIANGLE) == [("base", "tip")]


def test_clearance_is_the_distance_between_surfaces(tmp_path: Path) -> None:
    robot = make(tmp_path, CHAIN)

    assert robot.min_clearance(np.zeros(3)) == pytest.approx(3.0 - 0.2)
    assert robot.min_clearance(TRIANGLE) < 0.0


def test_a_path_is_checked_to_its_first_touch(tmp_path: Path) -> None:
    robot = make(tmp_path, CHAIN)
    path = [s * TRIANGLE for s in np.linspace(0.0, 1.0, 101)]

    hit = robot.check_path(path)

    assert hit is not None
    assert hit[1] == ("base", "tip")
    assert robot.find_collision(path[hit[0] - 1]) is None
    assert robot.check_path(path[: hit[0]]) is None


@pytest.mark.parametrize("pair", [("base", "tip"), ("tip", "base")])
def test_pairs_are_ignored_in_either_order(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    robot = make(tmp_path, CHAIN, ignore_collisions=(pair,))

    assert robot.n_collision_pairs == 0
    assert robot.find_collision(TRIANGLE) is None
    assert robot.min_clearance(TRIANGLE) == math.inf


@pytest.mark.parametrize(
    "shape",
    [
        '<box size="0.2 0.2 0.2"/>',
        '<cylinder radius="0.1" length="0.2"/>',
        '<capsule radius="0.1" length="0.2"/>',
    ],
)
def test_every_primitive_collides(tmp_path: Path, shape: str) -> None:
    robot = make(tmp_path, CHAIN.replace(BALL, shape))

    assert robot.find_collision(np.zeros(3)) is None
    assert robot.find_collision(TRIANGLE) == ("base", "tip")


FLANGE = (
    '<joint name="{0}" type="fixed"><parent link="{1}"/><child link="{0}"/></joint>'
)


@pytest.mark.parametrize("home, n_pairs", [(0.0, 0), (1.5, 1)])
def test_bodies_fixed_to_neighbours_may_touch_at_their_joint(
    tmp_path: Path, home: float, n_pairs: int
) -> None:
    # two balls beside a joint: fixed to its links, they touch at 0 and not at 1.5
    body = (
        link("base")
        + link("foot", BALL, xyz="0.9 0 0")
        + link("upper")
        + link("lower")
        + link("tip", BALL, xyz="1.05 0 0")
        + FLANGE.format("foot", "base")
        + joint("j1", "base", "upper", "0 0 0")
        + FLANGE.format("lower", "upper")
        + FLANGE.format("tip", "lower")
    )
    arm = LimbSettings(base_link="base", eef_link="tip", home=(home,))

    robot = make(tmp_path, body, limbs={"arm": arm})

    assert robot.n_collision_pairs == n_pairs
    model = robot.make_collision_model({})
    assert model.left_out.get(("foot", "tip")) == (
        "touch at home, one joint between" if n_pairs == 0 else None
    )


def test_bodies_two_joints_apart_that_touch_at_home_are_checked(
    tmp_path: Path,
) -> None:
    far = link("base", BALL, xyz="3.1 0 0")  # touches the tip of a stretched arm only

    robot = make(tmp_path, CHAIN.replace(link("base", BALL), far))

    assert robot.find_collision(np.zeros(3)) == ("base", "tip")


def test_neighbours_and_lasting_overlaps_are_not_checked(tmp_path: Path) -> None:
    wide = '<sphere radius="1.5"/>'
    body = CHAIN.replace(link("lower"), link("lower", wide))

    robot = make(tmp_path, body)  # lower always overlaps base and neighbours tip

    assert robot.find_collision(np.zeros(3)) is None
    assert robot.n_collision_pairs == 1


def test_a_gripper_may_close_on_itself(tmp_path: Path) -> None:
    fingers = (
        link("left", BALL)
        + link("right", BALL)
        + joint("open", "tip", "left", "0 0.2 0").replace("revolute", "prismatic")
        + joint(
            "copy", "tip", "right", "0 -0.2 0", '<mimic joint="open" multiplier="-1"/>'
        ).replace("revolute", "prismatic")
    )
    gripper = GripperSettings(joint="open", closed=-0.2, open=0.0)
    limbs = {"arm": LimbSettings(base_link="base", eef_link="tip", gripper=gripper)}

    robot = make(
        tmp_path,
        CHAIN + fingers,
        limbs=limbs,
    )

    pairs = robot._collisions().pairs
    assert ("left", "right") not in pairs
    assert ("base", "left") in pairs


def test_copied_joints_carry_their_bodies_along(tmp_path: Path) -> None:
    body = CHAIN.replace(
        joint("j3", "lower", "tip", "1 0 0"),
        joint("j3", "lower", "tip", "1 0 0", '<mimic joint="j2"/>'),
    )

    robot = make(tmp_path, body)

    assert robot.joint_names == ("j1", "j2")
    assert robot.find_collision(TRIANGLE[:2].copy()) == ("base", "tip")


def test_a_robot_of_meshes_says_so_and_has_no_bodies(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    robot = make(tmp_path, CHAIN.replace(BALL, '<mesh filename="none.stl"/>'))

    assert robot.find_collision(TRIANGLE) is None
    assert robot.find_collision(TRIANGLE) is None
    assert robot.min_clearance(TRIANGLE) == math.inf
    assert caplog.text.count("self-collision is not checked") == 1


def test_links_with_meshes_alone_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mesh = link("lower", '<mesh filename="none.stl"/>')

    make(tmp_path, CHAIN.replace(link("lower"), mesh)).min_clearance(np.zeros(3))

    assert "not checked, for lower" in caplog.text


@pytest.mark.long
def test_touch_and_clearance_agree_on_a_public_robot() -> None:
    path = require(PUBLIC / "baxter_description/urdf/baxter.urdf")
    robot = RobotModel.from_urdf(path)
    qs = np.random.default_rng(0).uniform(robot.q_min, robot.q_max, (100, 17))

    for q in qs:
        clearance = robot.min_clearance(q)
        if abs(clearance) > 1e-6:
            assert (robot.find_collision(q) is not None) == (clearance < 0.0)


def test_the_tightest_of_many_pairs_is_looked_for_briefly(tmp_path, monkeypatch):
    """It is looked for beside a tick: humanoids with hands took 0.1 s each time."""
    places = [f"0 {0.02 * i} {0.02 * k}" for i in range(8) for k in range(9)]
    names = [f"b{k}" for k in range(len(places))]
    balls = [link(name, '<sphere radius="0.005"/>') for name in names]
    joints = [
        joint(f"j{name}", "tip", name, at).replace('"revolute"', '"prismatic"')
        for name, at in zip(names, places, strict=True)
    ]
    robot = make(tmp_path, CHAIN + "".join(balls + joints))
    model = robot.make_collision_model({})
    n_measured, measure = [], pin.computeDistance
    monkeypatch.setattr(
        pin, "computeDistance", lambda *args: n_measured.append(1) or measure(*args)
    )
    kept = model.find_kept(0.01, 0.02)

    tightest = model.find_tightest(robot.home, robot.home, kept)

    spare = model.clearances(robot.home) - kept
    assert spare[tightest] == pytest.approx(spare.min())
    assert len(model.pairs) > 2500
    assert len(n_measured) <= 4000
