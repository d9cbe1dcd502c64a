"""Cut a mesh into pieces whose bodies are thin.

A piece is a set of triangles with the body that encloses them. A cut goes along a
plane, and triangles that cross it are cut in two, so that the bodies of all pieces
together hold the surface whole, whatever was cut. Each body is convex and holds the
outline of its cut, so it holds what is inside the surface as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import coal
import numpy as np

from paprle.contracts.types import Vec
from paprle.onboarding.bounding_shapes import (
    Enclosure,
    enclose,
    find_axes,
    find_extremes,
    guess_volume,
)

_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)  # chosen: of a piece's length
_N_TRIED = 500  # chosen: triangles by which a plane is chosen
_THIN = 2e-3  # [m] chosen: what is thinner across a cut is not cut


class Piece:
    """A part of a mesh.

    Attributes:
        triangles: Their corners, shape (k, 3, 3), [m].
    """

    def __init__(self, triangles: Vec, origin: Piece | None = None) -> None:
        """Make a piece; ``origin`` is what it was cut from."""
        self.triangles = triangles
        self._origin = origin

    def list_origins(self) -> Iterator[Piece]:
        """Yield the piece, and what it was cut from, and so on."""
        yield self
        if self._origin is not None:
            yield from self._origin.list_origins()

    @cached_property
    def body(self) -> Enclosure:
        """What encloses the triangles, in their axes."""
        return enclose(self.triangles.reshape(-1, 3))

    @cached_property
    def halves(self) -> tuple[Piece, ...]:
        """The two halves whose bodies are smallest together; none of what is tiny."""
        points = find_extremes(self.triangles.reshape(-1, 3))
        some = self.triangles[:: 1 + len(self.triangles) // _N_TRIED]
        best, least = None, np.inf
        for normal, offset in _list_planes(points):
            halves = split(some, normal, offset)
            volume = sum(guess_volume(half.reshape(-1, 3)) for half in halves)
            if volume < least:
                best, least = (normal, offset), volume
        if best is None:
            return ()
        return tuple(Piece(half, self) for half in split(self.triangles, *best))

    @cached_property
    def mesh(self) -> coal.BVHModelBase:
        """The triangles, for coal."""
        mesh = coal.BVHModelOBBRSS()
        mesh.beginModel(len(self.triangles), 3 * len(self.triangles))
        for a, b, c in self.triangles:
            mesh.addTriangle(a, b, c)
        mesh.endModel()
        return mesh


def _list_planes(points: Vec) -> Iterator[tuple[Vec, float]]:
    """Yield planes across a piece, along its own axes and those of its mesh."""
    for normal in np.vstack([np.eye(3), find_axes(points).T]):
        along = points @ normal
        low, high = float(along.min()), float(along.max())
        if high - low > _THIN:
            for share in _SHARES:
                yield normal, low + share * (high - low)


def split(triangles: Vec, normal: Vec, offset: float) -> tuple[Vec, Vec]:
    """Cut triangles along a plane.

    Args:
        triangles: Their corners, shape (k, 3, 3), [m].
        normal: The plane's, a unit vector.
        offset: How far it is along its normal, [m].

    Returns:
        Those before and behind the plane, each of shape (·, 3, 3).
    """
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
