"""Choice of points by TeleXR's scaling (T17, 2.2 nos. 1 to 3).

    r = min{1, max{0, (N_max − N_e)/N_in}},  r = 1 where N_in = 0

All N_e edge points and ⌊r N_in⌋ others, N_max at most, evenly spread.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

POINT = np.dtype([("pixel", "<u4"), ("depth", "<u2")])
"""One point: number of its pixel, row by row, and counts of depth."""

Depth = npt.NDArray[np.uint16]
Points = npt.NDArray[np.void]

_MM = 1e-3  # [m] chosen: unit in which edges are looked for
_FARTHEST = 8000.0  # [mm] spec: a gradient of 16 bits is four times a step at most
_LOW, _HIGH = 120.0, 240.0  # [mm] chosen: four times a step of 30 and of 60 mm


def find_edges(depth: Depth, unit: float) -> npt.NDArray[np.bool_]:
    """Return a mask of depth edges, shape (height, width).

    Args:
        depth: Shape (height, width), counts; 0: unknown.
        unit: One count, [m].
    """
    known = depth > 0
    mm = np.minimum(depth * np.float32(unit / _MM), np.float32(_FARTHEST))
    gx = cv2.Sobel(mm, cv2.CV_16S, 1, 0)
    gy = cv2.Sobel(mm, cv2.CV_16S, 0, 1)
    edges: npt.NDArray[np.bool_] = cv2.Canny(gx, gy, _LOW, _HIGH).astype(bool)
    return edges & known


def compute_share(n_max: int, n_edge: int, n_inside: int) -> float:
    """Return the share r of points inside, 0 … 1."""
    if n_inside == 0:
        return 1.0
    return min(1.0, max(0.0, (n_max - n_edge) / n_inside))


def choose_points(depth: Depth, edges: npt.NDArray[np.bool_], n_max: int) -> Points:
    """Return at most n_max points of ``POINT``, edges first."""
    at_edge = np.flatnonzero(edges & (depth > 0))
    inside = np.flatnonzero(~edges & (depth > 0))
    n_inside = len(inside)
    share = compute_share(n_max, len(at_edge), n_inside)
    # not ⌊r N_in⌋ in floating point, which may be one less than it is
    n_inside = min(n_inside, max(0, n_max - len(at_edge))) if share < 1.0 else n_inside
    chosen = np.concatenate([spread(at_edge, n_max), spread(inside, n_inside)])
    points: Points = np.zeros(len(chosen), POINT)
    points["pixel"], points["depth"] = chosen, depth.ravel()[chosen]
    return points


def spread(items: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
    """Return n evenly spread items, or all."""
    if n >= len(items):
        return items
    return items[np.arange(max(n, 0)) * len(items) // max(n, 1)]


def put_points(depth: Depth, points: Points) -> int:
    """Return the number of points outside an image, after putting the others in."""
    is_inside = points["pixel"] < depth.size
    depth.ravel()[points["pixel"][is_inside]] = points["depth"][is_inside]
    return int(len(points) - is_inside.sum())
