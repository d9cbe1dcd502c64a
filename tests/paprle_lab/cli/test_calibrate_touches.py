"""``paprle calibrate tool`` and ``calibrate bases``, of recorded touches."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import yaml
from calibration_rigs import ROOT

from paprle.cli.app import main
from paprle.config import folders, resolve
from paprle.config.folders import Folder
from paprle.hosts.plan import make_robot
from paprle.recording.reader import Episode
from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf
from paprle_lab.calibration import site_robot
from paprle_lab.calibration.recorded_touches import TouchedRobot, read_touches
from paprle_lab.cli import calibrate_touches

pytestmark = pytest.mark.long
TIP = np.array([0.02, -0.015, 0.13])
TURNS = ([0.5, 0.0, 0.2], [-0.5, 0.1, 0.0], [0.1, 0.5, -0.3], [0.0, -0.5, 0.3])


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site's folder of its own."""
    folder = Folder(tmp_path / "site", "site")
    monkeypatch.setattr(site_robot, "find_site", lambda: folder)
    monkeypatch.setattr(folders, "find_site", lambda *_: folder)
    return folder.path


def load(follower):
    return RobotModel.from_yaml(ROOT / f"configs/follower/{follower}.yaml")


def solve(limb, T, n=6):
    """Return joints near home that bring the eef to a pose; n=3: to its place."""
    q = limb.home.copy()
    for _ in range(300):
        off = pin.log6(limb.fk(q).inverse() * T).vector
        if n == 3:
            off = limb.fk(q).actInv(T.translation)
        step = np.linalg.pinv(limb.jacobian(q)[:n], 1e-4) @ off[:n]
        q = np.clip(q + np.clip(step, -0.1, 0.1), limb.q_min, limb.q_max)
    assert np.abs(off).max() < 1e-6
    return q


def touch_one_point(limb, p_eef_tool, turns=TURNS):
    """Return postures in which a tool touches one point."""
    T = limb.fk(limb.home)
    p_point = T.act(p_eef_tool) + [-0.05, 0.0, -0.05]
    postures = []
    for turn in turns:
        R = T.rotation @ pin.exp3(np.array(turn))
        postures.append(solve(limb, pin.SE3(R, p_point - R @ p_eef_tool)))
    return postures


