"""The judge with meshes sees what the gate was told, or is wrong, not to keep apart."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import GateState
from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf
from paprle_lab.evaluation.bodies.clearance import STEP, judge_clearance
from paprle_lab.evaluation.bodies.meshes import judge_contacts
from paprle_lab.onboarding.mesh_bodies import cover_meshes

GATE = np.dtype(
    [
        ("stamp_ns", "i8"),
        ("k", "u4"),
        ("state", "u1"),
        ("q_cmd", "f8", (2,)),
        ("reasons", "u8"),
    ]
)
CUBE = """solid c
facet normal 0 0 1
outer loop
vertex -1 -1 {z}
vertex 1 -1 {z}
vertex 0 1 {z}
endloop
endfacet
"""
# two hands that slide towards each other, 20 cm apart at 0, 10 cm wide
SHAPE = (
    '<collision><geometry><mesh filename="part.stl" scale="0.05 0.05 0.05"/>'
    "</geometry></collision>"
)
SLIDE = (
    '<joint name="{0}" type="prismatic"><parent link="base"/><child link="{0}_link"/>'
    '<origin xyz="{1} 0 0"/><axis xyz="{2} 0 0"/>'
    '<limit lower="-0.2" upper="0.2" velocity="1" effort="1"/></joint>'
    f'<link name="{{0}}_link">{SHAPE}</link>'
)


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    part = "".join(CUBE.format(z=z) for z in (-1, 0, 1)).replace("solid c\n", "")
    (tmp_path / "part.stl").write_text(f"solid c\n{part}endsolid c\n")
    path = tmp_path / "hands.urdf"
    hands = SLIDE.format("a", -0.1, 1) + SLIDE.format("b", 0.1, -1)
    path.write_text(f'<robot name="r"><link name="base"/>{hands}</robot>')
    cover_meshes(read_urdf(path), tmp_path / "copy.urdf")
    return tmp_path / "copy.urdf"


def record(urdf: Path, gap: float, ignored: list[list[str]]) -> SimpleNamespace:
    """Both hands come nearer, until their meshes are a gap apart."""
    places = np.linspace(0.0, 0.05 - 0.5 * gap, 40)
    rows = np.zeros(len(places) + 1, GATE)
    rows["k"], rows["q_cmd"][1:] = np.arange(len(rows)), places[:, None]
    rows["stamp_ns"] = 7_000_000_000 + 100_000_000 * rows["k"].astype(np.int64)
    rows["state"][:1], rows["state"][1:] = GateState.DISARMED, GateState.ENGAGED
    config = {
        "gate": {"clearance_self": 0.01, "clearance_scene": 0.02},
        "follower": {"ignore_collisions": ignored},
    }
    info = RobotModel.from_urdf(urdf).info
    text = urdf.read_text()
    return SimpleNamespace(config=config, gate=rows, robot_info=info, urdf=text)


def test_a_pair_that_the_model_left_out_is_seen(urdf: Path) -> None:
    episode = record(urdf, -0.02, [["a_link", "b_link"]])

    assert judge_clearance(episode) is None
    found = judge_contacts(episode)
    assert set(found.touching) == {("a_link", "b_link")}
    n, first, last = found.touching["a_link", "b_link"]
    assert 0 < n < found.n_looks
    assert last == pytest.approx(4.0)  # the last of forty commands, one each 0.1 s
    gap = 0.1 - 2.0 * np.interp(first, [0.1, 4.0], [0.0, 0.06])
    assert -2.1 * STEP < gap <= 1e-9  # two hands, a look each STEP


def test_meshes_that_stay_apart_are_fine(urdf: Path) -> None:
    found = judge_contacts(record(urdf, 0.004, []))

    assert found.n_looks > 3
    assert (found.touching, found.left_out) == ({}, ())


def test_without_meshes_nothing_is_judged(urdf: Path) -> None:
    bare = urdf.read_text()
    cut = bare[: bare.index("<paprle>")] + bare[bare.index("</paprle>") + 9 :]
    urdf.write_text(cut)

    assert judge_contacts(record(urdf, 0.004, [])) is None


def test_a_mesh_that_is_gone_is_an_error(urdf: Path) -> None:
    (urdf.parent / "part.stl").unlink()

    with pytest.raises(ConfigError, match="expected the mesh .*part.stl"):
        judge_contacts(record(urdf, 0.004, []))


def test_bodies_too_thin_let_meshes_come_nearer_than_told(urdf: Path) -> None:
    """Only touching was looked for: 4 mm where 10 were kept passed."""
    text = urdf.read_text()
    whole = judge_contacts(record(urdf, 0.004, []))
    thin = re.sub(r'size="[^"]*"', 'size="0.03 0.03 0.03"', text)
    assert thin != text
    urdf.write_text(thin)

    found = judge_contacts(record(urdf, 0.004, []))

    assert (whole.nearer, found.touching) == ({}, {})
    n, first, last = found.nearer["a_link", "b_link"]
    assert 0 < n < found.n_looks
    gap = 0.1 - 2.0 * np.interp(first, [0.1, 4.0], [0.0, 0.048])
    assert 0.01 - 2.1 * STEP < gap < 0.01
    assert last == pytest.approx(4.0)
