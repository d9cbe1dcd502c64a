"""Modes of m axes: matrices D, (7, m), of ``FREEDOMS``; the limb moves with D u.

Source: AdaptiX; requirements X1 to X3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.contracts.axes import FREEDOMS, N_FREEDOMS, compute_difference
from paprle.contracts.session_view import Advice
from paprle.contracts.types import Vec, readonly

BUILT_IN = ("manual", "classic")
"""Modes that need no advice."""
_FRESH = 1.0  # [s] chosen: older advice is of another scene
_SAME = 0.01  # chosen: 11°; a switch to what is nearly the same would seem lost
_GRIPPER = FREEDOMS.index("gripper")
_GROUPS = {
    "manual": (tuple(range(N_FREEDOMS)),),
    "classic": ((0, 1, 2), (3, 4, 5), (_GRIPPER,)),  # translation, wrist, finger
}


def make_modes(kind: str, n_axes: int, *, has_gripper: bool) -> tuple[Vec, ...]:
    """Return an operator's modes, shape (7, m)."""
    modes = []
    for group in _GROUPS.get(kind, _GROUPS["classic"]):
        rows = [row for row in group if has_gripper or row != _GRIPPER]
        for first in range(0, len(rows), n_axes):
            D = np.zeros((N_FREEDOMS, n_axes))
            for column, row in enumerate(rows[first : first + n_axes]):
                D[row, column] = 1.0
            modes.append(readonly(D))
    return tuple(modes)


def describe_modes(modes: Sequence[Vec]) -> str:
    """Return the freedoms of each mode: ``x y z | roll pitch yaw``."""
    moved = [
        " ".join(FREEDOMS[row] for row in D.argmax(axis=0)[D.any(axis=0)])
        for D in modes
    ]
    return " | ".join(moved)


def has_modes(advice: Advice | None) -> bool:
    """Return whether advised modes are fresh, valid and numeric."""
    if advice is None or advice.age > _FRESH:
        return False
    record = advice.record
    if not record["valid"] or "D" not in (record.dtype.names or ()):
        return False
    D = record["D"]
    return D.ndim == 2 and len(D) == N_FREEDOMS and bool(np.isfinite(D).all())


def read_modes(advice: Advice | None, n_axes: int) -> tuple[Vec, ...]:
    """Return advised modes, shape (7, m); none if unusable.

    They are the columns of ``D``, shape (7, k), m at a time, padded by zeros.
    """
    if advice is None or not has_modes(advice):
        return ()
    D = np.asarray(advice.record["D"], dtype=np.float64)
    n_modes = -(-D.shape[1] // n_axes)
    whole = np.zeros((N_FREEDOMS, n_modes * n_axes))
    whole[:, : D.shape[1]] = np.clip(D, -1.0, 1.0)
    return tuple(readonly(part) for part in np.hsplit(whole, n_modes))


def choose_other(modes: Sequence[Vec], D: Vec, row: int, way: int) -> int:
    """Return the next mode's row other than D; ``way`` is 1 or -1."""
    n = len(modes)
    places = [(row + way * (k + 1)) % n for k in range(n)]
    return next((k for k in places if _differ(modes[k], D)), places[0])


def _differ(A: Vec, B: Vec) -> bool:
    pairs = zip(A.T, B.T, strict=True)
    return any(compute_difference(a, b) > _SAME for a, b in pairs)
