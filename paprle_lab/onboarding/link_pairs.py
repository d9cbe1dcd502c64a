"""Links in pieces, and the room lost between two of them.

Random postures count as lost if bodies of two links touch and no meshes do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot.tree import Primitive
from paprle_lab.onboarding.cuts import Geometry, PiecePair, measure_depths, place_body
from paprle_lab.onboarding.pieces import Given, Piece
from paprle_lab.onboarding.relative import MIDDLE, N_POSTURES, Ball, Way

_MOST = 6  # chosen: pieces of a link, cut where its bodies get smallest
_ALWAYS = 0.95  # MoveIt Setup Assistant: the share that it calls "always in collision"
MOSTLY = 0.5  # chosen: of what touches in the middle of all joints' ways as well
_NEAR = 1e-3  # [m] chosen: pieces that come so near may touch between two postures
_CLOSE = 3e-3  # [m] chosen: what stays so near about one joint is its bearing
_STRIDE = 20  # chosen: of one joint's postures every so many show where it is near


class LinkPieces:
    """Pieces of a link: of meshes, then of the URDF."""

    def __init__(self, wholes: Sequence[Piece]) -> None:
        self.wholes = wholes
        self.pieces = list(wholes)

    def list_cuttable(self) -> list[Piece]:
        """Return pieces of meshes."""
        return [piece for piece in self.pieces if not isinstance(piece, Given)]

    def find_ball(self) -> Ball:
        """Return a ball around the link."""
        balls = [_find_ball(piece) for piece in self.wholes]
        centre = np.mean([ball.centre for ball in balls], axis=0)
        reach = [np.linalg.norm(ball.centre - centre) + ball.radius for ball in balls]
        return Ball(centre, float(max(reach)))

    def replace(self, old: Sequence[Piece], new: Sequence[Piece]) -> None:
        """Replace pieces by their halves, or the reverse."""
        at = next(k for k, piece in enumerate(self.pieces) if piece is old[0])
        self.pieces[at : at + len(old)] = new


class LinkPair:
    """Two links and postures; ``way``: the second in the first."""

    def __init__(
        self, one: LinkPieces, other: LinkPieces, way: Way, touching: set[int]
    ) -> None:
        self.links = (one, other)
        self.way = way
        self._touching = touching
        self._truth: dict[int, bool] = {}
        self._hits: dict[PiecePair, set[int]] = {}
        self._depths: dict[PiecePair, dict[int, float]] = {}
        self._apart: dict[PiecePair, bool] = {}

    def touches_always(self) -> bool:
        """Return whether the meshes nearly always touch."""
        middle = self._touch(MIDDLE)
        enough = (MOSTLY if middle else _ALWAYS) * N_POSTURES
        hits = self.find_hits()
        if len(hits) < enough:
            return False
        return sum(self._touch(k) for k in hits) >= enough

    def is_bearing(self) -> bool:
        """Return whether one joint separates meshes that always touch."""
        is_always_near = len(self.way.places.keys() - {MIDDLE}) == N_POSTURES
        return (
            self.way.n_joints == 1
            and is_always_near
            and all(self._touch_by(k, _CLOSE) for k in range(0, N_POSTURES, _STRIDE))
        )

    def find_hits(self) -> set[int]:
        """Return postures with touching bodies."""
        return set().union(*self._list_hits().values())

    def add_touching(self) -> None:
        """Add postures with touching meshes."""
        more = {k for k in self.find_hits() - self._touching if self._touch(k)}
        self._touching |= more

    def measure_lost(self) -> float:
        """Return the share of free postures with touching bodies."""
        return len(set().union(*self.find_lost().values())) / self._n_free

    def measure_depth(self) -> float:
        """Return the mean penetration in free postures, [m]."""
        deep: dict[int, float] = {}
        for (one, other), lost in self.find_lost().items():
            known = self._depths.setdefault((one, other), {})
            new = [k for k in lost if k not in known]
            found = measure_depths(
                place_body(one.body),
                place_body(other.body),
                [self.way.places[k] for k in new],
            )
            known.update(zip(new, found.tolist(), strict=True))
            for k in lost:
                deep[k] = max(deep.get(k, 0.0), known[k])
        return sum(deep.values()) / self._n_free

    def list_never(self) -> Iterator[PiecePair]:
        """Yield exempt pairs of pieces."""
        for one, other in itertools.product(*(link.pieces for link in self.links)):
            if self._is_apart(one, other):
                yield one, other

    def take_away(self) -> bool:
        """Exempt or halve the worst pair of pieces; return whether possible."""
        by_pair = self.find_lost()
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

    def leave_out_if_apart(self) -> None:
        """Exempt links whose meshes never touch."""
        for one, other in itertools.product(*(link.wholes for link in self.links)):
            a, b = one.surface, other.surface
            if self._can_be_left_out(one, other) and not any(
                collide(a, b, T) for T in self.way.list_fine()
            ):
                self._apart[one, other] = True

    def find_lost(self) -> dict[PiecePair, set[int]]:
        """Return free postures with touching bodies, by pieces."""
        lost = {
            key: {k for k in hits - self._touching if not self._touch(k)}
            for key, hits in self._list_hits().items()
        }
        return {key: postures for key, postures in lost.items() if postures}

    @property
    def _n_free(self) -> int:
        return max(1, N_POSTURES - len(self._touching))

    def _list_hits(self) -> dict[PiecePair, set[int]]:
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
        return any(
            self._apart.get(key, False)
            for key in itertools.product(one.list_origins(), other.list_origins())
        )

    def _are_apart(self, one: Piece, other: Piece) -> bool:
        key = one, other
        if key not in self._apart:
            can_be = self._can_be_left_out(one, other)
            self._apart[key] = can_be and not self._may_touch(one, other)
        return self._apart[key]

    def _can_be_left_out(self, one: Piece, other: Piece) -> bool:
        is_named = not any(isinstance(piece, Given) for piece in (one, other))
        return self.way.is_whole and is_named

    def _may_touch(self, one: Piece, other: Piece) -> bool:
        a, b = one.surface, other.surface
        rough = sorted(self._hits[one, other])
        if any(collide(a, b, self.way.places[k], _NEAR) for k in rough):
            return True
        bodies = place_body(one.body), place_body(other.body)
        return any(
            collide(*bodies, T, _NEAR) and collide(a, b, T, _NEAR)
            for T in self.way.list_fine()
        )

    def _collide(self, one: Piece, other: Piece) -> set[int]:
        keys, R, p = self._places
        there = p + R @ other.body.T_mesh_body.translation
        here = (one.body.T_mesh_body.translation - p)[:, None] @ R
        ways = (
            _find_way(one, there) - _find_ball(other).radius,
            _find_way(other, here[:, 0]) - _find_ball(one).radius,
        )
        near = np.flatnonzero(np.maximum(*ways) <= 0.0)
        a, b = place_body(one.body), place_body(other.body)
        return {int(k) for k in keys[near] if collide(a, b, self.way.places[int(k)])}

    @cached_property
    def _places(self) -> tuple[Vec, Vec, Vec]:
        keys = np.array(sorted(self.way.places.keys() - {MIDDLE}), dtype=int)
        found = [self.way.places[int(k)] for k in keys]
        R = np.array([T.rotation for T in found]).reshape(-1, 3, 3)
        return keys, R, np.array([T.translation for T in found]).reshape(-1, 3)

    def _touch(self, k: int) -> bool:
        if k not in self._truth:
            self._truth[k] = self._touch_by(k, 0.0)
        return self._truth[k]

    def _touch_by(self, k: int, margin: float) -> bool:
        return any(
            collide(one.surface, other.surface, self.way.places[k], margin)
            for one, other in itertools.product(*(link.wholes for link in self.links))
        )


def collide(a: Geometry, b: Geometry, T_a_b: pin.SE3, margin: float = 0.0) -> bool:
    """Return whether two placed geometries are within a margin, [m]."""
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = margin
    T = T_a_b * b[1]
    at = (_place(a[1]), _place(T))
    return bool(coal.collide(a[0], at[0], b[0], at[1], request, result))


def make_primitive(link: str, piece: Piece, name: str = "") -> Primitive:
    """Return a piece's body as URDF primitive."""
    body = piece.body
    return Primitive(
        link=link,
        T_link_body=body.T_mesh_body,
        shape=body.shape,
        size=body.size,
        name=name,
    )


def _find_ball(piece: Piece) -> Ball:
    body = piece.body
    if body.shape == "box":
        radius = 0.5 * float(np.linalg.norm(body.size))
    else:  # of a cylinder less would do
        radius = body.size[0] + 0.5 * sum(body.size[1:])
    return Ball(body.T_mesh_body.translation, radius)


def _find_way(piece: Piece, points: Vec) -> Vec:
    """Return distances of points (n, 3) from a body's box, (n,), [m]."""
    body = piece.body
    if body.shape == "box":
        sides = np.array(body.size)
    else:
        wide, high = 2.0 * body.size[0], sum(body.size[1:])
        is_flat = body.shape == "cylinder"
        sides = np.array([wide, wide, high if is_flat else high + wide])
    T = body.T_mesh_body
    beyond = np.abs((points - T.translation) @ T.rotation) - 0.5 * sides
    way: Vec = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return way


def _place(T: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(T.rotation, T.translation)
