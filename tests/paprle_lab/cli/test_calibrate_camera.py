"""``paprle calibrate camera``, of a simulated rig."""

from __future__ import annotations

import cv2
import numpy as np
import pinocchio as pin
import pytest
import yaml
from calibration_rigs import SIZE, SimulatedRig

from paprle.cli.app import main
from paprle.config import folders
from paprle.config.folders import Folder
from paprle.contracts.errors import ConfigError
from paprle_lab.calibration import results
from paprle_lab.calibration.mounting import (
    calibrate_camera as calibrate_camera_by_views,
)
from paprle_lab.calibration.results import list_settings, store_camera
from paprle_lab.cli import calibrate_camera

TRIPLE = ["leader=autopilot", "follower=piper", "env=kinematic"]
LENS = "focal: [610, 612], centre: [325, 236]"
LENS += ", distortion: [-0.15, 0.05, 0.0003, -0.0004, 0], play: 0.001745, noise: 3"
IN_HAND = [0.05, 0.01, 0.02], [0.02, -0.03, -1.55]
AT_WALL = [0.85, -0.06, 0.498], [-1.8132, 0.0, 1.4219]  # looks at the hand
TRUE = (
    f"{{{LENS}, camera_link: gripper_base, T_link_camera: {{xyz: {IN_HAND[0]}, "
    f"rpy_xyz_extrinsic: {IN_HAND[1]}}}, T_link_board: {{xyz: [0.7071, 0.1146, "
    "0.536], rpy_xyz_extrinsic: [-1.1003, 0.0497, -1.36]}}"
)
TRUE_WALL = (
    f"{{{LENS}, camera_link: base_link, T_link_camera: {{xyz: {AT_WALL[0]}, "
    f"rpy_xyz_extrinsic: {AT_WALL[1]}}}, board_link: gripper_base, T_link_board: "
    "{xyz: [-0.087, -0.094, 0.138], rpy_xyz_extrinsic: [-2.9306, 0.0191, 1.4375]}}"
)
CAMERA = ["cameras.wrist.type=drawn_board", f"cameras.wrist.true={TRUE}"]
WALL = ["cameras.front.type=drawn_board", f"cameras.front.true={TRUE_WALL}"]
SEEN = [
    "cameras.front_left={type: drawn_board, focal: [610.5, 612.25], "
    "centre: [325.0, 236.0], distortion: [-0.15, 0.05, 0.0003, -0.0004, 0.0]}",
    "cameras.front_right.type=drawn_board",
]
OF_RIGHT = ["--camera", "front_right", "--lens", "front_left"]
OF_RIGHT += ["--mounting", "wall", "--yes"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([*TRIPLE], "expected --camera with a camera of the settings"),
        ([*TRIPLE, *CAMERA], "expected --mounting, got none; hand:"),
        ([*TRIPLE, *CAMERA, "--mounting", "hand"], "expected a terminal"),
        (["--columns", "0", *TRIPLE], "expected 2 … 30 columns and rows, got 0"),
        (["--square", "30", *TRIPLE], "sizes are in metres"),
        (
            [*TRIPLE, *CAMERA, "--mounting", "hand", "--yes", "--limb", "leg"],
            "expected --limb with a limb of the robot, got 'leg'",
        ),
        (
            [*TRIPLE, *WALL, "--mounting", "wall", "--yes", "--lens", "fronf"],
            "expected --lens with a camera of the settings, got 'fronf'",
        ),
        (
            [*TRIPLE, *WALL, "--mounting", "wall", "--yes", "--lens", "front"],
            "expected --lens with a calibrated camera, got 'front' without focal",
        ),
        (
            [*TRIPLE, *SEEN, "cameras.front_left.width=320", *OF_RIGHT],
            "expected --lens with pictures of 640 × 480 px, got 320 × 480",
        ),
    ],
    ids=[
        "camera", "mounting", "terminal", "columns", "metres", "limb", "lens",
        "open lens", "size",
    ],
)  # fmt: skip
def test_wrong_words_are_refused_before_anything_moves(words, told, capsys):
    assert main(["calibrate", "camera", *words]) == 2

    assert told in capsys.readouterr().err


