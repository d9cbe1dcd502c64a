"""Choose the cut of a link that gives its robot the most room.

Room is lost in postures in which the bodies of two links touch and their meshes do not.
A cut is judged by how deep bodies are in one another there, over all such postures: one
that frees none of them may still be the first of two that do. The bodies of both halves
are chosen by the same sum, not by their volume: what counts is the side on which the
other link comes near.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.onboarding.bounding_shapes import Enclosure
from paprle.onboarding.pieces import Piece, Trial
from paprle.robot.collision import make_shape
from paprle.robot.tree import Primitive

_N_POSTURES = 80  # chosen: by which cuts are judged
_N_PIECES = 2  # chosen: of a link, those that lose the most
_N_FINALISTS = 40  # chosen: cuts whose halves get bodies of every shape
_BULKY = 1.5  # chosen: a body larger than the least by this is in other links' way
_TOUCH = 2e-3  # [m] chosen: what a posture costs beside its depth
_GAIN = 0.02  # chosen: a cut that gives back less is not worth a body

Geometry = tuple[coal.CollisionGeometry, pin.SE3]
PiecePair = tuple[Piece, Piece]


class Cut(NamedTuple):
    """A cut of one piece.

    Attributes:
        side: Whether the piece is of the first link or the second, 0 or 1.
        piece: What is cut.
        halves: What takes its place.
    """

    side: int
    piece: Piece
    halves: tuple[Piece, ...]


def find_cut(
    lost: Mapping[PiecePair, Collection[int]],
    places: Mapping[int, pin.SE3],
    is_cuttable: tuple[bool, bool],
) -> Cut | None:
    """Return the cut that gives back the most room; None where none gives much.

    Args:
        lost: The postures that each two pieces of two links take for nothing.
        places: The second link in the first, by posture.
        is_cuttable: Which of the two links may be cut.
    """
    postures = sorted(set().union(*lost.values()))
    some = np.unique(np.linspace(0, len(postures) - 1, _N_POSTURES).astype(int))
    at = [places[postures[k]] for k in some]
    depths = {
        pair: _measure(_place_body(pair[0].body), _place_body(pair[1].body), at)
        for pair in lost
    }
    losses = [
        _Loss(side, piece, depths, at)
        for side in (0, 1)
        if is_cuttable[side]
        for piece in _list_worst(side, depths)
    ]
    guesses = [
        (loss.guess(trial), loss, trial)
        for loss in losses
        for trial in loss.piece.trials
    ]
    guesses.sort(key=lambda guess: guess[0])
    before = float(np.max(list(depths.values()), axis=0).sum())
    best, least = None, (1.0 - _GAIN) * before
    for _, loss, trial in guesses[:_N_FINALISTS]:
        left, bodies = loss.fit(trial)
        if left < least:
            best, least = (loss, trial, bodies), left
    if best is None:
        return None
    loss, trial, bodies = best
    return Cut(loss.side, loss.piece, loss.piece.cut(trial.plane, bodies))


class _Loss:
    """What is lost to one piece, and what would be to its halves."""

    def __init__(
        self,
        side: int,
        piece: Piece,
        depths: Mapping[PiecePair, Vec],
        at: Sequence[pin.SE3],
    ) -> None:
        self.side, self.piece = side, piece
        self._at = at
        others = [d for pair, d in depths.items() if pair[side] is not piece]
        self._rest = np.max([np.zeros(len(at)), *others], axis=0)
        self._against = [
            (_place_body(pair[1 - side].body), d > 0.0)
            for pair, d in depths.items()
            if pair[side] is piece
        ]

    def guess(self, trial: Trial) -> float:
        """Return about how much is lost after a cut, [m]: boxes flush with it."""
        deep = [self._measure(box) for box in trial.boxes]
        return float(np.max([self._rest, *deep], axis=0).sum())

    def fit(self, trial: Trial) -> tuple[float, list[Enclosure]]:
        """Return what is lost after a cut, [m], and the bodies of its halves."""
        bodies, deep = [], self._rest
        for choices in trial.choices:
            most = _BULKY * min(body.volume for body in choices)
            found = [body for body in choices if body.volume <= most]
            tried = [np.maximum(self._rest, self._measure(body)) for body in found]
            # of two that leave as much the smaller one
            ranks = [(d.sum(), b.volume) for d, b in zip(tried, found, strict=True)]
            k = min(range(len(found)), key=ranks.__getitem__)
            bodies.append(found[k])
            deep = np.maximum(deep, tried[k])
        return float(deep.sum()), bodies

    def _measure(self, body: Enclosure) -> Vec:
        one, deep = _place_body(body), np.zeros(len(self._at))
        for other, is_near in self._against:
            pair = (one, other) if self.side == 0 else (other, one)
            near = np.flatnonzero(is_near)
            found = _measure(*pair, [self._at[k] for k in near.tolist()])
            deep[near] = np.maximum(deep[near], found)
        return deep


def _list_worst(side: int, depths: Mapping[PiecePair, Vec]) -> list[Piece]:
    """Return the pieces of one link that cost the most."""
    cost: dict[Piece, float] = {}
    for pair, deep in depths.items():
        cost[pair[side]] = cost.get(pair[side], 0.0) + float(deep.sum())
    return sorted(cost, key=lambda piece: -cost[piece])[:_N_PIECES]


def _place_body(body: Enclosure) -> Geometry:
    primitive = Primitive(
        link="", T_link_body=body.T_mesh_body, shape=body.shape, size=body.size
    )
    return make_shape(primitive), body.T_mesh_body


def _measure(a: Geometry, b: Geometry, at: Sequence[pin.SE3]) -> Vec:
    """Return what two bodies cost in each posture, [m]; zero where they are apart."""
    request = coal.CollisionRequest()
    request.enable_contact = True
    deep = np.zeros(len(at))
    place = coal.Transform3s(a[1].rotation, a[1].translation)
    for k, T_a_b in enumerate(at):
        T, result = T_a_b * b[1], coal.CollisionResult()
        other = coal.Transform3s(T.rotation, T.translation)
        if coal.collide(a[0], place, b[0], other, request, result):
            deep[k] = _TOUCH + abs(result.getContact(0).penetration_depth)
    return deep
