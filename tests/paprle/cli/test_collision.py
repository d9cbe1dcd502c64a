from __future__ import annotations

import json

import pytest

from paprle.cli import main

FLOOR = "gate.scene={floor: {shape: ground, xyz: [0.0, 0.0, -0.1]}}"


def test_pairs_stand_nearest_first_with_what_is_kept_and_why_others_are_not(capsys):
    code = main(["collision", "follower=piper", "gate.clearance_self=0.1"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == "piper at home: 34 pairs of links are kept apart; nearest first"
    assert lines[2].split()[:4] == ["48.0", "mm", "43.2", "mm"]
    assert "link4 – link6  (of 100.0 mm asked: 90 % of home)" in lines[2]
    assert "  told to be ignored: link5 – gripper_base" in lines


def test_a_scene_and_a_configuration_that_are_too_near_fail(capsys):
    words = ["collision", "follower=piper", FLOOR, "--json", "--q", "joint2=3.1"]
    code = main(words)

    found = json.loads(capsys.readouterr().out)
    assert code == 1
    assert found["q"]["joint2"] == 3.1
    assert found["pairs"][0]["b"] == "floor"
    assert found["pairs"][0]["clearance"] < found["pairs"][0]["keep"] == 0.02
    assert {"a": "link5", "b": "gripper_base", "why": "told to be ignored"} in found[
        "left_out"
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--q", "elbow=1"], "--q: expected joints of piper (joint1, joint2"),
        (["--q", "joint1=far"], "--q: expected a number for 'joint1', got 'far'"),
        (["gate.scene={x: {shape: cone}}"], "gate.scene.x.shape: expected"),
        (["gate.scene={x: {shape: box}}"], "gate.scene.x.size: expected [x, y, z]"),
    ],
)
def test_mistakes_are_told(capsys, words, message):
    assert main(["collision", "follower=piper", *words]) == 2
    assert message in capsys.readouterr().err


def test_help_teaches_how_to_leave_pairs_out_and_to_add_a_scene(capsys):
    with pytest.raises(SystemExit):
        main(["collision", "--help"])

    shown = capsys.readouterr().out
    assert "ignore_collisions:" in shown
    assert "scene:" in shown
