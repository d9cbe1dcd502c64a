"""Meshes of .dae files are in the unit that these state."""

from __future__ import annotations

import numpy as np
import pytest
from small_arms import write_arm

from paprle.contracts.kit.work import Work
from paprle.contracts.urdf.mesh_units import read_unit
from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.new_robot import write_new_robot

FACES = "0 1 3 0 3 2 4 7 5 4 6 7 0 4 5 0 5 1 2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3"
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{unit}<up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="24">{corners}</float_array>
<technique_common><accessor source="#a" count="8" stride="3"><param name="X"
type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>
</technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/><p>{faces}</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/>
</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
SIZE = (0.06, 0.08, 0.2)  # [m]
MESH = (
    '<joint name="weld" type="fixed"><parent link="link6"/><child link="part"/></joint>'
    '<link name="part"><collision><geometry><mesh filename="part.dae"{scale}/>'
    "</geometry></collision></link>"
)


def write_dae(path, per_metre, unit):
    corners = np.array(
        [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    )
    text = " ".join(f"{x:g}" for x in (corners * SIZE * per_metre).ravel())
    path.write_text(DAE.format(unit=unit, corners=text, faces=FACES))


@pytest.mark.parametrize(
    ("per_metre", "unit", "scale"),
    [
        (1e3, '<unit name="millimeter" meter="0.001"/>', ""),
        (1e2, "<unit meter='0.01' name='cm'/>", ""),
        (1.0, '<unit name="meter" meter="1"/>', ""),
        (1.0, "", ""),
        (1e3, '<unit meter="0.01"/>', ' scale="0.1 0.1 0.1"'),
    ],
    ids=["millimetres", "centimetres", "metres", "none", "and a scale"],
)
def test_a_body_has_the_size_of_a_mesh_in_its_unit(per_metre, unit, scale, tmp_path):
    write_dae(tmp_path / "part.dae", per_metre, unit)
    urdf = write_arm(tmp_path / "arm.urdf", more=MESH.format(scale=scale))

    report = write_new_robot(urdf, tmp_path / "out", "arm")

    bodies = read_urdf(RobotModel.from_yaml(report.path).urdf_path).primitives
    [box] = [body for body in bodies if body.link == "part"]
    assert sorted(box.size) == pytest.approx(sorted(SIZE), abs=1e-3)


@pytest.mark.parametrize("stated", ["0", "-1", "inf", "one"])
def test_an_invalid_unit_is_refused(stated, tmp_path):
    path = tmp_path / "part.dae"
    path.write_text(f'<asset><unit meter="{stated}"/></asset>')

    with pytest.raises(ValueError, match="unit: expected metres above 0"):
        read_unit(path)


def test_other_formats_are_in_metres(tmp_path):
    assert read_unit(tmp_path / "part.STL") == 1.0


def test_a_urdf_in_millimetres_is_told(tmp_path):
    far = (
        '<joint name="weld" type="fixed"><parent link="link6"/><child link="part"/>'
        '<origin xyz="0 0 150"/></joint><link name="part"/>'
    )

    doubts = RobotModel.from_urdf(
        write_arm(tmp_path / "arm.urdf", more=far)
    ).list_doubts()

    assert len(doubts) == 1
    assert "weld 150 m; are these millimetres or centimetres?" in doubts[0]


def test_each_step_of_the_work_is_noted(tmp_path):
    write_dae(tmp_path / "part.dae", 1.0, "")
    urdf = write_arm(tmp_path / "arm.urdf", more=MESH.format(scale=""))
    noted = []
    work = Work()
    work.note = noted.append

    write_new_robot(urdf, tmp_path / "out", "arm", work=work)

    assert noted[0] == "reading meshes"
    assert "fitting bodies to meshes of 1 links" in noted
    assert noted[-1] == "trying targets around home"
