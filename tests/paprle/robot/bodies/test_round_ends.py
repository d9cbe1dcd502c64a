"""A capsule that is written in a URDF's own shapes is one body again."""

from __future__ import annotations

from pathlib import Path

import pinocchio as pin
import pytest

from paprle.robot.urdf import read_urdf

SHAPE = (
    '<collision name="{name}"><origin xyz="{xyz}" rpy="0 1.5707963 0"/>'
    "<geometry>{shape}</geometry></collision>"
)
ROD = ("rod", "0.1 0 0", '<cylinder radius="0.03" length="0.2"/>')
ENDS = (
    ("low", "0 0 0", '<sphere radius="0.03"/>'),
    ("high", "0.2 0 0", '<sphere radius="0.03"/>'),
)


def write(folder: Path, *shapes: tuple[str, str, str]) -> Path:
    text = "".join(SHAPE.format(name=n, xyz=xyz, shape=s) for n, xyz, s in shapes)
    path = folder / "r.urdf"
    path.write_text(f'<robot name="r"><link name="l">{text}</link></robot>')
    return path


def test_a_rod_with_two_ends_is_a_capsule(tmp_path: Path) -> None:
    (body,) = read_urdf(write(tmp_path, ROD, *ENDS)).primitives

    assert (body.shape, body.size, body.name) == ("capsule", (0.03, 0.2), "rod")


@pytest.mark.parametrize(
    "shapes",
    [
        (ROD, ENDS[0]),
        (*ENDS, ROD),
        (ROD, ENDS[0], ("high", "0.21 0 0", '<sphere radius="0.03"/>')),
        (ROD, ENDS[0], ("high", "0.2 0 0", '<sphere radius="0.02"/>')),
    ],
    ids=["one end", "before it", "beside its end", "smaller"],
)
def test_other_shapes_stay_as_they_are(tmp_path: Path, shapes) -> None:
    bodies = read_urdf(write(tmp_path, *shapes)).primitives

    assert [body.name for body in bodies] == [name for name, _, _ in shapes]


def test_other_readers_see_all_of_it(tmp_path: Path) -> None:
    path = write(tmp_path, ROD, *ENDS)
    model = pin.buildModelFromUrdf(str(path))

    shapes = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION)

    assert shapes.ngeoms == 3
