"""Meshes are cut until their bodies leave room; what never touches is left out."""

from __future__ import annotations

import itertools
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from cells import spread

from paprle.contracts.types import Vec
from paprle.robot.bodies.collision import make_shape
from paprle.robot.tree import Urdf
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.fit import fit_bodies
from paprle_lab.onboarding.link_pairs import make_primitive

JOINT = (
    '<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{j}"/>'
    '<axis xyz="{axis}"/><limit lower="-3.2" upper="3.2" velocity="1"/></joint>'
)


@pytest.fixture
def tree(tmp_path: Path) -> Urdf:
    """Four links: l0 and l2 with two joints between, l3 fixed to l2."""
    joints = [("revolute", "0 0 1"), ("revolute", "0 0 1"), ("fixed", "0 0 1")]
    text = "".join(f'<link name="l{i}"/>' for i in range(4)) + "".join(
        JOINT.format(i=i, j=i + 1, kind=kind, axis=axis)
        for i, (kind, axis) in enumerate(joints)
    )
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{text}</robot>')
    return read_urdf(path)


def box(low: tuple[float, ...], high: tuple[float, ...]) -> Vec:
    """Return the surface of a box as triangles, shape (12, 3, 3)."""
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    faces.append((1, 5, 7, 3))
    found = [((a, b, c), (a, c, d)) for a, b, c, d in faces]
    return corners[np.array(found).reshape(-1, 3)]


def corner(size: float) -> Vec:
    """Return two bars that meet at a right angle, and hold a post between them."""
    return np.concatenate(
        [
            box((-0.02, -0.02, 0.0), (size, 0.02, 0.04)),
            box((-0.02, -0.02, 0.0), (0.02, size, 0.04)),
        ]
    )


