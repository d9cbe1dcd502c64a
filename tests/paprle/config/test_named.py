"""Sections in which the user names plug-ins: ``advisors`` and ``cameras``."""

import json

import pytest

from paprle.config import Resolved, resolve
from paprle.config.explain import explain
from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError
from paprle.ipc.process import WORKSPACE

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")
TAGS = ("advisors.tags.type=markers", "advisors.tags.poses=cell.yaml")
FRONT = ("cameras.front.type=pictures", "cameras.front.folder=taken")


def test_there_are_none_unless_they_are_named():
    resolved = resolve(TRIPLE)

    assert list_named(resolved.advisors) == {}
    assert list_named(resolved.cameras) == {}


def test_a_name_of_the_user_stands_for_a_plug_in_with_its_keys():
    resolved = resolve((*TRIPLE, *TAGS, "advisors.tags.rate=5", *FRONT))

    tags = list_named(resolved.advisors)["tags"]
    assert (tags.type, tags.rate, tags.size) == ("markers", 5.0, 0.05)
    assert list_named(resolved.cameras)["front"].fps == 30.0


def test_the_type_is_the_name_when_it_is_not_given():
    resolved = resolve((*TRIPLE, "advisors.markers.poses=cell.yaml"))

    assert list_named(resolved.advisors)["markers"].type == "markers"


def test_two_of_one_plug_in_have_settings_of_their_own():
    words = [word.replace("tags", "more") for word in TAGS]
    resolved = resolve((*TRIPLE, *TAGS, *words, "advisors.more.rate=1"))

    rates = {k: v.rate for k, v in list_named(resolved.advisors).items()}
    assert rates == {"tags": 10.0, "more": 1.0}


def test_null_switches_one_off():
    resolved = resolve((*TRIPLE, *TAGS, "advisors.tags=null"))

    assert list_named(resolved.advisors) == {}


def test_paths_are_those_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    resolved = resolve((*TRIPLE, *TAGS), WORKSPACE)

    assert list_named(resolved.advisors)["tags"].poses == str(tmp_path / "cell.yaml")


def test_they_cross_to_another_process_as_they_are():
    resolved = resolve((*TRIPLE, *TAGS, *FRONT))

    again = Resolved.from_dict(json.loads(json.dumps(resolved.to_dict())))

    assert again == resolved


def test_each_key_is_explained():
    text = explain(resolve((*TRIPLE, *TAGS)))

    assert "type: markers" in text
    assert "Edge of the black square" in text


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("advisors.tags.type=makers", "advisors.tags.type: .*did you mean 'markers'"),
        ("advisors.tags.sise=1", "did you mean 'size'"),
        ("advisors.tags.rate=0", "expected a number > 0"),
        ("advisors.Tags.type=markers", "expected a name of small letters"),
        ("advisors.class.type=markers", "expected a name of small letters"),
        ("cameras.x.type=markers", "camera 'markers': unknown name"),
        ("advisors=3", "advisors: unknown key"),
    ],
)
def test_mistakes_are_told_as_anywhere_else(word, message):
    with pytest.raises(ConfigError, match=message):
        resolve((*TRIPLE, *TAGS, word))


CELL = """
urdf: {urdf}
cameras:
  wrist: {{type: pictures, folder: taken, fps: 12.0, link: gripper_base}}
"""


@pytest.fixture
def cell(tmp_path):
    """Write the YAML of a robot that carries a camera."""
    path = tmp_path / "cell.yaml"
    path.write_text(CELL.format(urdf=WORKSPACE / "urdf/piper/robot.urdf"))
    return ("leader=autopilot", f"follower={path}", "env=kinematic")


def test_a_robots_yaml_names_its_cameras(cell, tmp_path):
    wrist = list_named(resolve(cell).cameras)["wrist"]

    assert (wrist.type, wrist.fps, wrist.link) == ("pictures", 12.0, "gripper_base")
    assert wrist.folder == str(tmp_path / "taken"), "relative to the YAML"


def test_the_command_line_changes_and_leaves_out_a_robots_camera(cell):
    changed = resolve((*cell, "cameras.wrist.fps=5"))
    without = resolve((*cell, "cameras.wrist=null"))

    assert list_named(changed.cameras)["wrist"].fps == 5.0
    assert list_named(without.cameras) == {}


def test_a_mistake_in_a_robots_camera_names_its_file(cell, tmp_path):
    path = tmp_path / "cell.yaml"
    path.write_text(path.read_text().replace("fps: 12.0", "fpz: 12.0"))

    with pytest.raises(ConfigError, match=r"cameras.wrist.fpz: .*cell\.yaml"):
        resolve(cell)
