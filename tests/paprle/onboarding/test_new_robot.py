from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf
from public_robots import PUBLIC, SHARED
from pydantic import TypeAdapter

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings import RobotSettings
from paprle.ipc.process import WORKSPACE
from paprle.onboarding import new_robot
from paprle.onboarding.new_robot import write_new_robot
from paprle.robot import RobotModel

ROBOTS = [
    PUBLIC / "panda_description/urdf/panda.urdf",
    PUBLIC / "kinova_description/robots/kinova.urdf",
    PUBLIC / "ur_description/urdf/ur10_robot.urdf",
    PUBLIC / "tiago_description/robots/tiago_dual.urdf",
    PUBLIC / "talos_data/robots/talos_full_v2.urdf",
    PUBLIC / "baxter_description/urdf/baxter.urdf",
    PUBLIC / "xarm_description/urdf/xarm7.urdf",
    PUBLIC / "so_arm_description/urdf/so101.urdf",
    PUBLIC / "anymal_b_simple_description/robots/anymal-kinova.urdf",
    PUBLIC / "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    SHARED / "piper.urdf",
    SHARED / "g1_29dof.urdf",
    SHARED / "papras_7dof_2arm_table.urdf",
]


def load(path: Path) -> RobotModel:
    raw = OmegaConf.to_container(OmegaConf.load(path))
    settings = TypeAdapter(RobotSettings).validate_json(json.dumps(raw))
    return RobotModel.from_settings(settings, path.stem, WORKSPACE)


@pytest.mark.long
@pytest.mark.parametrize("urdf", ROBOTS, ids=lambda path: path.stem)
def test_what_it_writes_loads_and_is_safe_to_start_from(
    urdf: Path, tmp_path: Path
) -> None:
    if not urdf.is_file():
        pytest.skip(f"{urdf} is not here")

    report = write_new_robot(urdf, tmp_path, "new")

    robot = load(tmp_path / "new.yaml")
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
def test_an_arm_can_move_around_the_home_it_is_given(
    urdf: Path, tmp_path: Path
) -> None:
    if not urdf.is_file():
        pytest.skip(f"{urdf} is not here")

    report = write_new_robot(urdf, tmp_path)

    assert [limb.n_reachable for limb in report.limbs] == [6]


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


def test_it_never_overwrites(tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(ODD)
    (tmp_path / "mine.yaml").write_text("precious")

    with pytest.raises(ConfigError, match="exists already"):
        write_new_robot(urdf, tmp_path, "mine")

    assert (tmp_path / "mine.yaml").read_text() == "precious"


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
def test_whatever_breaks_the_check_leaves_no_file_behind(
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
