"""``paprle evaluate --strict`` finds what the gate was told wrongly, and says when."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path

import pytest

from paprle.cli import main

pytestmark = pytest.mark.long

RUN = ("leader=autopilot", "leader.size=0.2", "leader.plane=xy", "leader.shape=square",
       "leader.speed=0.2", "env=kinematic", "session.clock=virtual")  # fmt: skip
FACES = "0 1 3 0 3 2 4 6 7 4 7 5 0 4 5 0 5 1 2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3"


def write_box(path: Path, *size: float) -> None:
    """Write a box as a mesh, of 8 corners and 12 triangles."""
    corners = list(product(*((-0.5 * s, 0.5 * s) for s in size)))
    lines = ["o box", *(f"v {x} {y} {z}" for x, y, z in corners)]
    faces = [int(k) + 1 for k in FACES.split()]
    lines += [f"f {a} {b} {c}" for a, b, c in zip(*[iter(faces)] * 3, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    """Describe a hand on three slides, 7 cm from a wall on either side, as meshes."""
    write_box(tmp_path / "wall.obj", 0.04, 1.0, 1.0)
    write_box(tmp_path / "hand.obj", 0.06, 0.06, 0.06)
    shape = (
        '<collision><origin xyz="{} 0 0.8"/><geometry><mesh filename="wall.obj"/>'
        "</geometry></collision>"
    )
    links = f'<link name="base">{shape.format(-0.12)}{shape.format(0.12)}</link>'
    links += '<link name="x"/><link name="y"/>'
    links += f'<link name="z">{shape.format(0).replace("wall", "hand")}</link>'
    links = links.replace('"0 0 0.8"', '"0 0 0"')
    joints = "".join(
        f'<joint name="{child}" type="prismatic"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="0 0 {z}"/><axis xyz="{axis}"/>'
        '<limit lower="-0.3" upper="0.3" velocity="0.4" effort="9"/></joint>'
        for parent, child, axis, z in (
            ("base", "x", "1 0 0", 0.8),
            ("x", "y", "0 1 0", 0.0),
            ("y", "z", "0 0 1", 0.0),
        )
    )
    urdf = tmp_path / "gantry.urdf"
    urdf.write_text(f'<robot name="gantry">{links}{joints}</robot>')
    assert (
        main(["new-robot", str(urdf), "--name", "gantry", "--out", str(tmp_path / "o")])
        == 0
    )
    return tmp_path / "o" / "gantry.yaml"


def judge(yaml: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Drive the hand 10 cm to either side; return the exit code and what was said."""
    out = yaml.parent / "recorded"
    assert main(["run", *RUN, f"follower={yaml}", f"record.dir={out}"]) in (0, 5)
    capsys.readouterr()
    code = main(["evaluate", str(out / "episode_000000.mcap"), "--strict"])
    return code, "".join(capsys.readouterr())


def thin(yaml: Path, share: float) -> None:
    """Make the bodies of the walls thinner by hand."""
    urdf = yaml.with_suffix(".urdf")
    root = ET.fromstring(urdf.read_text())
    for box in root.iterfind("link[@name='base']/collision/geometry/box"):
        x, *rest = box.get("size", "").split()
        box.set("size", " ".join([str(share * float(x)), *rest]))
    urdf.write_text(ET.tostring(root, encoding="unicode"))


@pytest.mark.nightly
def test_bodies_that_hold_their_meshes_are_right(yaml, capsys) -> None:
    code, said = judge(yaml, capsys)

    assert code == 0, said
    assert "none touched\n" in said + "\n"


@pytest.mark.parametrize(
    ("share", "found"),
    [
        (0.3, "in"),
        pytest.param(0.8, "nearer than", marks=pytest.mark.nightly),
    ],
)
def test_a_body_that_is_too_thin_is_found_with_pair_and_times(
    yaml, capsys, share, found
) -> None:
    thin(yaml, share)

    code, said = judge(yaml, capsys)

    assert code == 1
    assert re.search(rf"base – z {found}.* from \d+\.\d+ s to \d+\.\d+ s", said)
    assert ("TOUCHING" in said) == (share == 0.3)
    assert "NEARER than told" in said


@pytest.mark.nightly
def test_a_pair_that_was_wrongly_ignored_is_found(yaml, capsys) -> None:
    text = yaml.read_text()
    assert "ignore_collisions" not in text
    yaml.write_text(text + "ignore_collisions:\n  - [base, z]\n")

    code, said = judge(yaml, capsys)

    assert code == 1
    assert re.search(r"base – z in \d+, from \d+\.\d+ s to \d+\.\d+ s", said)