def test_the_lens_of_another_name_is_kept_and_written(monkeypatch):
    tasks = []
    monkeypatch.setattr(calibrate_camera, "drive", lambda *args: tasks.append(args[3]))
    assert main(["calibrate", "camera", *OF_RIGHT, *TRIPLE, *SEEN]) == 1
    (task,) = tasks
    lens = task.lens
    assert (lens.focal, lens.centre) == ((610.5, 612.25), (325.0, 236.0))
    rig = SimulatedRig("piper", "wall", 7, lens=lens)

    result = calibrate_camera_by_views(rig.take_views(), "wall", SIZE, lens)

    assert "focal" not in list_settings(result, "base_link")
    settings = list_settings(result, "base_link", with_lens=True)
    assert settings["focal"] == [610.5, 612.25]
    assert settings["distortion"] == [-0.15, 0.05, 0.0003, -0.0004, 0.0]


def test_a_board_is_drawn_to_print(tmp_path, capsys):
    path = tmp_path / "board.png"

    assert main(["calibrate", "camera", "--print", str(path)]) == 0

    assert cv2.imread(str(path)).shape == (840, 1080, 3)
    assert "101.6 dots an inch" in capsys.readouterr().out


def test_a_result_is_merged_into_the_site(tmp_path):
    path = tmp_path / "session.yaml"
    path.write_text("gate: {accept_unattended: true}\ncameras: {wrist: {fps: 15}}\n")

    store_camera("wrist", {"link": "hand"}, Folder(tmp_path, "site"))

    assert yaml.safe_load(path.read_text()) == {
        "gate": {"accept_unattended": True},
        "cameras": {"wrist": {"fps": 15, "link": "hand"}},
    }


def test_a_damaged_site_is_kept(tmp_path):
    path = tmp_path / "session.yaml"
    path.write_text("cameras: [")

    with pytest.raises(ConfigError, match=r"site/session.yaml"):
        store_camera("wrist", {"link": "hand"}, Folder(tmp_path, "site"))

    assert path.read_text() == "cameras: ["


def find_camera(folder, monkeypatch, mounting, camera):
    """Run the verb as a user does; return what the site has of the camera then."""
    monkeypatch.setattr(results, "find_site", lambda: Folder(folder, "site"))
    words = ["--mounting", mounting, "--yes", "--out", str(folder)]

    assert main(["calibrate", "camera", *words, *TRIPLE, *camera]) == 0

    [(name, found)] = yaml.safe_load((folder / folders.SESSION).read_text())[
        "cameras"
    ].items()
    assert (folder / f"calibrated_{name}.png").is_file()
    return found


def check_camera(found, place, rpy):
    T = found["T_link_camera"]
    found_turn = pin.rpy.rpyToMatrix(*T["rpy_xyz_extrinsic"])
    turn = pin.log3(pin.rpy.rpyToMatrix(*rpy).T @ found_turn)
    assert np.linalg.norm(np.subtract(T["xyz"], place)) <= 2e-3
    assert np.rad2deg(np.linalg.norm(turn)) <= 0.2
    assert found["focal"] == pytest.approx([610.0, 612.0], abs=3.0)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_simulated_arm_finds_its_camera(tmp_path, monkeypatch, capsys):
    found = find_camera(tmp_path, monkeypatch, "hand", CAMERA)

    check_camera(found, *IN_HAND)
    assert found["link"] == "gripper_base"
    assert "the hand was" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_simulated_arm_with_the_board_finds_a_camera_on_the_wall(
    tmp_path, monkeypatch, capsys
):
    found = find_camera(tmp_path, monkeypatch, "wall", WALL)

    check_camera(found, *AT_WALL)
    assert found["link"] == "base_link"
    assert "the hand was" in capsys.readouterr().out
