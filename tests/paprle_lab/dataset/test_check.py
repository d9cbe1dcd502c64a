"""What spoils training is found, and nothing else."""

import json

import numpy as np
import pytest
from filmed import write_episode

pytest.importorskip("av")

from paprle.cli import main
from paprle_lab.dataset.check import check, find_delay

pytestmark = pytest.mark.long


def find(folder, **what):
    write_episode(folder, **what)
    return check([folder])


def kinds(findings):
    return [one.kind for one in findings]


def test_a_sound_recording_is_left_alone(tmp_path):
    assert find(tmp_path, seconds=1.5) == []


@pytest.mark.parametrize(
    ("what", "kind", "word"),
    [
        ({"freeze": 15}, "frozen", "camera front"),
        ({"skip": range(12, 30)}, "gap", "front: "),
        ({"gap": (0.4, 1.0)}, "gap", "measured: "),
        ({"task": ""}, "unlabelled", "no task"),
        ({"outcome": ""}, "unlabelled", "neither success nor failure"),
        ({"seconds": 0.5}, "short", "s in which all sources tell"),
        ({"discard": True}, "left out", "discarded"),
        ({"scale": 40.0}, "jump", "turn"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else None,
)
def test_a_fault_is_found_and_named(tmp_path, what, kind, word):
    found = find(tmp_path, **{"seconds": 2.0, **what})

    assert kind in kinds(found)
    assert any(word in one.text for one in found if one.kind == kind)


def test_a_robot_that_did_not_follow_is_found(tmp_path):
    path = write_episode(tmp_path, 2.0).with_suffix(".json")
    manifest = json.loads(path.read_text())
    cause = {"cause": "joint 4 at its limit", "farthest": 0.0, "turned": 2.0}
    manifest["short"] = [{**cause, "seconds": 0.8 * manifest["duration"]}]
    path.write_text(json.dumps(manifest))

    found = check([tmp_path])

    assert kinds(found) == ["unfollowed"]
    assert "joint 4 at its limit" in found[0].text


def test_a_motion_that_is_there_twice_is_found(tmp_path):
    write_episode(tmp_path, 1.5)
    write_episode(tmp_path, 1.5, scale=1.001)
    write_episode(tmp_path, 1.5, scale=0.5)

    found = check([tmp_path])

    assert kinds(found) == ["copy"]
    assert "episode_000000.mcap" in found[0].text
    assert found[0].path.name == "episode_000001.mcap"


@pytest.mark.parametrize("late", [0.0, 200.0])
def test_images_that_are_older_than_their_stamps_are_found(tmp_path, late):
    found = find(tmp_path, seconds=4.0, wave=True, late=late)

    told = [one.text for one in found if one.kind == "drift"]
    assert len(told) == (1 if late else 0)
    assert all("200 ms after" in text for text in told)


def test_a_camera_that_dies_is_told(tmp_path):
    found = find(tmp_path, seconds=3.0, skip=range(40, 100))

    assert any("'front' had ended" in one.text for one in found)


def test_a_camera_that_comes_late_is_told_by_how_much():
    rng = np.random.default_rng(1)
    speed = np.abs(np.convolve(rng.normal(size=300), np.ones(9), "same"))
    seen = np.roll(speed, 6) + 0.05 * rng.normal(size=300)

    assert find_delay(speed, seen, 15) == 6
    assert find_delay(seen, speed, 15) == -6


def test_unlike_signals_have_no_delay():
    rng = np.random.default_rng(2)

    assert find_delay(rng.random(300), rng.random(300), 15) is None
    assert find_delay(np.zeros(300), rng.random(300), 15) is None


def test_the_verb_ends_with_1_where_it_found_something(tmp_path, capsys):
    write_episode(tmp_path, 1.5, task="")

    assert main(["dataset", "check", str(tmp_path)]) == 1
    assert "unlabelled: no task" in capsys.readouterr().out


def test_the_verb_makes_a_data_set(tmp_path, capsys):
    write_episode(tmp_path / "recorded", 0.6)
    words = ("dataset", "create", str(tmp_path / "recorded"))

    assert main([*words, "--out", str(tmp_path / "set")]) == 0
    assert "worst time error" in capsys.readouterr().out
    assert main(words) == 2
    assert "expected --out" in capsys.readouterr().err


def test_the_share_of_driven_frames_is_told_and_a_small_one_found(tmp_path):
    folder = tmp_path / "recorded"
    write_episode(folder, 3.0, driven=(0.5, 1.9))
    said = []

    findings = check([folder], said.append)

    assert any("a leader drove 42 of 90 frames" in line for line in said), said
    assert kinds(findings) == ["undriven"]
    assert "47% of 90 frames" in findings[0].text
