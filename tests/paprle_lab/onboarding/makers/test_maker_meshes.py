"""Meshes of makers on robots of ours: matched by motion, drawn, refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from public_robots import PUBLIC

from paprle.cli import main
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.urdf import maker_meshes
from paprle.hosts.plan import make_robot
from paprle.observers.view.drawing.bodies import Robot
from paprle_lab.onboarding.makers.descriptions import download, list_known, read_urdf
from paprle_lab.onboarding.makers.maker_meshes import make_meshes
from paprle_lab.onboarding.makers.matching import pair_names


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def load(name):
    words = ["leader=autopilot", f"follower={name}", "env=kinematic"]
    return make_robot(resolve(words)).info


def give_meshes(urdf, folder):
    """Write a copy of a URDF whose visuals are one box of 2 cm on each arm link."""
    root = ET.fromstring(urdf.read_text())
    mesh = folder / "box.stl"
    trimesh.creation.box([0.02, 0.02, 0.02]).export(mesh)
    for link in root.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        if link.get("name").startswith(("wrist", "forearm", "upper")):
            shape = ET.SubElement(ET.SubElement(link, "visual"), "geometry")
            ET.SubElement(shape, "mesh", filename=str(mesh))
    path = folder / "maker.urdf"
    path.write_text(ET.tostring(root, encoding="unicode"))
    return path


@pytest.mark.parametrize(
    ("name", "urdf"),
    [
        ("xarm7", "xarm_description/urdf/xarm7.urdf"),
        ("panda", "panda_description/urdf/panda.urdf"),  # other names of its joints
    ],
)
def test_meshes_are_drawn_where_the_maker_has_them(name, urdf, capsys):
    path = PUBLIC / urdf
    assert main(["meshes", name, "--urdf", str(path)]) == 0
    assert "links" in capsys.readouterr().out
    info = load(name)
    robot = Robot(info)
    q = info.home + 0.1
    places = robot.move(q)

    theirs = pin.buildModelFromUrdf(str(path))
    shapes = pin.buildGeomFromUrdf(
        theirs, str(path), pin.GeometryType.VISUAL,
        package_dirs=[str(folder) for folder in path.parents],
    )  # fmt: skip
    posture = pin.neutral(theirs)
    mine = [n for n in info.joint_names if not n.startswith(("finger", "drive"))]
    arm = [name for name in theirs.names if "finger" not in name]
    for joint in mine:
        their = next(name for name in arm if name.endswith(joint))
        index = theirs.joints[theirs.getJointId(their)].idx_q
        posture[index] = q[info.joint_names.index(joint)]
    data, found = theirs.createData(), shapes.createData()
    pin.updateGeometryPlacements(theirs, data, shapes, found, posture)
    for k, shape in enumerate(shapes.geometryObjects):
        joint = theirs.names[shape.parentJoint]
        if joint in arm and joint.endswith(tuple(mine)):
            points = trimesh.load(shape.meshPath, force="mesh").vertices
            at = found.oMg[k]
            points = points * shape.meshScale.ravel() @ at.rotation.T + at.translation
            link = theirs.frames[shape.parentFrame].name
            drawn = np.concatenate(
                [
                    body.vertices @ places[body.joint].rotation.T
                    + places[body.joint].translation
                    for body in robot.bodies
                    if link.endswith(body.link)
                ]
            )
            assert np.allclose(points.min(axis=0), drawn.min(axis=0), atol=2e-3), link
            assert np.allclose(points.max(axis=0), drawn.max(axis=0), atol=2e-3), link


def test_a_gripper_that_the_maker_does_not_have_keeps_its_bodies(tmp_path):
    info = load("ur5e_2f85")
    own = {body.link for body in Robot(info).bodies}
    description = read_urdf(give_meshes(load("ur5e").urdf_path, tmp_path))
    made, notes = make_meshes(info, description)
    assert made.links == {f"wrist_{k}_link" for k in (1, 2, 3)} | {
        "forearm_link",
        "upper_arm_link",
    }
    assert not notes
    maker_meshes.write(maker_meshes.find_file(info.name), info, made)
    drawn = Robot(info)
    assert {body.link for body in drawn.bodies} == own
    boxes = [body for body in drawn.bodies if np.ptp(body.vertices) < 0.021]
    assert {body.link for body in boxes} >= made.links


def test_a_description_of_another_arm_is_refused():
    other = read_urdf(PUBLIC / "ur_description/urdf/ur5_robot.urdf")
    with pytest.raises(ConfigError, match="moves otherwise|move otherwise"):
        make_meshes(load("xarm7"), other)


def test_a_longer_version_is_drawn_and_reported(tmp_path):
    info = load("ur5e")
    text = give_meshes(info.urdf_path, tmp_path).read_text()
    root = ET.fromstring(text)
    origin = root.find("joint[@name='elbow_joint']/origin")
    x, y, z = (float(part) for part in origin.get("xyz").split())
    origin.set("xyz", f"{x - 0.01} {y} {z}")
    longer = tmp_path / "longer.urdf"
    longer.write_text(ET.tostring(root, encoding="unicode"))
    made, notes = make_meshes(info, read_urdf(longer))
    assert "wrist_3_link" in made.links
    assert len(notes) == 1
    assert "another version" in notes[0]


def test_meshes_of_an_earlier_urdf_are_not_drawn(tmp_path):
    info = load("ur5e")
    made, _ = make_meshes(info, read_urdf(give_meshes(info.urdf_path, tmp_path)))
    path = maker_meshes.find_file(info.name)
    changed = tmp_path / "robot.urdf"
    changed.write_text(info.urdf_path.read_text() + "\n")
    maker_meshes.write(path, info, made)
    assert maker_meshes.read(path, info) is not None
    object.__setattr__(info, "urdf_path", changed)
    assert maker_meshes.read(path, info) is None


def test_a_damaged_file_leaves_the_own_bodies():
    info = load("ur5e")
    path = maker_meshes.find_file(info.name)
    own = len(Robot(info).bodies)
    path.parent.mkdir(parents=True)
    for content in (b"", b"PK\x03\x04 no archive", json.dumps({}).encode()):
        path.write_bytes(content)
        robot = Robot(info)
        assert len(robot.bodies) == own
        assert "maker" in robot.note


def test_removed_meshes_are_drawn_no_more(tmp_path, capsys):
    urdf = give_meshes(load("ur5e").urdf_path, tmp_path)
    assert main(["meshes", "ur5e", "--urdf", str(urdf)]) == 0
    assert maker_meshes.find_file("ur5e").is_file()
    assert main(["meshes", "ur5e", "--remove"]) == 0
    assert not maker_meshes.find_file("ur5e").exists()
    assert "removed" in capsys.readouterr().out


def test_a_robot_without_a_download_names_those_that_have_one():
    with pytest.raises(ConfigError, match="so101.*--urdf"):
        download("papras_6dof")
    assert "ur5e" in list_known()


def test_names_pair_exactly_or_by_one_prefix():
    theirs = ["panda_joint1", "panda_finger_joint1"]
    assert pair_names(["joint1", "finger_joint1"], theirs) == {
        "joint1": "panda_joint1",
        "finger_joint1": "panda_finger_joint1",
    }
    assert pair_names(["elbow"], ["wrist"]) == {}
