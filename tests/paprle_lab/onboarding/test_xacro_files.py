from __future__ import annotations

from importlib.util import find_spec

import pytest

from paprle.cli import main
from paprle.contracts.errors import ConfigError
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.xacro_files import provide_urdf

IS_THERE = find_spec("xacro") is not None
ARM = """\
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="reach" value="0.2"/>
  <xacro:macro name="segment" params="k">
    <joint name="j${k}" type="revolute">
      <parent link="l${k - 1}"/><child link="l${k}"/>
      <origin xyz="0 0 ${reach}"/><axis xyz="0 1 0"/>
      <limit lower="${radians(-90)}" upper="${radians(90)}" velocity="1"/>
    </joint>
    <link name="l${k}">
      <visual><geometry><mesh filename="part.stl"/></geometry></visual>
    </link>
  </xacro:macro>
  <link name="l0"/><xacro:segment k="1"/><xacro:segment k="2"/>
</robot>
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    (tmp_path / "part.stl").write_bytes(b"")
    return path


def test_a_urdf_is_taken_as_it_is(tmp_path):
    path = tmp_path / "arm.urdf"

    assert provide_urdf(path, tmp_path / "out") == path
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not IS_THERE, reason="needs the package xacro")
def test_xacro_is_expanded_and_meshes_are_found(arm, tmp_path):
    urdf = provide_urdf(arm, tmp_path / "out")

    joints = read_urdf(urdf).joints
    assert [joint.name for joint in joints] == ["j1", "j2"]
    assert joints[0].upper == pytest.approx(1.5708, abs=1e-4)
    assert f"file://{tmp_path}/part.stl" in urdf.read_text()
    assert provide_urdf(arm, tmp_path / "out") == urdf


@pytest.mark.skipif(not IS_THERE, reason="needs the package xacro")
def test_xacro_that_does_not_expand_is_refused(arm, tmp_path):
    arm.write_text(ARM.replace("radians(", "radianz("))

    with pytest.raises(ConfigError, match="radianz"):
        provide_urdf(arm, tmp_path / "out")


@pytest.mark.skipif(IS_THERE, reason="the package xacro is installed")
@pytest.mark.parametrize(
    "words",
    [
        ("run", "leader=autopilot", "follower={}", "env=kinematic", "--dry-run"),
        ("new-robot", "{}", "--out", "{}.out"),
    ],
)
def test_without_the_package_a_message_says_what_to_run(words, arm, capsys):
    assert main([word.format(arm) for word in words]) != 0

    told = capsys.readouterr().err
    assert "pip install xacro" in told
    assert "xacro arm.urdf.xacro > arm.urdf" in told


def test_a_xacro_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.xacro: expected a xacro file"):
        provide_urdf(tmp_path / "none.xacro", tmp_path)
