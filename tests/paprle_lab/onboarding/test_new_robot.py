from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from omegaconf import OmegaConf
from public_robots import PUBLIC, SHARED
from pydantic import TypeAdapter
from shared_data import require

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import RobotSettings
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel
from paprle_lab.onboarding import new_robot
from paprle_lab.onboarding.new_robot import write_new_robot

# a robot of fine meshes takes a minute, and several where nightly tests run beside it
pytestmark = pytest.mark.timeout(600)
ROBOTS = [
    pytest.param(
        PUBLIC / "panda_description/urdf/panda.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "kinova_description/robots/kinova.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "ur_description/urdf/ur10_robot.urdf",
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        PUBLIC / "tiago_description/robots/tiago_dual.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "talos_data/robots/talos_full_v2.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "baxter_description/urdf/baxter.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "xarm_description/urdf/xarm7.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "so_arm_description/urdf/so101.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(
        PUBLIC / "anymal_b_simple_description/robots/anymal-kinova.urdf",
        marks=pytest.mark.nightly,
    ),
    PUBLIC / "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    SHARED / "urdf/piper.urdf",
    SHARED / "urdf/g1_29dof.urdf",
    SHARED / "urdf/papras_7dof_2arm_table.urdf",
]


@pytest.fixture(scope="module")
def describe(tmp_path_factory):
    """Return a function that writes the robot of a URDF, once for all tests."""

    @cache
    def write(urdf: Path):
        require(urdf, "pip install example-robot-data, or make data")
        return write_new_robot(urdf, tmp_path_factory.mktemp(urdf.stem), "new")

    return write


def load(path: Path) -> RobotModel:
    raw = OmegaConf.to_container(OmegaConf.load(path))
    settings = TypeAdapter(RobotSettings).validate_json(json.dumps(raw))
    return RobotModel.from_settings(settings, path.stem, WORKSPACE)


@pytest.mark.long
@pytest.mark.parametrize("urdf", ROBOTS, ids=lambda path: path.stem)
def test_the_written_robot_loads_and_has_a_safe_home(urdf, describe) -> None:
    report = describe(urdf)

    robot = load(report.path)
    assert robot.joint_names == report.joint_names
    assert robot.find_collision(robot.home) is None
    assert np.all(np.isfinite(robot.dq_max) & (robot.dq_max > 0))
    assert report.limbs
    for limb in report.limbs:
        assert limb.jacobian_error < 1e-6
    text = report.path.read_text()
    assert text.count("# CHECK") >= len(robot.limbs)


@pytest.mark.long
@pytest.mark.parametrize("urdf", ROBOTS[:3], ids=lambda path: path.stem)
def test_an_arm_can_move_around_the_home_it_is_given(urdf, describe) -> None:
    report = describe(urdf)

    assert [limb.reach.n for limb in report.limbs] == [6]


HUMANOIDS = [
    PUBLIC / "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    pytest.param(
        PUBLIC / "talos_data/robots/talos_full_v2.urdf", marks=pytest.mark.nightly
    ),
    pytest.param(PUBLIC / "pr2_description/urdf/pr2.urdf", marks=pytest.mark.nightly),
]


