"""Where YAMLs are: the workspace, the site, folders and files of the user's own."""

from __future__ import annotations

import os

import pytest

from paprle.config import known_names, resolve
from paprle.config.folders import VARIABLE, find_folders
from paprle.contracts.errors import ConfigError

ARGS = ("leader=autopilot", "env=kinematic")
ROBOT = "urdf: arm.urdf\n"


def write(path, text=ROBOT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_follower_may_be_the_path_of_its_yaml(tmp_path, monkeypatch):
    write(tmp_path / "lab/my-arm.yaml")
    monkeypatch.chdir(tmp_path / "lab")

    resolved = resolve((*ARGS, "follower=./my-arm.yaml"))

    assert resolved.follower_name == "my-arm"
    assert resolved.sources["follower.urdf"] == str(tmp_path / "lab/my-arm.yaml")


def test_paths_in_a_yaml_elsewhere_are_relative_to_it(tmp_path):
    path = write(tmp_path / "lab/arm.yaml")

    resolved = resolve((*ARGS, f"follower={path}"))

    assert resolved.robot.urdf == str(tmp_path / "lab/arm.urdf")


def test_a_yaml_named_by_its_path_stands_alone(tmp_path):
    path = write(tmp_path / "piper.yaml")

    resolved = resolve((*ARGS, f"follower={path}"))

    assert resolved.robot.limbs is None


@pytest.mark.parametrize(
    ("name", "got"),
    [("none.yaml", "none there"), ("arm.urdf", "'.urdf'")],
)
def test_a_path_that_is_no_yaml_is_refused_once(tmp_path, name, got):
    write(tmp_path / "arm.urdf")

    with pytest.raises(ConfigError) as caught:
        resolve((*ARGS, f"follower={tmp_path}/{name}"))

    (problem,) = caught.value.problems
    assert problem.startswith("follower: expected a YAML file at ")
    assert problem.endswith(f"got {got}")


def test_a_leader_and_an_env_may_be_paths_too(tmp_path):
    leader = write(tmp_path / "slow.yaml", "type: autopilot\nspeed: 0.01\n")
    env = write(tmp_path / "sluggish.yaml", "type: kinematic\ndead_time: 0.02\n")

    resolved = resolve(("follower=piper", f"leader={leader}", f"env={env}"))

    assert resolved.leader.speed == 0.01
    assert resolved.env.dead_time == 0.02
    assert (resolved.leader_name, resolved.env_name) == ("slow", "sluggish")


def test_folders_of_the_variable_are_searched_and_the_first_one_wins(
    tmp_path, monkeypatch
):
    for name, speed in (("first", 0.01), ("second", 0.02)):
        write(tmp_path / name / "leader/slow.yaml", f"type: autopilot\nspeed: {speed}")
    write(tmp_path / "second/follower/arm.yaml")
    write(tmp_path / "second/session.yaml", "session: {rate: 100}\n")
    folders = [str(tmp_path / "first"), str(tmp_path / "second")]
    monkeypatch.setenv(VARIABLE, os.pathsep.join(folders))

    resolved = resolve(("leader=slow", "follower=arm", "env=kinematic"))

    assert "arm" in known_names("follower")
    assert resolved.leader.speed == 0.01
    assert resolved.session.rate == 100.0
    assert resolved.robot.urdf == str(tmp_path / "second/follower/arm.urdf")


def test_folders_of_the_variable_win_over_the_site(tmp_path, monkeypatch):
    write(tmp_path / "root/configs/site/leader/slow.yaml", "type: autopilot\nspeed: 1")
    write(tmp_path / "root/configs/follower/arm.yaml")
    write(tmp_path / "mine/leader/slow.yaml", "speed: 0.02")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))

    args = ("leader=slow", "follower=arm", "env=kinematic")
    resolved = resolve(args, tmp_path / "root")

    assert resolved.leader.speed == 0.02
    assert resolved.robot.urdf == str(tmp_path / "root/arm.urdf")


def test_folders_that_are_not_there_hold_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, f"{tmp_path / 'nowhere'}{os.pathsep}")

    assert len(find_folders().folders) == 3
    assert "piper" in known_names("follower")
