"""Recordings of AdaptiX: three versions, Unreal's axes, and files that were cut off."""

from collections import Counter

import numpy as np
import pinocchio as pin
import pytest

from paprle.contracts.errors import RecordingError
from paprle.recording.others.adaptix import (
    Actor,
    AdaptixFrame,
    AdaptixRecording,
    is_adaptix,
    parse_adaptix,
    write_adaptix,
)

RNG = np.random.default_rng(27)
N_POSES, N_FINGERS, N_NUMBERS = (1, 8, 8), (1, 2, 6), (12, 66, 70)
S = np.diag([1.0, -1.0, 1.0])


def pose():
    turn = pin.Quaternion(pin.exp3(RNG.normal(size=3))).coeffs()
    return np.concatenate([RNG.uniform(-1, 1, 3), turn])


def make(version, n=5):
    frames = []
    for k in range(n):
        head = pose()
        head[3:] = head[3:] if version else [0, 0, 0, 1]
        joints = np.array([pose() for _ in range(N_POSES[version])])
        fingers = RNG.uniform(0, 1.3, N_FINGERS[version])
        frames.append(
            AdaptixFrame(k / 90, joints, fingers, head, {3: pose(), 7: pose()})
        )
    actors = Actor(3, "block", tag="Graspable"), Actor(7, "cup", scale=(1, 2, 0.5))
    return AdaptixRecording(version, actors, tuple(frames), Counter())


@pytest.fixture(params=[0, 1, 2])
def written(request, tmp_path):
    recording = make(request.param)
    path = tmp_path / "motion.csv"
    write_adaptix(path, recording)
    return recording, path.read_text()


def test_a_written_file_is_read_again_with_its_version(written):
    recording, text = written

    again = parse_adaptix("motion.csv", text)

    assert is_adaptix(text)
    assert again.version == recording.version
    assert again.actors == recording.actors
    assert not again.dropped
    for one, other in zip(again.frames, recording.frames, strict=True):
        for a, b in zip(one[:4], other[:4], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        assert list(one.objects) == list(other.objects)
        for number, row in one.objects.items():
            np.testing.assert_allclose(row, other.objects[number], atol=1e-12)


def test_rows_have_as_many_numbers_as_the_publication_says(written):
    recording, text = written
    rows = text.splitlines()[2:]

    expected = N_NUMBERS[recording.version] + 2 * 8
    assert {len(row.split(",")) for row in rows} == {expected}


def test_a_file_that_was_cut_anywhere_loses_its_last_line_alone(written):
    recording, text = written
    begin = text.rstrip("\n").rfind("\n") + 1

    for end in range(begin + 1, len(text), 37):
        again = parse_adaptix("cut.csv", text[:end])
        assert len(again.frames) == len(recording.frames) - 1
        assert again.dropped == {"truncated last lines dropped": 1}


def test_commas_at_the_end_and_spaces_change_nothing(written):
    _, text = written
    other = text.replace(",", ", ").replace("\n", ",\n")

    again = parse_adaptix("motion.csv", other)

    assert len(again.frames) == 5
    assert not again.dropped


def test_a_turn_in_unreals_axes_is_the_conjugated_one_and_lengths_are_metres():
    for _ in range(50):
        R = pin.exp3(RNG.normal(size=3))
        p = RNG.uniform(-100, 100, 3)
        x, y, z, w = pin.Quaternion(R).coeffs()
        row = [0.0, *[0.0] * 49, *p, x, y, z, w, *[0.0] * 13]

        text = ",".join(map(repr, map(float, row))) + "\n"
        got = parse_adaptix("one.csv", text).frames[0].joints[-1]

        np.testing.assert_allclose(got[:3], S @ p / 100, atol=1e-12)
        turned = pin.Quaternion(got[3:]).toRotationMatrix()
        np.testing.assert_allclose(turned, S @ R @ S, atol=1e-9)


def test_the_gripper_of_version_0_is_turned_as_unreal_turns_it():
    # columns: where Unreal's FRotationMatrix(-90, -90, 0) puts x, y and z
    turn = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    R = pin.exp3(np.array([0.3, -0.8, 1.1]))
    quat = pin.Quaternion(R).coeffs()
    row = ",".join(map(str, [0.0, 0, 0, 0, *quat, 0.0, 0, 0, 0]))

    got = parse_adaptix("v0.csv", row + "\n").frames[0].joints[0]

    turned = pin.Quaternion(got[3:]).toRotationMatrix()
    np.testing.assert_allclose(turned, S @ (R @ turn) @ S, atol=1e-9)


@pytest.mark.parametrize("broken", [0.0, np.nan])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_first_frames_without_a_pose_do_not_hide_what_a_file_is(version, broken):
    row = [0.0] * N_NUMBERS[version]
    whole = row.copy()
    row[4:8], whole[4:8] = [broken] * 4, [0.0, 0.6, 0.0, 0.8]
    text = "".join(",".join(map(str, r)) + "\n" for r in (row, row, whole))

    assert is_adaptix(text)
    assert not is_adaptix(",".join(map(str, row)) + "\n" + "t,x,y\n")


@pytest.mark.parametrize(
    "text", ["", "\n\n", "time,x,y\n0,1,2\n", "1,block,A,B,1,1,1,None\n", "nan,1\n"]
)
def test_a_text_without_frames_is_refused(text):
    with pytest.raises(RecordingError, match="expected frames of 12, 66, 70 numbers"):
        parse_adaptix("no.csv", text)


def test_garbage_between_frames_costs_its_own_lines(written):
    recording, text = written
    lines = text.splitlines()
    lines[3:3] = ["x,y", "1,2,3", ",".join(["nan"] * 30), "\x00"]

    again = parse_adaptix("motion.csv", "\n".join(lines) + "\n")

    assert len(again.frames) == len(recording.frames)
    assert again.dropped.total() == 4
