"""An arm whose links collide as meshes gets bodies that are kept apart."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import yaml

from paprle.contracts.errors import ConfigError
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.mesh_bodies import cover_meshes
from paprle_lab.onboarding.new_robot import write_new_robot

PLACES = {
    "beside the URDF": ("part.stl", "part.stl"),
    "in a folder of the package": (
        "package://maker/meshes/part.stl",
        "meshes/part.stl",
    ),
    "in the package the URDF is in": (
        "package://robots/part.stl",
        "part.stl",
    ),
}


def write_stl(path: Path, size: tuple[float, float, float]) -> None:
    """Write the corners of a box as a mesh, in millimetres."""
    corners = (
        np.array(np.meshgrid(*[(-500.0 * s, 500.0 * s) for s in size])).reshape(3, -1).T
    )
    lines = ["solid part"]
    for a in corners:
        lines += ["facet normal 0 0 1", "outer loop"]
        for b in (a, corners[0], corners[-1]):
            lines.append(f"vertex {b[0]} {b[1]} {b[2]}")
        lines += ["endloop", "endfacet"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "endsolid part"]))


def write_arm(folder: Path, mesh: str) -> Path:
    """Write a chain of four bars that turn about z and y by turns."""
    shape = f'<geometry><mesh filename="{mesh}" scale="0.001 0.001 0.001"/></geometry>'
    place = '<origin xyz="0 0 0.15" rpy="0 0 0"/>'
    links = "".join(
        f'<link name="l{i}"><collision>{place}{shape}</collision></link>'
        for i in range(4)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><origin xyz="0 0 0.35"/>'
        f'<axis xyz="{"0 0 1" if i == 0 else "0 1 0"}"/>'
        '<limit lower="-3" upper="3" velocity="1"/></joint>'
        for i in range(3)
    )
    path = folder / "arm.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<robot name="arm">{links}{joints}</robot>')
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "maker" / "robots"


@pytest.mark.long
@pytest.mark.parametrize("where", PLACES)
def test_a_mesh_becomes_a_body_of_its_size_and_place(folder: Path, where: str) -> None:
    name, place = PLACES[where]
    root = folder.parent if "maker" in name else folder
    write_stl(root / place, (0.06, 0.08, 0.3))

    tree = read_urdf(write_arm(folder, name))
    covered = cover_meshes(tree, folder / "copy.urdf")

    assert (covered.n_bodies, covered.doubts) == (4, ())
    body = read_urdf(folder / "copy.urdf").primitives[0]
    assert body.shape == "box"
    np.testing.assert_allclose(sorted(body.size), [0.06, 0.08, 0.3], atol=1e-4)
    np.testing.assert_allclose(body.T_link_body.translation, [0, 0, 0.15], atol=1e-6)


@pytest.mark.long
def test_the_yaml_names_the_copy_and_its_pairs_are_kept_apart(
    folder: Path, tmp_path: Path
) -> None:
    write_stl(folder / "part.stl", (0.06, 0.08, 0.3))
    urdf = write_arm(folder, "part.stl")
    before = urdf.read_bytes()

    report = write_new_robot(urdf, tmp_path / "out")

    assert report.collision_pairs == 3  # l0 and l2, too: that takes no room
    written = yaml.safe_load(report.path.read_text())
    assert "ignore_collisions" not in written
    assert written["urdf"] == str(tmp_path / "out" / "arm.urdf")
    assert any("4 meshes were enclosed" in doubt for doubt in report.doubts)
    assert urdf.read_bytes() == before


@pytest.mark.parametrize("content", [None, b"", b"solid nothing", b"\xff" * 200])
def test_a_mesh_that_cannot_be_read_is_told_and_the_robot_written(
    folder: Path, tmp_path: Path, content: bytes | None
) -> None:
    urdf = write_arm(folder, "part.stl")
    if content is not None:
        (folder / "part.stl").write_bytes(content)

    report = write_new_robot(urdf, tmp_path / "out")

    assert report.collision_pairs == 0
    assert sum("is not checked" in doubt for doubt in report.doubts) == 4
    assert not (tmp_path / "out" / "arm.urdf").exists()


def test_a_copy_that_is_there_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "arm.urdf"
    there.write_text("mine")

    with pytest.raises(ConfigError, match="exists already"):
        write_new_robot(write_arm(folder, "part.stl"), tmp_path)

    assert there.read_text() == "mine"


def test_meshes_to_look_at_are_found_from_the_copy(folder: Path) -> None:
    write_stl(folder / "part.stl", (0.06, 0.08, 0.3))
    urdf = write_arm(folder, "part.stl")
    seen = '<visual><geometry><mesh filename="part.stl"/></geometry></visual>'
    urdf.write_text(urdf.read_text().replace("<collision>", seen + "<collision>", 1))

    cover_meshes(read_urdf(urdf), folder / "copy.urdf")

    root = ET.parse(folder / "copy.urdf").getroot()
    for place in ("link/visual/geometry/mesh", "paprle/link/collision/geometry/mesh"):
        names = {mesh.get("filename") for mesh in root.iterfind(place)}
        assert names == {f"file://{folder / 'part.stl'}"}
    assert not root.findall("link/collision/geometry/mesh")


def test_a_mesh_in_millimetres_is_refused_with_what_mends_it(
    folder: Path, tmp_path: Path
) -> None:
    """Bodies of 300 m around an arm of 0.9 m were written without a word."""
    write_stl(folder / "part.stl", (60.0, 80.0, 300.0))

    with pytest.raises(ConfigError, match='300 m; .*scale="0.001 0.001 0.001"') as told:
        write_new_robot(write_arm(folder, "part.stl"), tmp_path / "out")

    assert len(told.value.problems) == 4
    assert not list((tmp_path / "out").iterdir())


def test_a_mesh_far_too_small_is_doubted(folder: Path, tmp_path: Path) -> None:
    write_stl(folder / "part.stl", (6e-5, 8e-5, 3e-4))

    report = write_new_robot(write_arm(folder, "part.stl"), tmp_path / "out")

    said = [doubt for doubt in report.doubts if "mesh is 0.3 mm large" in doubt]
    assert len(said) == 4
