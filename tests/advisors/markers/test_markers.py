"""Markers in pictures that are drawn here, by projection."""

import os

import numpy as np
import pinocchio as pin
import pytest
from drawn_markers import CAMERA, FOCAL, PLACED, SIZE, T_WORLD_CAM, project

from paprle.advisors.markers.advisor import N_MARKERS, Markers
from paprle.advisors.markers.config import MarkersConfig
from paprle.contracts.errors import DeviceError
from paprle.testing import (
    AdvisorContract,
    ManualClock,
    make_robot_info,
    make_session_view,
)

cv2 = pytest.importorskip("cv2")

ROBOT = make_robot_info()


def draw(path, placed, family="DICT_APRILTAG_36h11"):
    """Write a picture of markers at T_cam_marker, by id."""
    assert cv2.imwrite(str(path), project(placed, family))


def make(clock, **fields):
    values = {"size": SIZE, "focal": FOCAL, "centre": (652.5, 470.0), **CAMERA}
    return Markers(MarkersConfig(**values | fields), ROBOT, {}, clock)


def ask(advisor, clock):
    return advisor.advise(make_session_view(ROBOT, clock()), {})


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def opened(clock):
    made = []

    def start(**fields):
        advisor = make(clock, **fields)
        advisor.open()
        made.append(advisor)
        return advisor

    yield start
    for advisor in made:
        advisor.close()


@pytest.mark.parametrize(
    ("family", "name"),
    [("apriltag_36h11", "DICT_APRILTAG_36h11"), ("aruco_4x4_50", "DICT_4X4_50")],
)
def test_poses_are_those_that_were_drawn(opened, clock, tmp_path, family, name):
    draw(tmp_path / "cell.png", PLACED, name)

    said = ask(opened(picture=str(tmp_path / "cell.png"), family=family), clock)

    assert said["valid"]
    assert said["id"].tolist() == [3, 17, 40, -1, -1, -1, -1, -1]
    assert np.isnan(said["pose"][3:]).all()
    for row, T_cam_marker in enumerate(PLACED.values()):
        off = (T_WORLD_CAM * T_cam_marker).actInv(pin.XYZQUATToSE3(said["pose"][row]))
        assert np.linalg.norm(off.translation) < 0.002
        assert np.rad2deg(np.linalg.norm(pin.log3(off.rotation))) < 0.5


def test_a_picture_without_markers_is_no_advice(opened, clock, tmp_path):
    draw(tmp_path / "cell.png", {})

    said = ask(opened(picture=str(tmp_path / "cell.png")), clock)

    assert not said["valid"]
    assert (said["id"] == -1).all()


@pytest.mark.parametrize("data", [b"", b"no picture at all"], ids=["empty", "text"])
def test_a_broken_file_is_refused_when_it_is_opened(clock, tmp_path, data):
    path = tmp_path / "cell.png"
    path.write_bytes(data)

    with pytest.raises(DeviceError, match=r"expected a picture, got \d+ other bytes"):
        make(clock, picture=str(path)).open()


def test_a_file_that_breaks_later_takes_the_advice_back_and_says_so_once(
    opened, clock, tmp_path
):
    path = tmp_path / "cell.png"
    draw(path, PLACED)
    advisor = opened(picture=str(path))
    assert ask(advisor, clock)["valid"]

    path.write_bytes(b"cut")
    clock.advance(0.1)
    said = [ask(advisor, clock)["valid"] for _ in range(3)]

    assert said == [False] * 3
    assert len(advisor.take_warnings()) == 1
    assert advisor.take_warnings() == []


def test_a_picture_that_changes_is_read_again(opened, clock, tmp_path):
    path = tmp_path / "cell.png"
    draw(path, PLACED)
    advisor = opened(picture=str(path))
    first = ask(advisor, clock)

    draw(path, {3: PLACED[3]})
    os.utime(path, ns=(1, 1))
    clock.advance(0.1)
    second = ask(advisor, clock)

    assert second["id"].tolist()[:2] == [3, -1]
    assert second["based_on_ns"] > first["based_on_ns"]


def test_a_list_of_poses_needs_no_picture(opened, clock, tmp_path):
    path = tmp_path / "cell.yaml"
    path.write_text("- {id: 7, xyz: [0.4, 0, 0.1], quat_xyzw: [0, 0, 0, 1]}\n")

    said = ask(opened(poses=str(path)), clock)

    assert said["id"][0] == 7
    assert said["pose"][0].tolist() == [0.4, 0, 0.1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: 1", "expected a list"),
        ("- [1, 2]", "entry 0: expected"),
        ("- {id: -1, xyz: [0, 0, 0], quat_xyzw: [0, 0, 0, 1]}", "entry 0.id"),
        ("- {id: 1, xyz: [0, 0], quat_xyzw: [0, 0, 0, 1]}", "xyz of 3"),
        ("- {id: 1, xyz: [0, 0, 0], quat_xyzw: [0, 0, 0, 2]}", "of length 1"),
        ("- {id: 1, xyz: [0, 0, 0], quat_xyzw: [0, 0, 0, 1]}\n" * 2, "each id once"),
        ("{", "expected YAML"),
    ],
)
def test_a_wrong_list_is_refused_with_its_place(clock, tmp_path, text, message):
    path = tmp_path / "cell.yaml"
    path.write_text(text)

    with pytest.raises(DeviceError, match=message):
        make(clock, poses=str(path)).open()


def test_more_markers_than_a_record_holds_are_told_of(opened, clock, tmp_path):
    path = tmp_path / "cell.yaml"
    entry = "- {{id: {k}, xyz: [0, 0, 0], quat_xyzw: [0, 0, 0, 1]}}\n"
    path.write_text("".join(entry.format(k=k) for k in range(N_MARKERS + 1)))

    advisor = opened(poses=str(path))

    assert ask(advisor, clock)["id"].tolist() == list(range(N_MARKERS))
    assert "those of the lowest ids" in advisor.take_warnings()[0]


@pytest.mark.parametrize(
    "fields",
    [{}, {"picture": "a", "poses": "b"}, {"camera": "a", "poses": "b"}],
)
def test_either_a_camera_a_picture_or_a_list_is_named(fields):
    with pytest.raises(ValueError, match="either camera, or picture or poses"):
        MarkersConfig(**fields)


class TestMarkers(AdvisorContract):
    @pytest.fixture(autouse=True)
    def take_folder(self, tmp_path):
        self.path = tmp_path / "cell.png"
        draw(self.path, PLACED)

    def make_advisor(self, clock):
        return make(clock, picture=str(self.path))
