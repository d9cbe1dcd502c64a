"""Limits, homes and velocities in degrees or millimetres are told before motion."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from small_arms import write_arm

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.hosts.plan import make_plan
from paprle.hosts.preflight import rehearse
from paprle.robot import RobotModel
from paprle_lab.onboarding.bare_urdf import provide_yaml
from paprle_lab.onboarding.new_robot import write_new_robot

DEGREES = {"lower": "-160", "upper": "160", "velocity": "114"}
CASES = {
    "all joints": ({0: DEGREES}, [f"j{k}" for k in range(1, 7)]),
    "one joint": ({5: {"lower": "-90", "upper": "90"}}, ["j5"]),
    "one side": ({2: {"lower": "0", "upper": "180"}}, ["j2"]),
    "a narrow joint": ({4: {"lower": "-15", "upper": "15"}}, ["j4"]),
}


def rehearse_with(yaml: Path) -> str:
    words = ("leader=autopilot", f"follower={yaml}", "env=kinematic")
    return rehearse(make_plan(resolve(list(words)))).told


@pytest.mark.parametrize("case", CASES)
def test_limits_in_degrees_are_read_as_such_and_told(case, tmp_path):
    joints, names = CASES[case]
    urdf = write_arm(tmp_path / "arm.urdf", joints)

    report = write_new_robot(urdf, tmp_path / "out", "arm")

    robot = RobotModel.from_yaml(report.path)
    assert np.abs(robot.home).max() <= math.pi
    assert np.abs([robot.q_min, robot.q_max]).max() <= math.pi
    assert robot.dq_max.max() < 2.0
    checks = [line for line in report.findings() if line.startswith("CHECK")]
    assert any(f"joint {', '.join(names)}: " in c and "degrees" in c for c in checks)
    assert "look like degrees" in report.path.read_text()
    assert "look like degrees" in rehearse_with(report.path)


def test_a_range_in_degrees_without_zero_is_refused(tmp_path):
    joints = {3: {"lower": "-170", "upper": "-20"}}
    urdf = write_arm(tmp_path / "arm.urdf", joints)

    with pytest.raises(ConfigError, match="j3: .* look like degrees, -2.967 … -0.3491"):
        write_new_robot(urdf, tmp_path / "out", "arm")


def test_a_bare_urdf_tells_its_doubts_at_every_start(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    urdf = write_arm(tmp_path / "arm.urdf", {5: {"lower": "-90", "upper": "90"}})

    first, second = provide_yaml(urdf), provide_yaml(urdf)

    assert first[0] == second[0]
    doubts = [line for line in first[1] if "CHECK" in line]
    assert second[1][:-1] == doubts
    assert any("degrees" in line for line in doubts)


def test_a_config_whose_urdf_is_in_degrees_is_told_with_what_to_set(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf", {2: {"lower": "0", "upper": "180"}})
    yaml = write_yaml(tmp_path, urdf)

    told = rehearse_with(yaml)

    assert "CHECK: mine: joint j2: the URDF's limits 0 … 180 rad" in told
    assert "0 … 3.142" in told
    assert "limits.q_max" in told


def test_a_home_beyond_one_turn_is_told(tmp_path):
    urdf = write_arm(
        tmp_path / "arm.urdf", {6: {"type": "continuous", "lower": "", "upper": ""}}
    )

    told = rehearse_with(write_yaml(tmp_path, urdf, "[0, 0.5, 0.5, 0, 0.5, 90]"))

    assert "CHECK: mine: joint j6: home is 90 rad, 14 turns" in told


@pytest.mark.parametrize(("velocity", "taken"), [("180", 144), ("45", 36), ("30", 24)])
def test_a_velocity_in_degrees_is_told(tmp_path, velocity, taken):
    urdf = write_arm(tmp_path / "arm.urdf", {3: {"velocity": velocity}})

    told = rehearse_with(write_yaml(tmp_path, urdf))

    assert f"CHECK: mine: joint j3: it may move at {taken} rad/s" in told


def test_an_origin_turned_by_degrees_is_told(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf")
    text = urdf.read_text()
    urdf.write_text(text.replace('xyz="0 0 0.15"', 'xyz="0 0 0.15" rpy="90 0 0"', 1))

    told = rehearse_with(write_yaml(tmp_path, urdf))

    line = "CHECK: mine: rpy of more than a turn, as in degrees: joint j1 90 0 0"
    assert line in told


def test_origins_in_centimetres_are_told(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf")
    urdf.write_text(urdf.read_text().replace('xyz="0 0 0.15"', 'xyz="0 0 15"'))

    told = rehearse_with(write_yaml(tmp_path, urdf))

    assert "are these millimetres or centimetres?" in told


def test_a_slide_in_millimetres_is_read_as_such(tmp_path):
    slide = {"type": "prismatic", "lower": "0", "upper": "400", "velocity": "250"}
    urdf = write_arm(tmp_path / "arm.urdf", {1: slide})

    report = write_new_robot(urdf, tmp_path / "out", "arm")

    robot = RobotModel.from_yaml(report.path)
    assert robot.q_max[0] == pytest.approx(0.4)
    assert any("millimetres" in line for line in report.findings())


def test_limits_that_limit_nothing_do_not_move_home(tmp_path):
    wide = {"lower": "-1e10", "upper": "1e10"}
    urdf = write_arm(tmp_path / "arm.urdf", {6: wide})

    report = write_new_robot(urdf, tmp_path / "out", "arm")

    assert np.abs(RobotModel.from_yaml(report.path).home).max() <= math.pi
    assert any("limit nothing" in line for line in report.findings())


@pytest.mark.parametrize("bound", ["6.2832", "7.94"])
def test_joints_of_more_than_a_turn_are_no_doubt(bound, tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf", {0: {"lower": f"-{bound}", "upper": bound}})

    assert RobotModel.from_urdf(urdf).list_doubts() == []


def write_yaml(folder: Path, urdf: Path, home: str = "[0, 0.5, 0.5, 0, 0.5, 0]"):
    path = folder / "mine.yaml"
    path.write_text(
        f"urdf: {urdf}\nlimbs:\n  arm:\n    base_link: link0\n    eef_link: link6\n"
        f"    home: {home}\nenvs:\n  kinematic: {{}}\n"
    )
    return path