def record(folder, follower, postures, notes):
    """Record a robot that rests in postures, a dict by limb each, with a note in each.

    The real product does both; the notes are added to its manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    poses = []
    robot = load(follower)
    for k, posture in enumerate(postures):
        limbs = {}
        for name, limb in robot.limbs.items():
            q = posture.get(name, limb.home)
            T = limb.fk(q)
            limbs[name] = {
                "q": dict(zip(limb.joint_names, q.tolist(), strict=True)),
                "xyz": T.translation.tolist(),
                "rpy": pin.rpy.matrixToRpy(T.rotation).tolist(),
            } | ({"opening": 1.0} if limb.gripper else {})
        poses.append({"name": f"pose {k}", "wait": 1.0, "limbs": limbs})
    path = folder / "poses.yaml"
    path.write_text(yaml.safe_dump({"robot": follower, "poses": poses}))
    words = ["leader=teach", f"leader.path={path}", f"follower={follower}"]
    session = ["session.clock=virtual", "session.episodes=1", "session.status=false"]
    assert main(["run", *words, "env=kinematic", *session, f"record.dir={folder}"]) == 0
    file = folder / "episode_000000.mcap"
    manifest_path = file.with_suffix(".json")
    manifest = json.loads(manifest_path.read_text())
    stamps = find_rests(Episode.open(file), robot, postures)
    manifest["notes"] = [
        {"t_ns": stamp, "text": text} for stamp, text in zip(stamps, notes, strict=True)
    ]
    manifest_path.write_text(json.dumps(manifest))
    return file


def find_rests(episode, robot, postures):
    """Return a time of each posture, [ns]."""
    stamps = []
    for posture in postures:
        (name, q), *_ = posture.items()
        measured = episode.gate["q_meas"][:, robot.limbs[name].indices]
        is_there = np.abs(measured - q).max(axis=1) < 1e-3
        stamps.append(int(episode.gate["meas_ns"][is_there][-1]))
    return stamps


def test_a_tool_that_touched_a_point_is_what_the_limb_is_led_by(tmp_path, site, capsys):
    postures = touch_one_point(load("ur5e").limbs["arm"], TIP)
    file = record(
        tmp_path, "ur5e", [{"arm": q} for q in postures], ["touch"] * 3 + ["Touch tip"]
    )

    assert main(["calibrate", "tool", str(file)]) == 0

    told = capsys.readouterr().out
    assert "tool at 20.0, -15.0, 130.0 mm in the eef" in told
    assert told.count("mm from the point") == 4
    assert "for a spread below 1 mm touch it more often" in told
    robot = make_robot(resolve(["leader=autopilot", "follower=ur5e", "env=kinematic"]))
    limb = robot.limbs["arm"]
    assert limb.eef_link == "arm_tcp"
    np.testing.assert_array_equal(limb.home, load("ur5e").limbs["arm"].home)
    tips = [limb.fk(q).translation for q in postures]
    np.testing.assert_allclose(tips, np.tile(tips[0], (4, 1)), atol=1e-4)
    assert robot.urdf_path == (site / "urdf/ur5e.urdf").absolute()


def test_a_tool_is_calibrated_again(tmp_path, site):
    limb = load("ur5e").limbs["arm"]
    for number, p_eef_tool in enumerate((TIP, TIP + [0.0, 0.01, 0.0])):
        postures = [{"arm": q} for q in touch_one_point(limb, p_eef_tool)]
        file = record(tmp_path / str(number), "ur5e", postures, ["touch"] * 4)
        assert main(["calibrate", "tool", str(file)]) == 0

    joint = read_urdf(site / "urdf/ur5e.urdf").parent_joint["arm_tcp"]
    np.testing.assert_allclose(
        joint.T_parent_joint.translation, TIP + [0.0, 0.01, 0.0], atol=1e-4
    )


@pytest.mark.usefixtures("site")
def test_a_limb_keeps_its_gripper_where_its_settings_were_guessed():
    robot = load("piper")
    touched = TouchedRobot(
        follower="piper", info=robot.info, urdf=robot.urdf_path.read_text(), touches=()
    )

    _, path = site_robot.store_robot(touched, touched.urdf, {"arm": "link6"})

    arm = yaml.safe_load(path.read_text())["limbs"]["arm"]
    assert arm["eef_link"] == "link6"
    assert arm["gripper"] == {"joint": "joint7", "closed": 0.0, "open": 0.035}
    assert [one.name for one in path.parent.iterdir()] == ["piper.yaml"], "no rest"


def test_a_dry_run_writes_nothing(tmp_path, site):
    postures = touch_one_point(load("ur5e").limbs["arm"], TIP)
    file = record(tmp_path, "ur5e", [{"arm": q} for q in postures], ["touch"] * 4)

    assert main(["calibrate", "tool", str(file), "--dry-run"]) == 0

    assert not site.exists()


def test_a_note_while_the_arm_moves_is_refused(tmp_path, site, capsys):
    postures = touch_one_point(load("ur5e").limbs["arm"], TIP)
    file = record(tmp_path, "ur5e", [{"arm": q} for q in postures], ["touch"] * 4)
    manifest_path = file.with_suffix(".json")
    manifest = json.loads(manifest_path.read_text())
    gate = Episode.open(file).gate
    fastest = np.abs(np.diff(gate["q_meas"], axis=0)).max(axis=1).argmax()
    manifest["notes"][2]["t_ns"] = int(gate["meas_ns"][fastest])
    manifest_path.write_text(json.dumps(manifest))

    assert main(["calibrate", "tool", str(file)]) == 2

    assert "expected the arm at rest at the note" in capsys.readouterr().err
    assert not site.exists()


@pytest.mark.usefixtures("site")
def test_a_follower_of_a_strange_name_is_refused_and_nothing_is_written(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(
        calibrate_touches,
        "read_touches",
        lambda paths: replace(read_touches(paths), follower="../../robot"),
    )
    postures = touch_one_point(load("ur5e").limbs["arm"], TIP)
    file = record(
        tmp_path / "in", "ur5e", [{"arm": q} for q in postures], ["touch"] * 4
    )
    before = sorted(tmp_path.rglob("*.urdf"))

    assert main(["calibrate", "tool", str(file)]) == 2

    assert "got '../../robot'; put its YAML into" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*.urdf")) == before


@pytest.mark.usefixtures("site")
def test_a_recording_without_touches_is_refused(tmp_path, capsys):
    q = load("ur5e").limbs["arm"].home + 0.1
    file = record(tmp_path, "ur5e", [{"arm": q}] * 2, ["a cup", "touchy"])

    assert main(["calibrate", "tool", str(file)]) == 2

    assert "expected 4 touches of one point or more, got 0" in capsys.readouterr().err


T_FIRST_SECOND = pin.SE3(pin.exp3(np.array([0.02, 0.0, 0.1])), np.array([0.0, -0.6, 0]))
POINTS = {
    "a": [0.32, -0.22, 0.25], "b": [0.30, -0.38, 0.22], "c": [0.40, -0.30, 0.35],
}  # fmt: skip


def touch_points(limbs):
    """Return postures of two arms, and notes, for points that both touch."""
    postures, notes = [], []
    for side, T_first_base in (("left", pin.SE3.Identity()), ("right", T_FIRST_SECOND)):
        for name, p_first in POINTS.items():
            p = T_first_base.inverse().act(np.array(p_first))
            limb = limbs[side]
            postures.append({side: solve(limb, pin.SE3(np.eye(3), p), n=3)})
            notes.append(f"touch {side} {name}")
    return postures, notes


def place_bases(robot):
    """Return the second base in the first, by the robot's tree."""
    T = {}
    for side in ("left", "right"):
        limb = robot.limbs[side]
        joint, T_joint_link = robot.link_places[limb.base_link]
        assert joint == -1
        T[side] = T_joint_link
    return T["left"].inverse() * T["right"]


