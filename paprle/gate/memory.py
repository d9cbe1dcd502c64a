"""Memory of a gate in two blocks, with the layout of all arrays in them.

Handing over an array from Python costs 0.05 to 0.2 µs; the gate has ninety.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba import types
from numba.extending import overload

from paprle.contracts.types import Vec
from paprle.gate.contact.scene import Collision
from paprle.gate.flat_arrays import ITEMS, Laid, count_words, make_intrinsic
from paprle.gate.limits import Box, Limits, MotionState
from paprle.gate.smoothing import Smoothing
from paprle.gate.tcp_limits import Tools
from paprle.robot.arrays import Ints


class Sizes(NamedTuple):
    """Sizes of the memory.

    ``rows`` is the periods of the mean plus one; a pair has two ``constraints``.
    ``reach`` and ``block_reach`` count entries other than zero.
    """

    n: int
    groups: int
    joints: int
    bodies: int
    pairs: int
    tools: int
    rows: int
    constraints: int
    reach: int = 0
    clusters: int = 0
    blocks: int = 0
    block_reach: int = 0


class GateParts(NamedTuple):
    """The parts of the memory."""

    limits: Limits
    box: Box
    motion: MotionState
    collision: Collision
    tools: Tools
    smoothing: Smoothing


Dim = tuple[int, int]
"""Which of the sizes (-1: none) and what is added to it."""

Table = tuple[tuple[str, str, tuple[Dim | int, ...]], ...]
"""Arrays of a block in their order: part, names, and the shape of each."""

_N, _G, _G_ENDS, _M, _B, _K = (0, 0), (1, 0), (1, 1), (2, 0), (3, 0), (4, 0)
_T, _R, _C, _Z, _NC = (5, 0), (6, 0), (7, 0), (8, 0), (9, 0)
_K_ENDS, _BLOCKS, _BLOCK_ENDS, _BZ = (4, 1), (10, 0), (10, 1), (11, 0)

_LIMITS = " ".join(name for name, kind in get_type_hints(Limits).items() if kind == Vec)
_FLOATS: Table = (
    ("limits", _LIMITS, (_N,)),
    ("box", "brake low high dq_track dq_goal", (_N,)),
    (
        "motion",
        "q_cmd dq_cmd dq_feedforward ddq target dq_des goal_prev q_meas goal",
        (_N,),
    ),
    ("motion", "goal_error reaches_goal v_next q_next ddq_sync", (_N,)),
    ("motion", "is_synchronised is_sliding", (1,)),
    ("motion", "stalled_for can_stall share", (_G,)),
    ("motion", "stalled_goal", (_N,)),
    ("motion", "stalled_at stalled_lag is_held_by", (_G, _N)),
    ("collision.scene.tree", "R", (_M, 3, 3)),
    ("collision.scene.tree", "p axis", (_M, 3)),
    ("collision.scene.tree", "scale offset", (_M,)),
    ("collision.scene.bodies", "R", (_B, 3, 3)),
    ("collision.scene.bodies", "p", (_B, 3)),
    ("collision.scene.bodies", "size", (_B, 5)),
    ("collision.scene.bodies", "sphere capsule", (_B,)),
    ("collision.scene.pairs", "keep", (_K,)),
    ("collision.scene.pairs.reach", "rate", (_Z,)),
    ("collision.blocks", "keep", (_BLOCKS,)),
    ("collision.blocks.reach", "rate", (_BZ,)),
    ("collision.blocks", "ball", (_NC, 4)),
    ("collision.measured.at_command", "R_joint", (_M, 3, 3)),
    ("collision.measured.at_command", "p_joint", (_M, 3)),
    ("collision.measured.at_command", "R_body", (_B, 3, 3)),
    ("collision.measured.at_command", "p_body", (_B, 3)),
    ("collision.measured", "distance max_change", (_K,)),
    ("collision.measured", "distance_to_meas max_change_to_meas", (_K,)),
    ("collision.measured", "q_lag speed refused_row", (_N,)),
    ("collision.measured", "normal", (_K, 3)),
    ("collision.measured", "rows", (_C, _N)),
    ("collision.measured", "allowed waits", (_C,)),
    ("collision.measured", "n_queries", (1,)),
    ("collision.scratch.placed", "R_joint", (_M, 3, 3)),
    ("collision.scratch.placed", "p_joint", (_M, 3)),
    ("collision.scratch.placed", "R_body", (_B, 3, 3)),
    ("collision.scratch.placed", "p_body", (_B, 3)),
    (
        "collision.scratch",
        "posture q_between q_lag_max travel sync_stop_distance",
        (_N,),
    ),
    ("collision.scratch", "max_change max_change_period due min_allowed", (_K,)),
    ("collision.scratch", "distance_lower_bound slack", (_K,)),
    ("collision.scratch", "witness", (9,)),
    ("tools", "p", (_T, 3)),
    ("tools", "reach", (_T, _N)),
    ("tools", "speed sigma", (1,)),
    ("tools", "J", (6, _N)),
    ("tools", "weight pull", (_N,)),
    ("tools", "bend", (6,)),
    ("tools", "metric", (_N, _N)),
    ("tools", "gram", (6, 6)),
    ("tools", "tips", (2, _T, 3)),
    ("smoothing", "q_cmd dq_cmd", (_N,)),
    ("smoothing", "q dq", (_R, _N)),
)
"""The first block."""

_INTEGERS: Table = (
    ("limits", "members", (_N,)),
    ("limits", "starts", (_G_ENDS,)),
    ("motion", "kept_by", (_G,)),
    ("collision.scene.tree", "parent is_prismatic column", (_M,)),
    ("collision.scene.bodies", "joint kind", (_B,)),
    ("collision.scene.pairs", "a b", (_K,)),
    ("collision.scene.pairs.reach", "starts", (_K_ENDS,)),
    ("collision.scene.pairs.reach", "column", (_Z,)),
    ("collision.blocks", "cluster", (_B,)),
    ("collision.blocks", "one two is_seen", (_BLOCKS,)),
    ("collision.blocks", "starts", (_BLOCK_ENDS,)),
    ("collision.blocks.reach", "starts", (_BLOCK_ENDS,)),
    ("collision.blocks.reach", "column", (_BZ,)),
    ("collision.measured", "near", (_K,)),
    ("collision.measured", "n_near", (1,)),
    ("collision.measured", "refused", (2,)),
    ("collision.measured", "pair", (_C,)),
    ("collision.scratch", "pending", (_K,)),
    ("tools", "joint", (_T,)),
    ("tools", "is_member", (_T, _N)),
    ("smoothing", "n_given", (1,)),
)
"""The second block, behind its head: the sizes, then start and shape of each array."""


class Field(NamedTuple):
    """An array in block 0 or 1 of the memory."""

    block: int
    shape: tuple[Dim, ...]


def _find_fields(tables: tuple[Table, Table]) -> dict[str, Field]:
    return {
        f"{part}.{name}": Field(
            block, tuple((-1, dim) if isinstance(dim, int) else dim for dim in shape)
        )
        for block, table in enumerate(tables)
        for part, names, shape in table
        for name in names.split()
    }


def _find_classes(kind: Any, path: str) -> dict[str, tuple[Any, tuple[str, ...]]]:
    hints = get_type_hints(kind)
    paths = tuple(f"{path}.{name}".lstrip(".") for name in hints)
    classes = {path: (kind, paths)}
    for name, hint in zip(paths, hints.values(), strict=True):
        if hasattr(hint, "_fields"):
            classes |= _find_classes(hint, name)
    return classes


def _find_type(path: str) -> Any:
    if path in _FIELDS:
        field = _FIELDS[path]
        return types.Array(ITEMS[field.block], len(field.shape), "C")
    kind, paths = _CLASSES[path]
    return Laid(kind, map(_find_type, paths))


def _find_places(path: str, at: int) -> dict[str, int]:
    places = {path: at}
    for part in () if path in _FIELDS else _CLASSES[path][1]:
        places |= _find_places(part, at)
        at += count_words(_find_type(part))
    return places


_FIELDS = _find_fields((_FLOATS, _INTEGERS))
_CLASSES = _find_classes(GateParts, "")
_PLACES = _find_places("", len(Sizes._fields))
N_HEAD = len(Sizes._fields) + count_words(_find_type(""))


def allocate(sizes: Sizes) -> tuple[Vec, Ints]:
    """Return both blocks, empty but for the second's head."""
    ends, head = [0, N_HEAD], np.zeros(N_HEAD, dtype=np.int64)
    head[: len(sizes)] = sizes
    for path, field in _FIELDS.items():
        shape = [more if i < 0 else sizes[i] + more for i, more in field.shape]
        at = _PLACES[path]
        head[at : at + 1 + len(shape)] = ends[field.block], *shape
        ends[field.block] += math.prod(shape)
    integers = np.zeros(ends[1], dtype=np.int64)
    integers[:N_HEAD] = head
    return np.zeros(ends[0]), integers