def list_mesh_contacts(urdf: Path, positions: dict[str, float]) -> set[frozenset[str]]:
    """Return links whose own meshes touch: pinocchio's reading, and none of ours."""
    model = pin.buildModelFromUrdf(str(urdf))
    folders = [str(folder) for folder in urdf.parents]
    shapes = pin.buildGeomFromUrdf(
        model, str(urdf), pin.COLLISION, package_dirs=folders
    )
    shapes.addAllCollisionPairs()
    data, results = model.createData(), pin.GeometryData(shapes)
    q = pin.neutral(model)
    for name, position in positions.items():
        joint = model.joints[model.getJointId(name)]
        ends = [np.cos(position), np.sin(position)] if joint.nq == 2 else [position]
        q[joint.idx_q : joint.idx_q + joint.nq] = ends
    pin.computeCollisions(model, data, shapes, results, q, False)
    found = set()
    for pair, result in zip(
        shapes.collisionPairs, results.collisionResults, strict=True
    ):
        one, two = (shapes.geometryObjects[k] for k in (pair.first, pair.second))
        joints = one.parentJoint, two.parentJoint
        is_near = joints[0] == joints[1] or any(
            model.parents[a] == b for a, b in (joints, joints[::-1])
        )
        if result.isCollision() and not is_near:
            names = (model.frames[shape.parentFrame].name for shape in (one, two))
            found.add(frozenset(names))
    return found


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("urdf", HUMANOIDS, ids=lambda path: path.stem)
def test_nothing_touches_at_home_and_no_pair_is_dropped_for_touching_there(
    urdf, describe
) -> None:
    """G1's right arm was sent into its torso, and nothing kept the two apart."""
    report = describe(urdf)

    robot = load(report.path)
    home = dict(zip(robot.joint_names, robot.home.tolist(), strict=True))
    at_home = list_mesh_contacts(urdf, home)
    assert at_home <= list_mesh_contacts(urdf, dict.fromkeys(home, 0.0)), at_home
    assert robot.find_collisions(robot.home) == []
    assert "at home" not in report.path.read_text()


CLAW = """<robot name="claw">
  <link name="base"/>
  <link name="upper"><collision><origin xyz="0 0 0.6"/>
    <geometry><box size="0.1 0.4 0.02"/></geometry></collision></link>
  <link name="fore"/>
  <link name="finger"><collision>
    <geometry><sphere radius="0.03"/></geometry></collision></link>
  <joint name="pan" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-0.1" upper="0.1" velocity="1"/></joint>
  <joint name="finger_joint" type="prismatic"><parent link="fore"/>
    <child link="finger"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.1" velocity="1"/></joint>
</robot>"""


def test_a_robot_that_touches_in_every_home_is_refused_with_its_links(
    tmp_path: Path,
) -> None:
    urdf, out = tmp_path / "claw.urdf", tmp_path / "out"
    urdf.write_text(CLAW)

    with pytest.raises(ConfigError, match="upper and finger.*--ignore upper,finger"):
        write_new_robot(urdf, out)

    assert not list(out.iterdir())


def test_pairs_are_dropped_by_name_alone(tmp_path: Path) -> None:
    urdf = tmp_path / "claw.urdf"
    urdf.write_text(CLAW)

    report = write_new_robot(urdf, tmp_path / "out", ignored=(("upper", "finger"),))

    assert "upper and finger are ignored, as told" in report.doubts
    assert "told to be ignored by --ignore" in report.path.read_text()
    assert load(report.path).n_collision_pairs == 0


ODD = """<robot name="Odd Robot!">
  <link name="no"/><link name="b: c"/><link name="d"/>
  <joint name="y" type="revolute"><parent link="no"/><child link="b: c"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>
  <joint name="# 'j'" type="prismatic"><parent link="b: c"/><child link="d"/>
    <limit lower="-1" upper="1" velocity="1000"/></joint>
</robot>"""


def test_odd_names_and_missing_limits_survive_the_way_through_yaml(
    tmp_path: Path,
) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD)

    report = write_new_robot(urdf, tmp_path)

    robot = load(tmp_path / "odd_robot.yaml")
    assert robot.joint_names == ("y", "# 'j'")
    np.testing.assert_allclose(robot.dq_max, [1.0, 0.1])
    assert "CHECK: limits.dq_max.y: the URDF states no limit" in "\n".join(
        report.lines()
    )
    assert "the URDF's 1000 is no limit" in report.path.read_text()


def test_new_robot_never_overwrites(tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD)
    (tmp_path / "mine.yaml").write_text("precious")

    with pytest.raises(ConfigError, match="exists already"):
        write_new_robot(urdf, tmp_path, "mine")

    assert (tmp_path / "mine.yaml").read_text() == "precious"


