"""A kind of leader named in place of a rig: which of its rigs is meant."""

from __future__ import annotations

import pytest

from paprle.config import resolve
from paprle.contracts.errors import ConfigError

ROBOT = "urdf: urdf/arm.urdf\n"
ARGS = ("leader=autopilot", "follower=arm", "env=kinematic")


def write(root, **owners):
    """A workspace with two robots, and autopilots that belong to some."""
    files = {"follower/arm": ROBOT, "follower/crane": ROBOT}
    files |= {
        f"leader/{name}": f"type: autopilot\nbelongs_to: {list(robots)}\nspeed: 0.2\n"
        for name, robots in owners.items()
    }
    for name, text in files.items():
        path = root / f"configs/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_rig_that_belongs_to_the_follower_is_meant(tmp_path):
    root = write(tmp_path, small_rig=("arm", "lamp"), big_rig=("crane",))

    resolved = resolve(ARGS, root)

    assert resolved.leader_name == "small_rig"
    assert resolved.leader_type == "autopilot"
    assert resolved.leader.speed == 0.2


@pytest.mark.parametrize(
    ("owners", "got"),
    [
        ({"big_rig": ("crane",)}, "got none; name one: big_rig (of crane)"),
        (
            {"a_rig": ("arm",), "b_rig": ("arm",)},
            "got a_rig, b_rig; name one: a_rig (of arm); b_rig (of arm)",
        ),
    ],
)
def test_without_one_that_fits_those_there_are_get_listed(tmp_path, owners, got):
    with pytest.raises(ConfigError) as caught:
        resolve(ARGS, write(tmp_path, **owners))

    assert caught.value.problems == (
        f"leader: expected one 'autopilot' that belongs to 'arm', {got}",
    )


def test_a_rig_of_its_own_name_is_taken_as_it_is(tmp_path):
    root = write(tmp_path, autopilot=("crane",), small_rig=("arm",))

    assert resolve(ARGS, root).leader_name == "autopilot"