def fill(parts: Iterable[Any], values: Iterable[Any]) -> None:
    """Write values into arrays of the memory."""
    for part, value in zip(parts, values, strict=True):
        if isinstance(part, tuple):
            fill(part, value)
        else:
            part[...] = value


def view_memory(floats: Vec, integers: Ints) -> GateParts:
    """Return all arrays as views, which kernels do not keep alive."""
    return _view_memory("", (floats, integers))  # type: ignore[no-any-return]


def _view_memory(path: str, blocks: tuple[Vec, Ints]) -> Any:
    if path in _FIELDS:
        block, dims = _FIELDS[path]
        at = _PLACES[path]
        start, *shape = blocks[1][at : at + 1 + len(dims)].tolist()
        return blocks[block][start : start + math.prod(shape)].reshape(shape)
    kind, paths = _CLASSES[path]
    return kind(*(_view_memory(part, blocks) for part in paths))


_PARTS = _CLASSES[""][1]
_lay = make_intrinsic(
    GateParts, map(_PLACES.__getitem__, _PARTS), map(_find_type, _PARTS)
)


@overload(view_memory)  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _view_memory_in_kernel(floats: Any, integers: Any) -> Any:  # noqa: ARG001
    def lay(floats: Any, integers: Any) -> Any:
        return _lay(floats, integers)

    return lay
