"""Bodies around meshes keep apart what can meet, unless they are far too thick."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from paprle.onboarding.exempt_pairs import LinkShapes, Unjudged, find_unjudged
from paprle.robot.tree import Urdf
from paprle.robot.urdf import read_urdf

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


def ball(x: float, radius: float, y: float = 0.0) -> tuple[coal.Sphere, pin.SE3]:
    return coal.Sphere(radius), pin.SE3(np.eye(3), np.array([x, y, 0.0]))


def shapes(*meshes: tuple[coal.Sphere, pin.SE3], body: float) -> LinkShapes:
    """Return meshes, and a ball about the origin for a body."""
    return LinkShapes(list(meshes), [ball(0.0, body)])


def test_links_that_never_touch_are_found_through_their_bodies(tree: Urdf) -> None:
    links = {"l0": shapes(ball(0.3, 0.05), body=0.35), "l2": shapes(body=0.2)}
    links["l2"].meshes.append(ball(0.1, 0.05))

    assert find_unjudged(tree, links) == Unjudged(never=(("l0", "l2"),))


def test_links_that_may_touch_inside_thick_bodies_are_told_apart(tree: Urdf) -> None:
    links = {
        "l0": shapes(ball(0.3, 0.05), body=0.35),
        "l3": shapes(ball(0.3, 0.05), body=0.35),
    }

    assert find_unjudged(tree, links) == Unjudged(thick=(("l0", "l3"),))


def test_links_whose_bodies_fit_are_kept_apart(tree: Urdf) -> None:
    link = LinkShapes([ball(0.3, 0.05)], [ball(0.3, 0.055)])

    assert find_unjudged(tree, {"l0": link, "l2": link}) == Unjudged()


def test_links_with_one_joint_between_are_no_question_here(tree: Urdf) -> None:
    links = {"l0": shapes(ball(0.3, 0.05), body=0.35), "l1": shapes(body=0.2)}

    assert find_unjudged(tree, links) == Unjudged()


@pytest.mark.parametrize(("multiplier", "is_kept"), [(-4.0, True), (0.0, False)])
def test_what_mimics_is_tried_where_it_is_taken_to(
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
    beside = LinkShapes([ball(0.0, 0.05, y=0.3)], [ball(0.0, 0.055, y=0.3)])
    links = {"l0": beside, "l2": LinkShapes([ball(0.3, 0.05)], [ball(0.3, 0.055)])}

    found = find_unjudged(read_urdf(path), links)

    assert found == (Unjudged() if is_kept else Unjudged(never=(("l0", "l2"),)))
