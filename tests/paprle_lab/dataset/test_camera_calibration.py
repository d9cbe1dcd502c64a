"""Calibrations of cameras in LeRobot's ``info.json``."""

from __future__ import annotations

from paprle.contracts.settings.camera import CameraSettings
from paprle.recording.tracks import camera_to_dict
from paprle_lab.dataset.camera_calibration import describe_calibration, keep_common
from paprle_lab.dataset.formats.lerobot import Shape

LENS = (-0.1, 0.02, 0.001, -0.002, 0.0)
SEEN = CameraSettings(focal=(500.0, 501.0), distortion=LENS, link="hand")
CAMERA = camera_to_dict(SEEN.make_info(640, 480, "rgb8"), "toy", "h264")
PLAIN = camera_to_dict(CameraSettings().make_info(640, 480, "rgb8"), "toy", "h264")


def test_a_calibrated_camera_is_in_the_features():
    shape = Shape("toy", 30, (), {"wrist": (480, 640)}, {"wrist": CAMERA})

    info = shape.list_features()["observation.images.wrist"]["info"]

    assert info["camera.K"] == [[500.0, 0, 319.5], [0, 501.0, 239.5], [0, 0, 1]]
    assert info["camera.distortion"] == list(LENS)
    assert info["camera.link"] == "hand"
    assert info["camera.T_link_camera"]["quat_xyzw"] == [0.0, 0.0, 0.0, 1.0]
    assert info["video.fps"] == 30


def test_an_uncalibrated_camera_has_no_entries():
    assert describe_calibration(PLAIN) == {}
    assert describe_calibration({}) == {}


def test_differing_calibrations_of_recordings_are_left_out():
    first = {"cameras": {"wrist": CAMERA, "front": CAMERA}}
    moved = CAMERA | {"link": "base"}
    other = {"cameras": {"wrist": CAMERA, "front": moved}}

    cameras = keep_common(first, other)["cameras"]

    assert describe_calibration(cameras["wrist"])["camera.link"] == "hand"
    assert describe_calibration(cameras["front"]) == {}
    assert cameras["front"]["width"] == 640