SIDES = (
    """<robot name="two"><link name="base"/>
  <link name="lift"/><joint name="lift" type="prismatic"><parent link="base"/>
    <child link="lift"/><axis xyz="0 0 1"/><limit lower="0" upper="1" velocity="4"/>
  </joint>"""
    + "".join(
        f"""<link name="{side}_{k}"/><joint name="{side}_j{k}" type="revolute">
    <parent link="{"lift" if k == 0 else f"{side}_{k - 1}"}"/><child link="{side}_{k}"/>
    <origin xyz="0.1 {y if k == 0 else 0} 0.1"/><axis xyz="0 {k % 2} {1 - k % 2}"/>
    <limit lower="-2" upper="2" velocity="{30 - 28 * k}"/></joint>"""
        for side, y in (("left", 0.2), ("right", -0.2))
        for k in range(2)
    )
    + "</robot>"
)


def test_joints_that_could_not_stop_in_time_are_slowed_and_slides_have_bounds(
    tmp_path: Path,
) -> None:
    urdf = tmp_path / "two.urdf"
    urdf.write_text(SIDES)

    report = write_new_robot(urdf, tmp_path / "out")

    robot = load(report.path)
    joints = dict(
        zip(
            robot.joint_names,
            zip(robot.dq_max, robot.ddq_max, strict=True),
            strict=True,
        )
    )
    assert joints["lift"] == (0.5, 1.0)
    assert joints["left_j0"] == (2.5, 5.0)
    assert joints["left_j1"] == (1.6, 5.0)
    told = "\n".join(report.lines())
    assert "CHECK: limits.dq_max.left_j0, right_j0: from the URDF's 30" in told
    assert "CHECK: in no limb, so they hold still: lift" in told


HALVES = "".join(
    f"""<collision><origin xyz="0.1 {y} 0.2"/>
      <geometry><box size="0.5 0.3 0.1"/></geometry></collision>"""
    for y in (0.05, 0.35)
)
"""Two halves of a plate, one of which a left hand always touches, wherever it is."""
HAND = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    """Two arms, the left of which ends inside of a plate."""
    text = SIDES.replace('<link name="lift"/>', f'<link name="lift">{HALVES}</link>')
    text = text.replace('<link name="left_1"/>', f'<link name="left_1">{HAND}</link>')
    (tmp_path / "plate.urdf").write_text(text)
    return tmp_path / "plate.urdf"


def test_overlapping_links_that_hold_still_are_ignored_and_reported(
    plate: Path,
) -> None:
    report = write_new_robot(plate, plate.parent / "out", wanted=("right_arm",))

    robot = load(report.path)
    assert robot.find_collisions(robot.home) == []
    told = "\n".join(report.lines())
    assert "overlap, so they are ignored: lift and left_1; do" in told
    assert "# CHECK: no limb moves one against the other" in report.path.read_text()


def test_overlapping_links_that_move_are_refused(plate: Path) -> None:
    with pytest.raises(ConfigError, match="--ignore lift,left_1"):
        write_new_robot(plate, plate.parent / "out")


def test_only_the_limbs_that_are_wanted_move(tmp_path: Path) -> None:
    urdf = tmp_path / "two.urdf"
    urdf.write_text(SIDES)

    report = write_new_robot(urdf, tmp_path / "out", wanted=("right_arm",))

    assert [limb.name for limb in report.limbs] == ["right_arm"]
    assert set(load(report.path).limbs) == {"right_arm"}
    assert "hold still: lift, left_j0, left_j1" in "\n".join(report.lines())
    with pytest.raises(ConfigError, match="got 'tail'; it has left_arm, right_arm"):
        write_new_robot(urdf, tmp_path / "other", wanted=("tail",))


@pytest.mark.parametrize("name", ["", "../..", "///"])
def test_a_name_cannot_leave_the_folder(name: str, tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD)

    with pytest.raises(ConfigError, match="expected letters or digits"):
        write_new_robot(urdf, tmp_path, name)


def test_a_wrong_urdf_leaves_no_file_behind(tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD.replace('upper="1"', 'upper="-2"'))

    with pytest.raises(ConfigError, match="lower < upper"):
        write_new_robot(urdf, tmp_path / "out")

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_broken_check_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD)

    def interrupt(*_args: object) -> None:
        raise error

    monkeypatch.setattr(new_robot, "_check", interrupt)
    with pytest.raises(error):
        write_new_robot(urdf, tmp_path / "out")

    assert not list((tmp_path / "out").iterdir())
