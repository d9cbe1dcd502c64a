"""Fit bodies to the meshes of a robot: so many pieces that it can still move.

A body around a whole mesh is thicker than its link. Where two links' bodies touch while
their meshes do not, room is lost to the robot. So the links of such a pair are cut into
pieces (``paprle.onboarding.pieces``), until next to none is lost. What lies close for
good, beside a joint, is left out piece by piece: two pieces whose meshes touch in no
posture, all postures 5° apart having been tried, need not be kept apart. Halves are
first the smallest ones, which serves all pairs alike; where that does not suffice they
are those that give back the most (``paprle.onboarding.cuts``). Bodies that
cost nothing stay whole, since the gate measures every pair of them. Pieces are left out
with a millimetre to spare; links that would lose half of their postures without it.

A pair of links whose meshes touch nearly always says nothing of when a robot collides,
but how its meshes were drawn: it is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.onboarding.cuts import Cut, find_cut
from paprle.onboarding.pieces import Given, Piece
from paprle.onboarding.relative import MIDDLE, Ball, Way, list_ways
from paprle.robot.collision import make_shape
from paprle.robot.tree import Primitive, Urdf

_ENOUGH = 0.02  # chosen: of the postures, that bodies may take from the robot
_LITTLE = 0.01  # chosen: of the postures, that a pair may take without being cut
_LITTLE_FINE = 0.005  # chosen: the same, where what others lose is looked at
_MUCH = 0.02  # chosen: of the postures, that a pair takes and a person is told of
_MOST = 6  # chosen: pieces of a link, cut where its bodies get smallest
_MOST_FINE = 14  # chosen: pieces of a link, cut where most room is given back
_ALWAYS = 0.95  # MoveIt Setup Assistant: the share that it calls "always in collision"
_MOSTLY = 0.5  # chosen: of what touches in the middle of all joints' ways as well
_NEAR = 1e-3  # [m] chosen: pieces that come so near may touch between two postures

Pair = tuple[str, str]
Geometry = tuple[coal.CollisionGeometry, pin.SE3]


class Fitted(NamedTuple):
    """Bodies around meshes.

    Attributes:
        pieces: The pieces of each link, in its axes.
        never: Pieces, as link and number, whose meshes touch in no posture although
            their bodies do.
        always: Pairs of links whose meshes touch nearly always.
        blocked: Pairs of links whose bodies touch while their meshes do not, in which
            share of their postures, where that is more than next to none.
    """

    pieces: dict[str, list[Piece]]
    never: tuple[tuple[tuple[str, int], tuple[str, int]], ...]
    always: tuple[Pair, ...]
    blocked: dict[Pair, float]


def fit_bodies(tree: Urdf, meshes: Mapping[str, Vec]) -> Fitted:
    """Cut meshes into pieces until the bodies around them leave the robot its room.

    Args:
        tree: The robot.
        meshes: The triangles of links that have meshes to collide with, in their axes,
            shape (k, 3, 3), [m].

    Returns:
        The bodies, what is to be left out, and what they still keep apart too far.
    """
    wholes: dict[str, list[Piece]] = {k: [Piece(v)] for k, v in meshes.items()}
    for body in tree.primitives:
        wholes.setdefault(body.link, []).append(Given(body))
    links = {name: _Link(parts) for name, parts in wholes.items()}
    balls = {name: link.find_ball() for name, link in links.items()}
    pairs = [
        _LinkPair(links[way.links[0]], links[way.links[1]], way)
        for way in list_ways(tree, balls)
        if not meshes.keys().isdisjoint(way.links)
    ]
    always = [pair for pair in pairs if pair.touches_always()]
    pairs = [pair for pair in pairs if pair not in always]
    _separate(pairs)
    _refine(pairs)
    for pair in pairs:
        if pair.measure_lost() >= _MOSTLY:
            pair.leave_out_if_apart()
    names = {
        id(piece): (name, k)
        for name, link in links.items()
        for k, piece in enumerate(link.pieces)
    }
    lost = {pair.way.links: pair.measure_lost() for pair in pairs}
    return Fitted(
        {name: links[name].list_cuttable() for name in meshes},
        tuple(
            (names[id(one)], names[id(other)])
            for pair in pairs
            for one, other in pair.list_never()
        ),
        tuple(pair.way.links for pair in always),
        {pair: share for pair, share in lost.items() if share > _MUCH},
    )


def _separate(pairs: list[_LinkPair]) -> None:
    """Leave out and cut, the worst pair first, until next to nothing is lost."""
    lost = {pair: pair.measure_lost() for pair in pairs}
    stuck: set[_LinkPair] = set()
    while sum(lost.values()) > _ENOUGH:
        worst = max(
            (pair for pair in pairs if pair not in stuck),
            key=lambda pair: lost[pair],
            default=None,
        )
        if worst is None or lost[worst] < _LITTLE:
            return
        before = lost[worst]
        lost[worst] = worst.measure_lost()  # others may have cut its links
        if lost[worst] == before:
            if not worst.take_away():
                stuck.add(worst)
            lost[worst] = worst.measure_lost()


def _refine(pairs: list[_LinkPair]) -> None:
    """Cut where room is lost still, as long as the robot as a whole gains by it."""
    lost = {pair: pair.measure_lost() for pair in pairs}
    stuck: set[_LinkPair] = set()
    while sum(lost.values()) > _ENOUGH:
        worst = max(
            (pair for pair in pairs if pair not in stuck),
            key=lambda pair: lost[pair],
            default=None,
        )
        if worst is None or lost[worst] < _LITTLE_FINE:
            return
        found = worst.find_cut()
        if found is None:
            stuck.add(worst)
            continue
        link, cut = found
        link.replace([cut.piece], cut.halves)
        after = {pair: pair.measure_lost() for pair in pairs if link in pair.links}
        if sum(after.values()) < sum(lost[pair] for pair in after):
            lost.update(after)
        else:  # what one pair gains others lose
            link.replace(cut.halves, [cut.piece])
            stuck.add(worst)


class _Link:
    """A link and its pieces: of its meshes, then what the URDF states."""

    def __init__(self, wholes: Sequence[Piece]) -> None:
        self.wholes = wholes
        self.pieces = list(wholes)

    def list_cuttable(self) -> list[Piece]:
        """Return the pieces of its meshes."""
        return [piece for piece in self.pieces if not isinstance(piece, Given)]

    def find_ball(self) -> Ball:
        """Return a ball around all that is of it."""
        balls = [_find_ball(piece) for piece in self.wholes]
        centre = np.mean([ball.centre for ball in balls], axis=0)
        reach = [np.linalg.norm(ball.centre - centre) + ball.radius for ball in balls]
        return Ball(centre, float(max(reach)))

    def replace(self, old: Sequence[Piece], new: Sequence[Piece]) -> None:
        """Put halves in the place of what they were cut from, or the other way."""
        at = next(k for k, piece in enumerate(self.pieces) if piece is old[0])
        self.pieces[at : at + len(old)] = new


class _LinkPair:
    """Two links and the postures of the joints between them."""

    def __init__(self, one: _Link, other: _Link, way: Way) -> None:
        self.links = (one, other)
        self.way = way
        self._truth: dict[int, bool] = {}
        self._hits: dict[tuple[Piece, Piece], set[int]] = {}
        self._apart: dict[tuple[Piece, Piece], bool] = {}

    def touches_always(self) -> bool:
        """Return whether the meshes touch nearly always."""
        n = self.way.n
        middle = self._touch(MIDDLE)
        enough = (_MOSTLY if middle else _ALWAYS) * n
        hits = set().union(*self._list_hits().values())
        if len(hits) < enough:
            return False
        return sum(self._touch(k) for k in hits) >= enough

    def measure_lost(self) -> float:
        """Return the share of postures in which bodies touch and meshes do not."""
        return len(self._find_lost()[0]) / self.way.n

    def list_never(self) -> Iterator[tuple[Piece, Piece]]:
        """Yield pieces that need not be kept apart."""
        for one, other in itertools.product(*(link.pieces for link in self.links)):
            if self._is_apart(one, other):
                yield one, other

    def take_away(self) -> bool:
        """Leave out the worst pair of pieces, or halve one of them.

        Returns:
            Whether that was possible.
        """
        by_pair = self._find_lost()[1]
        for one, other in sorted(by_pair, key=lambda key: -len(by_pair[key])):
            if self._are_apart(one, other):
                return True
            order = [(self.links[0], one), (self.links[1], other)]
            order.sort(key=lambda found: -found[1].body.volume)
            for link, piece in order:
                if len(link.pieces) < _MOST and piece.halves:
                    link.replace([piece], piece.halves)
                    return True
        return False

    def find_cut(self) -> tuple[_Link, Cut] | None:
        """Return the cut that gives back the most room, and of which link."""
        one, other = (len(link.pieces) < _MOST_FINE for link in self.links)
        cut = find_cut(self._find_lost()[1], self.way.places, (one, other))
        return None if cut is None else (self.links[cut.side], cut)

    def leave_out_if_apart(self) -> None:
        """Leave out links whose meshes touch in no posture, however near they come.

        A PR2's palm turns within a millimetre of its forearm: no piece is thin enough.
        """
        for one, other in itertools.product(*(link.wholes for link in self.links)):
            a, b = one.surface, other.surface
            if self._can_be_left_out(one, other) and not any(
                collide(a, b, T) for T in self.way.list_fine()
            ):
                self._apart[one, other] = True

    def _find_lost(self) -> tuple[set[int], dict[tuple[Piece, Piece], set[int]]]:
        by_pair = {
            key: {k for k in hits if not self._touch(k)}
            for key, hits in self._list_hits().items()
        }
        by_pair = {key: lost for key, lost in by_pair.items() if lost}
        return set().union(*by_pair.values()), by_pair

    def _list_hits(self) -> dict[tuple[Piece, Piece], set[int]]:
        """Return in which postures bodies touch, by pieces that are kept apart."""
        found = {}
        for one, other in itertools.product(*(link.pieces for link in self.links)):
            key = one, other
            if self._is_apart(one, other):
                continue
            if key not in self._hits:
                self._hits[key] = self._collide(one, other)
            found[key] = self._hits[key]
        return found

    def _is_apart(self, one: Piece, other: Piece) -> bool:
        """Return whether pieces, or any that they were cut from, never touch."""
        return any(
            self._apart.get(key, False)
            for key in itertools.product(one.list_origins(), other.list_origins())
        )

    def _are_apart(self, one: Piece, other: Piece) -> bool:
        """Find out whether two pieces touch in no posture there is."""
        key = one, other
        if key not in self._apart:
            can_be = self._can_be_left_out(one, other)
            self._apart[key] = can_be and not self._may_touch(one, other)
        return self._apart[key]

    def _can_be_left_out(self, one: Piece, other: Piece) -> bool:
        """Return whether all postures can be tried, and both are named by us."""
        is_named = not any(isinstance(piece, Given) for piece in (one, other))
        return self.way.is_whole and is_named

    def _may_touch(self, one: Piece, other: Piece) -> bool:
        a, b = one.surface, other.surface
        rough = sorted(self._hits[one, other])
        if any(collide(a, b, self.way.places[k], _NEAR) for k in rough):
            return True
        bodies = _as_body(one), _as_body(other)
        return any(
            collide(*bodies, T, _NEAR) and collide(a, b, T, _NEAR)
            for T in self.way.list_fine()
        )

    def _collide(self, one: Piece, other: Piece) -> set[int]:
        """Return in which postures bodies touch, of those in which their balls do."""
        keys, R, p = self._places
        balls = _find_ball(one), _find_ball(other)
        between = p + R @ balls[1].centre - balls[0].centre
        near = np.linalg.norm(between, axis=1) <= balls[0].radius + balls[1].radius
        a, b = _as_body(one), _as_body(other)
        return {int(k) for k in keys[near] if collide(a, b, self.way.places[int(k)])}

    @cached_property
    def _places(self) -> tuple[Vec, Vec, Vec]:
        """Postures, and the second link's rotations and places in the first."""
        keys = np.array(sorted(self.way.places.keys() - {MIDDLE}), dtype=int)
        found = [self.way.places[int(k)] for k in keys]
        R = np.array([T.rotation for T in found]).reshape(-1, 3, 3)
        return keys, R, np.array([T.translation for T in found]).reshape(-1, 3)

    def _touch(self, k: int) -> bool:
        """Return whether the meshes touch in a posture."""
        if k not in self._truth:
            pairs = itertools.product(*(link.wholes for link in self.links))
            self._truth[k] = any(
                collide(one.surface, other.surface, self.way.places[k])
                for one, other in pairs
            )
        return self._truth[k]


