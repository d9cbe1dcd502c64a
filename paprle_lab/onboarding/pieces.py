"""Pieces of a mesh with thin bodies.

A plane cuts crossing triangles in two. Convex bodies hold the outline of their cut, so
that together they hold surface and inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot.bodies.collision import make_shape
from paprle.robot.tree import Primitive
from paprle_lab.onboarding.bounding_shapes import (
    Enclosure,
    enclose,
    enclose_as,
    find_axes,
    find_extremes,
    guess_box,
    guess_volume,
    list_enclosures,
)

_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)  # chosen: of a piece's length
_N_TRIED = 500  # chosen: triangles by which a cut is chosen
_THIN = 2e-3  # [m] chosen: what is thinner across a cut is not cut


class Plane(NamedTuple):
    """A plane in the axes of a mesh; ``offset`` is along the normal, [m]."""

    normal: Vec
    offset: float


class TrialCut:
    """A possible cut of a piece."""

    def __init__(self, triangles: Vec, plane: Plane) -> None:
        self.plane = plane
        halves = split(triangles, *plane)
        self._halves = [find_extremes(h.reshape(-1, 3)) for h in halves if len(h)]

    @property
    def is_cut(self) -> bool:
        """Whether both sides have triangles."""
        return len(self._halves) == 2

    @cached_property
    def boxes(self) -> list[Enclosure]:
        """Boxes of the halves, flush with the plane."""
        return [guess_box(half, self.plane.normal) for half in self._halves]

    @cached_property
    def choices(self) -> list[list[Enclosure]]:
        """Bodies of each shape per half."""
        return [list_enclosures(half, self.plane.normal) for half in self._halves]


class Piece:
    """A part of a mesh; ``triangles`` has shape (k, 3, 3), [m]."""

    def __init__(
        self,
        triangles: Vec,
        origin: Piece | None = None,
        like: Enclosure | None = None,
    ) -> None:
        """Take triangles, their origin, and a body to resemble."""
        self.triangles = triangles
        self._origin = origin
        self._like = like

    def list_origins(self) -> Iterator[Piece]:
        """Yield the piece and its origins."""
        yield self
        if self._origin is not None:
            yield from self._origin.list_origins()

    @cached_property
    def body(self) -> Enclosure:
        """Enclosing body in the triangles' axes."""
        points = self.triangles.reshape(-1, 3)
        return enclose(points) if self._like is None else enclose_as(points, self._like)

    @cached_property
    def halves(self) -> tuple[Piece, ...]:
        """Halves of least volume; empty if tiny."""
        best, least = None, np.inf
        for plane in self._list_planes():
            halves = split(self._few, *plane)
            volume = sum(guess_volume(half.reshape(-1, 3)) for half in halves)
            if volume < least:
                best, least = plane, volume
        if best is None:
            return ()
        return tuple(Piece(half, self) for half in split(self.triangles, *best))

    @cached_property
    def trials(self) -> list[TrialCut]:
        """Possible cuts, and planes below the piece."""
        few = self._few
        found = [TrialCut(few, plane) for plane in self._list_planes()]
        found = [trial for trial in found if trial.is_cut]
        normals = _list_normals(find_extremes(few.reshape(-1, 3)))
        return found + [TrialCut(few, Plane(normal, -np.inf)) for normal in normals]

    @property
    def _few(self) -> Vec:
        return self.triangles[:: 1 + len(self.triangles) // _N_TRIED]

    def _list_planes(self) -> Iterator[Plane]:
        points = find_extremes(self.triangles.reshape(-1, 3))
        for normal in _list_normals(points):
            along = points @ normal
            low, high = float(along.min()), float(along.max())
            if high - low > _THIN:
                for share in _SHARES:
                    yield Plane(normal, low + share * (high - low))

    def cut(self, plane: Plane, bodies: Sequence[Enclosure]) -> tuple[Piece, ...]:
        """Return the sides of a plane, in bodies like those given."""
        halves = [half for half in split(self.triangles, *plane) if len(half)]
        return tuple(
            Piece(half, self, like) for half, like in zip(halves, bodies, strict=True)
        )

    @cached_property
    def surface(self) -> tuple[coal.CollisionGeometry, pin.SE3]:
        """Triangles for coal, with their placement."""
        mesh = coal.BVHModelOBBRSS()
        mesh.beginModel(len(self.triangles), 3 * len(self.triangles))
        for a, b, c in self.triangles:
            mesh.addTriangle(a, b, c)
        mesh.endModel()
        return mesh, pin.SE3.Identity()


class Given(Piece):
    """A body of the URDF, never cut."""

    def __init__(self, body: Primitive) -> None:
        super().__init__(np.empty((0, 3, 3)))
        self._given = body

    @cached_property
    def body(self) -> Enclosure:
        """The body; its volume is unused."""
        body = self._given
        return Enclosure(body.shape, body.size, body.T_link_body, np.inf)

    @cached_property
    def halves(self) -> tuple[Piece, ...]:
        """None."""
        return ()

    @cached_property
    def trials(self) -> list[TrialCut]:
        """None."""
        return []

    @cached_property
    def surface(self) -> tuple[coal.CollisionGeometry, pin.SE3]:
        """The body, for coal."""
        return make_shape(self._given), self._given.T_link_body


def _list_normals(points: Vec) -> Vec:
    normals: Vec = np.vstack([np.eye(3), find_axes(points).T])
    return normals


def split(triangles: Vec, normal: Vec, offset: float) -> tuple[Vec, Vec]:
    """Return triangles before and behind a plane, shapes (·, 3, 3), [m]."""
    height = triangles @ normal - offset
    is_above = height > 0.0
    n_above = is_above.sum(axis=1)
    crossing = (n_above == 1) | (n_above == 2)
    some, up, h = triangles[crossing], is_above[crossing], height[crossing]
    # the corner that is alone on its side comes first
    alone = np.where(up.sum(axis=1) == 1, up.argmax(axis=1), up.argmin(axis=1))
    order = (alone[:, None] + np.arange(3)) % 3
    rows = np.arange(len(some))[:, None]
    some, h = some[rows, order], h[rows, order]
    a, b, c = some[:, 0], some[:, 1], some[:, 2]
    ab = a + (b - a) * (h[:, 0] / (h[:, 0] - h[:, 1]))[:, None]
    ac = a + (c - a) * (h[:, 0] / (h[:, 0] - h[:, 2]))[:, None]
    tips = np.stack([a, ab, ac], axis=1)
    rests = np.concatenate([np.stack([ab, b, c], 1), np.stack([ab, c, ac], 1)])
    tip_up = h[:, 0] > 0.0
    rest_up = np.concatenate([tip_up, tip_up])
    below = [triangles[n_above == 0], tips[~tip_up], rests[rest_up]]
    above = [triangles[n_above == 3], tips[tip_up], rests[~rest_up]]
    return np.concatenate(below), np.concatenate(above)