def test_points_that_both_arms_touch_place_the_second_base(tmp_path, site, capsys):
    postures, notes = touch_points(load("piper_2arm").limbs)
    file = record(tmp_path, "piper_2arm", postures, notes)

    assert main(["calibrate", "bases", str(file)]) == 0

    told = capsys.readouterr().out
    assert told.count("mm apart") == 3
    assert "touch more points, farther apart, or give one camera" in told
    words = ["leader=autopilot", "follower=piper_2arm", "env=kinematic"]
    off = place_bases(make_robot(resolve(words))).inverse() * T_FIRST_SECOND
    assert np.linalg.norm(off.translation) < 5e-4
    assert np.linalg.norm(pin.log3(off.rotation)) < 2e-3
    assert (site / "follower/piper_2arm.yaml").is_file()


def test_a_point_that_is_touched_again_counts_once(tmp_path, site, capsys):
    postures, notes = touch_points(load("piper_2arm").limbs)
    wrong = {"left": load("piper_2arm").limbs["left"].home}
    file = record(tmp_path, "piper_2arm", [wrong, *postures], ["touch left a", *notes])

    assert main(["calibrate", "bases", str(file)]) == 0

    assert capsys.readouterr().out.count("mm apart") == 3
    assert site.exists()


def test_a_point_that_one_arm_touched_alone_is_refused(tmp_path, site, capsys):
    postures, notes = touch_points(load("piper_2arm").limbs)
    file = record(tmp_path, "piper_2arm", postures[:5], notes[:5])

    assert main(["calibrate", "bases", str(file)]) == 2

    assert "got 'c' of one alone" in capsys.readouterr().err
    assert not site.exists()


def test_two_robots_are_told_where_they_stand_and_nothing_is_written(
    tmp_path, site, capsys
):
    postures, notes = touch_points(load("piper_2arm").limbs)
    both = [
        record(
            tmp_path / side, "piper",
            [{"arm": q} for one in postures for name, q in one.items() if name == side],
            [f"touch {name}" for name in POINTS],
        )
        for side in ("left", "right")
    ]  # fmt: skip

    assert main(["calibrate", "bases", str(both[0]), "--second", str(both[1])]) == 0

    assert "second base in the first: {xyz: [0.00" in capsys.readouterr().out
    assert not site.exists()


@pytest.mark.usefixtures("site")
def test_a_camera_that_has_two_lenses_is_refused(capsys):
    words = ["leader=autopilot", "follower=piper_2arm", "env=kinematic"]
    cameras = [
        f"cameras.seen_{side}={{type: drawn_board, link: {side}_base_link, "
        f"focal: [610.0, {fy}]}}"
        for side, fy in (("left", 612.0), ("right", 612.5))
    ]

    assert main(
        ["calibrate", "bases", "--cameras", "seen_left", "seen_right", *words, *cameras]
    ) == 2  # fmt: skip

    assert "calibrate the second again with --lens" in capsys.readouterr().err


@pytest.mark.usefixtures("site")
def test_a_camera_that_both_arms_calibrated_places_the_second_base():
    T_second_cam = pin.SE3(np.eye(3), np.array([0.4, 0.3, 0.5]))
    views = {"left": T_FIRST_SECOND * T_second_cam, "right": T_second_cam}
    cameras = [
        f"cameras.seen_{side}={{type: drawn_board, link: {side}_base_link, "
        f"T_link_camera: {{xyz: {T.translation.tolist()}, rpy_xyz_extrinsic: "
        f"{pin.rpy.matrixToRpy(T.rotation).tolist()}}}}}"
        for side, T in views.items()
    ]
    words = ["leader=autopilot", "follower=piper_2arm", "env=kinematic"]

    assert main(
        ["calibrate", "bases", "--cameras", "seen_left", "seen_right", *words, *cameras]
    ) == 0  # fmt: skip

    off = place_bases(make_robot(resolve(words))).inverse() * T_FIRST_SECOND
    assert np.linalg.norm(off.translation) < 1e-5
    assert np.linalg.norm(pin.log3(off.rotation)) < 1e-5