def collide(a: Geometry, b: Geometry, T_a_b: pin.SE3, margin: float = 0.0) -> bool:
    """Return whether geometries of two links touch, or come as near as a margin.

    Args:
        a: A geometry and its place in its link.
        b: Another.
        T_a_b: The link of b in that of a.
        margin: [m].
    """
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = margin
    T = T_a_b * b[1]
    at = (_place(a[1]), _place(T))
    return bool(coal.collide(a[0], at[0], b[0], at[1], request, result))


def make_primitive(link: str, piece: Piece, name: str = "") -> Primitive:
    """Return the body of a piece as one of a URDF."""
    body = piece.body
    return Primitive(
        link=link,
        T_link_body=body.T_mesh_body,
        shape=body.shape,
        size=body.size,
        name=name,
    )


def _find_ball(piece: Piece) -> Ball:
    """Return the ball around the body of a piece."""
    body = piece.body
    if body.shape == "box":
        radius = 0.5 * float(np.linalg.norm(body.size))
    else:  # of a cylinder less would do
        radius = body.size[0] + 0.5 * sum(body.size[1:])
    return Ball(body.T_mesh_body.translation, radius)


def _as_body(piece: Piece) -> Geometry:
    return make_shape(make_primitive("", piece)), piece.body.T_mesh_body


def _place(T: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(T.rotation, T.translation)
