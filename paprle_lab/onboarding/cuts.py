"""Choice of a cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot.bodies.collision import make_shape
from paprle.robot.tree import Primitive
from paprle_lab.onboarding.bounding_shapes import Enclosure
from paprle_lab.onboarding.pieces import Piece, TrialCut

_N_POSTURES = 80  # chosen: by which cuts are judged
_N_PIECES = 2  # chosen: of a link, those that lose the most
_N_FINALISTS = 40  # chosen: cuts whose halves get bodies of every shape
_BULKY = 1.5  # chosen: a body larger than the least by this is in other links' way
_TOUCH = 2e-3  # [m] chosen: what a posture costs beside its depth
_GAIN = 0.02  # chosen: a cut that gives back less is not worth a body

Geometry = tuple[coal.CollisionGeometry, pin.SE3]
PiecePair = tuple[Piece, Piece]
Posture = tuple[int, int]  # which pair of links, and which posture of theirs
Lost = Mapping[PiecePair, Collection[Posture]]


class Cut(NamedTuple):
    """A cut of a piece, or its new body as the only half."""

    piece: Piece
    halves: tuple[Piece, ...]


def find_cut(
    lost: Lost, places: Mapping[Posture, pin.SE3], *, may_grow: bool
) -> Cut | None:
    """Return the cut that frees the most room, or None."""
    postures = sorted(set().union(*lost.values()))
    some = np.unique(np.linspace(0, len(postures) - 1, _N_POSTURES).astype(int))
    chosen = [postures[k] for k in some]
    at = [places[posture] for posture in chosen]
    depths: dict[PiecePair, Vec] = {}
    for pair, taken in lost.items():
        rows = [k for k, posture in enumerate(chosen) if posture in taken]
        depths[pair] = np.zeros(len(at))
        depths[pair][rows] = measure_depths(
            place_body(pair[0].body),
            place_body(pair[1].body),
            [at[k] for k in rows],
        )
    losses = [_Loss(piece, depths, at) for piece in _list_worst(depths)]
    guesses = [
        (loss.guess(trial), loss, trial)
        for loss in losses
        for trial in loss.piece.trials
        if may_grow or not trial.is_cut
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
    return Cut(loss.piece, loss.piece.cut(trial.plane, bodies))


class _Loss:
    """Depth lost to a piece and its halves."""

    def __init__(
        self,
        piece: Piece,
        depths: Mapping[PiecePair, Vec],
        at: Sequence[pin.SE3],
    ) -> None:
        self.piece = piece
        self._at = at
        others = [d for pair, d in depths.items() if pair[0] is not piece]
        self._rest = np.max([np.zeros(len(at)), *others], axis=0)
        self._against = [
            (place_body(pair[1].body), d > 0.0)
            for pair, d in depths.items()
            if pair[0] is piece
        ]

    def guess(self, trial: TrialCut) -> float:
        deep = [self._measure(box) for box in trial.boxes]
        return float(np.max([self._rest, *deep], axis=0).sum())

    def fit(self, trial: TrialCut) -> tuple[float, list[Enclosure]]:
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
        one, deep = place_body(body), np.zeros(len(self._at))
        for other, is_near in self._against:
            near = np.flatnonzero(is_near)
            found = measure_depths(one, other, [self._at[k] for k in near.tolist()])
            deep[near] = np.maximum(deep[near], found)
        return deep


def _list_worst(depths: Mapping[PiecePair, Vec]) -> list[Piece]:
    cost: dict[Piece, float] = {}
    for pair, deep in depths.items():
        cost[pair[0]] = cost.get(pair[0], 0.0) + float(deep.sum())
    return sorted(cost, key=lambda piece: -cost[piece])[:_N_PIECES]


def place_body(body: Enclosure) -> Geometry:
    """Return a body for coal with its placement."""
    primitive = Primitive(
        link="", T_link_body=body.T_mesh_body, shape=body.shape, size=body.size
    )
    return make_shape(primitive), body.T_mesh_body


def measure_depths(a: Geometry, b: Geometry, at: Sequence[pin.SE3]) -> Vec:
    """Return penetration depths by posture, [m]."""
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
