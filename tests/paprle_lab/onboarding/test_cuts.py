"""A cut is chosen by the room that it gives back."""

from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot.bodies.collision import make_shape
from paprle_lab.onboarding.cuts import find_cut
from paprle_lab.onboarding.link_pairs import collide, make_primitive
from paprle_lab.onboarding.pieces import Piece


def box(low: tuple[float, ...], high: tuple[float, ...]) -> Vec:
    """Return points of a box as triangles, shape (56, 3, 3)."""
    corners = list(itertools.product(*zip(low, high, strict=True)))
    return np.array(list(itertools.combinations(corners, 3)))


def touch(piece: Piece, other: Piece, at: pin.SE3) -> bool:
    bodies = [
        (make_shape(make_primitive("", one)), one.body.T_mesh_body)
        for one in (piece, other)
    ]
    return collide(*bodies, at)


def test_a_cut_frees_the_side_on_which_the_other_link_passes() -> None:
    # a plate with a step at its end; the bar passes over the plate, before the step
    link = Piece(
        np.concatenate(
            [
                box((0.0, 0.0, 0.0), (1.0, 0.1, 0.02)),
                box((0.9, 0.0, 0.0), (1.0, 0.1, 0.1)),
            ]
        )
    )
    bar = Piece(box((-0.02, -0.02, -0.02), (0.02, 0.02, 0.02)))
    at = {(0, k): pin.SE3(np.eye(3), np.array([x, 0.05, 0.07]))
          for k, x in enumerate(np.linspace(0.7, 0.86, 9))}  # fmt: skip
    assert all(touch(link, bar, T) for T in at.values())

    pieces = [link]
    for _ in range(5):
        lost = {
            (piece, bar): {k for k, T in at.items() if touch(piece, bar, T)}
            for piece in pieces
        }
        lost = {pair: ks for pair, ks in lost.items() if ks}
        if not lost:
            return
        cut = find_cut(lost, at, may_grow=True)
        assert cut is not None
        k = pieces.index(cut.piece)
        pieces[k : k + 1] = cut.halves
    raise AssertionError(f"after five cuts postures are lost to {len(lost)} pieces")


def test_nothing_is_cut_that_may_not_be() -> None:
    cube = box((-0.02, -0.02, -0.02), (0.02, 0.02, 0.02))
    one, other = Piece(cube), Piece(cube)

    found = find_cut(
        {(one, other): {(0, 0)}}, {(0, 0): pin.SE3.Identity()}, may_grow=False
    )

    assert found is None


def test_a_piece_that_may_not_be_cut_gets_another_body() -> None:
    # a plate that lies askew in the box along its axes
    askew = pin.utils.rotate("y", 0.25 * np.pi)
    plate = box((-0.1, -0.1, -0.01), (0.1, 0.1, 0.01)) @ askew.T
    along = Piece(box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))).body
    link = Piece(plate, like=along._replace(shape="box"))
    bar = Piece(box((-0.01, -0.01, -0.01), (0.01, 0.01, 0.01)))
    at = {(0, k): pin.SE3(np.eye(3), np.array([x, 0.0, x]))
          for k, x in enumerate(np.linspace(0.03, 0.06, 9))}  # fmt: skip
    lost = {(link, bar): {key for key, T in at.items() if touch(link, bar, T)}}
    assert len(lost[link, bar]) == len(at)

    found = find_cut(lost, at, may_grow=False)

    assert found is not None
    assert len(found.halves) == 1
    assert not any(touch(found.halves[0], bar, T) for T in at.values())