def tube(radius: float) -> Vec:
    """Return a tube of 36 sides about z, shape (72, 3, 3)."""
    turns = np.linspace(0.0, 2.0 * np.pi, 37)
    low = radius * np.stack([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    high = low + [0.0, 0.0, 0.05]
    sides = [(low[:-1], low[1:], high[1:]), (low[:-1], high[1:], high[:-1])]
    return np.concatenate([np.stack(side, axis=1) for side in sides])


def test_links_that_lie_open_stay_whole(tree: Urdf) -> None:
    bar = box((0.2, -0.02, 0.0), (0.3, 0.02, 0.04))

    found = fit_bodies(tree, {"l0": bar, "l2": bar + [0.0, 0.0, 0.5]})

    assert [len(pieces) for pieces in found.pieces.values()] == [1, 1]
    assert (found.never, found.always, found.blocked) == ((), (), {})


@pytest.mark.long
def test_meshes_that_never_touch_are_left_out_though_their_bodies_overlap(
    tree: Urdf,
) -> None:
    # a ring about the axis, and a post within it: every posture, but no mesh, overlaps
    ring = np.concatenate(
        [
            box((0.08, -0.1, 0.0), (0.1, 0.1, 0.1)),
            box((-0.1, -0.1, 0.0), (-0.08, 0.1, 0.1)),
        ]
    )
    post = box((-0.02, -0.02, 0.0), (0.02, 0.02, 0.1))

    found = fit_bodies(tree, {"l0": ring, "l2": post})

    assert found.never == ((("l0", 0), ("l2", 0)),)
    assert not found.blocked


@pytest.mark.long
def test_links_are_cut_where_their_bodies_take_room(tree: Urdf) -> None:
    # the hollow of an angle is free for the other link's post in half of all turns
    post = box((0.08, 0.08, 0.0), (0.1, 0.1, 0.04))

    found = fit_bodies(tree, {"l0": corner(0.3), "l3": post})

    assert len(found.pieces["l0"]) > 1
    assert not found.blocked
    assert not found.always


@pytest.mark.long
def test_room_that_is_lost_in_a_narrow_band_is_seen(tmp_path: Path) -> None:
    # 6 % of a lift's way, at no whole share of it
    text = "".join(f'<link name="l{i}"/>' for i in range(3)) + "".join(
        JOINT.format(i=i, j=i + 1, kind=kind, axis="0 0 1").replace("3.2", way)
        for i, (kind, way) in enumerate((("prismatic", "1"), ("revolute", "1")))
    )
    path = tmp_path / "lift.urdf"
    path.write_text(f'<robot name="lift">{text}</robot>')
    post = box((0.08, 0.08, 0.3), (0.1, 0.1, 0.38))

    found = fit_bodies(read_urdf(path), {"l0": corner(0.3), "l2": post})

    assert len(found.pieces["l0"]) > 1
    assert not found.blocked


def test_meshes_that_one_joint_never_parts_are_reported(tmp_path: Path) -> None:
    # a knob on the last link, a millimetre above a plate, and within it now and then
    text = "".join(f'<link name="l{i}"/>' for i in range(3)) + "".join(
        JOINT.format(i=i, j=i + 1, kind=kind, axis="0 0 1")
        for i, kind in enumerate(("revolute", "fixed"))
    )
    path = tmp_path / "bearing.urdf"
    path.write_text(f'<robot name="bearing">{text}</robot>')
    plate = np.concatenate(
        [
            box((-0.1, -0.1, 0.0), (0.1, 0.1, 0.02)),
            box((-0.1, -0.1, 0.0), (-0.05, 0.1, 0.03)),
        ]
    )
    knob = box((0.06, -0.01, 0.021), (0.08, 0.01, 0.04))

    found = fit_bodies(read_urdf(path), {"l0": plate, "l2": knob})

    assert found.always == (("l0", "l2"),)


def test_meshes_that_touch_in_every_posture_are_reported(tree: Urdf) -> None:
    post = box((-0.02, -0.02, 0.0), (0.02, 0.02, 0.1))

    found = fit_bodies(tree, {"l0": post, "l2": post * 0.9})

    assert found.always == (("l0", "l2"),)


def test_neighbours_are_no_question_here(tree: Urdf) -> None:
    post = box((-0.02, -0.02, 0.0), (0.02, 0.02, 0.1))

    found = fit_bodies(tree, {"l0": post, "l1": post})

    assert (found.never, found.always, found.blocked) == ((), (), {})


@pytest.mark.long
def test_bodies_touch_in_each_posture_in_which_meshes_do(tree: Urdf) -> None:
    meshes = {"l0": corner(0.3), "l3": box((0.02, 0.08, 0.0), (0.1, 0.1, 0.04))}
    found = fit_bodies(tree, meshes)
    rng = np.random.default_rng(4)
    kept = [
        (a, b)
        for a, b in itertools.product(*map(enumerate, found.pieces.values()))
        if (("l0", a[0]), ("l3", b[0])) not in found.never
    ]
    n_touching = 0
    for angle in rng.uniform(-np.pi, np.pi, 300):
        T = pin.SE3(pin.utils.rotate("z", angle), np.zeros(3))
        if not _touch((_mesh(meshes["l0"]), pin.SE3.Identity()),
                      (_mesh(meshes["l3"]), T)):  # fmt: skip
            continue
        n_touching += 1
        assert any(
            _touch(
                (make_shape(make_primitive("", a)), a.body.T_mesh_body),
                (make_shape(make_primitive("", b)), T * b.body.T_mesh_body),
            )
            for (_, a), (_, b) in kept
        )
    assert n_touching > 20


@pytest.mark.parametrize(
    ("multiplier", "is_kept"), spread([(-4.0, True), (0.0, False)], (-4.0, True))
)
def test_a_mimic_joint_is_sampled_at_its_driven_positions(
    tmp_path: Path, multiplier: float, is_kept: bool
) -> None:
    # a quarter of a turn away; the joint that mimics states no range of its own
    text = "".join(f'<link name="l{i}"/>' for i in range(3)) + (
        JOINT.format(i=0, j=1, kind="revolute", axis="0 0 1").replace("3.2", "0.5")
        + '<joint name="j1" type="revolute"><parent link="l1"/><child link="l2"/>'
        f'<axis xyz="0 0 1"/><mimic joint="j0" multiplier="{multiplier}"/></joint>'
    )
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{text}</robot>')
    # a hook around the way of the other: bodies overlap when both are at rest
    beside = np.concatenate(
        [
            box((-0.05, 0.25, 0.0), (0.05, 0.35, 0.04)),
            box((0.25, -0.02, 0.1), (0.35, 0.02, 0.14)),
        ]
    )
    other = box((0.25, -0.05, 0.0), (0.35, 0.05, 0.04))

    found = fit_bodies(read_urdf(path), {"l0": beside, "l2": other})

    kept = len(found.pieces["l0"]) * len(found.pieces["l2"]) - len(found.never)
    assert (kept > 0) == is_kept


def _mesh(triangles: Vec) -> coal.BVHModelBase:
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(triangles), 3 * len(triangles))
    for a, b, c in triangles:
        mesh.addTriangle(a, b, c)
    mesh.endModel()
    return mesh


def _touch(
    a: tuple[coal.CollisionGeometry, pin.SE3], b: tuple[coal.CollisionGeometry, pin.SE3]
) -> bool:
    at = [coal.Transform3s(T.rotation, T.translation) for _, T in (a, b)]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    return bool(coal.collide(a[0], at[0], b[0], at[1], request, result))


@pytest.mark.nightly
def test_links_too_near_for_any_piece_are_left_out_where_they_never_touch(
    tree: Urdf,
) -> None:
    # half a millimetre between a tube and one within it
    found = fit_bodies(tree, {"l0": tube(0.08), "l2": tube(0.0792)})

    n_bodies = [len(pieces) for pieces in found.pieces.values()]
    assert len(found.never) == n_bodies[0] * n_bodies[1]
    assert not found.blocked


@pytest.mark.nightly
def test_links_that_touch_in_a_few_postures_are_kept_though_most_are_lost(
    tree: Urdf,
) -> None:
    spoke = box((0.0792, -0.001, 0.0), (0.09, 0.001, 0.05))
    gap = box((0.085, -0.001, 0.0), (0.09, 0.001, 0.05))
    inside = np.concatenate([tube(0.0792), spoke])

    found = fit_bodies(tree, {"l0": np.concatenate([tube(0.1), gap]), "l2": inside})

    assert len(found.never) < np.prod([len(p) for p in found.pieces.values()])


@pytest.mark.long
def test_links_are_cut_where_they_take_room_from_a_body_of_the_urdf(
    tmp_path: Path, tree: Urdf
) -> None:
    # the post in the hollow of the angle, as a box that the URDF states
    text = tree.path.read_text().replace(
        '<link name="l3"/>',
        '<link name="l3"><collision><origin xyz="0.09 0.09 0.02"/><geometry>'
        '<box size="0.02 0.02 0.04"/></geometry></collision></link>',
    )
    path = tmp_path / "stated.urdf"
    path.write_text(text)

    found = fit_bodies(read_urdf(path), {"l0": corner(0.3)})

    assert found.pieces.keys() == {"l0"}
    assert len(found.pieces["l0"]) > 1
    assert not found.blocked
