"""All a gate computes with, in two blocks of memory.

A compiled function takes 0.05 to 0.2 µs for every array that it is handed from Python,
and the gate has ninety. So it is handed two blocks, and lays the arrays over them
itself. The tables below are that layout; sizes, starts, and the arrays of Python and of
kernels are all made from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from paprle.compiled import inlined
from paprle.contracts.types import Vec
from paprle.gate.limits import Box, Limits, Motion
from paprle.gate.scene import Collision
from paprle.gate.smoothing import Smoothing
from paprle.gate.tools import Tools
from paprle.robot.arrays import Ints

_ITEM = 8  # [B] of both blocks


class Sizes(NamedTuple):
    """How many there are of each: joints of the vector, of the tree, and so on.

    ``rows`` is one more than the periods that a command is the mean of; of
    ``constraints`` a pair has two. ``reach`` and ``block_reach`` are the entries of
    both that are not zero.
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


class Parts(NamedTuple):
    """What lies in the memory."""

    limits: Limits
    box: Box
    motion: Motion
    collision: Collision
    tools: Tools
    smoothing: Smoothing


Dim = tuple[int, int]
"""Which of the sizes (-1: none) and what is added to it."""

Table = tuple[tuple[str, str, tuple[Dim | int, ...]], ...]
"""Arrays of a block in their order: part, names, and the shape of each."""

_N, _G_ENDS, _M, _B, _K, _T = (0, 0), (1, 1), (2, 0), (3, 0), (4, 0), (5, 0)
_R, _C, _Z, _NC = (6, 0), (7, 0), (8, 0), (9, 0)
_K_ENDS, _BLOCKS, _BLOCK_ENDS, _BZ = (4, 1), (10, 0), (10, 1), (11, 0)

_FLOATS: Table = (
    ("limits", "q_min q_max dq_max ddq_max lag_bound", (_N,)),
    ("box", "brake low high base wanted", (_N,)),
    ("motion", "c v dq_feedforward ddq target dq_des goal_prev q_meas goal", (_N,)),
    ("motion", "goal_error reaches_goal v_next q_next ddq_sync", (_N,)),
    ("motion", "is_synchronised is_sliding", (1,)),
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
    ("collision.measured", "q_lag speed", (_N,)),
    ("collision.measured", "normal", (_K, 3)),
    ("collision.measured", "rows", (_C, _N)),
    ("collision.measured", "allowed waits", (_C,)),
    ("collision.measured", "work", (1,)),
    ("collision.scratch.placed", "R_joint", (_M, 3, 3)),
    ("collision.scratch.placed", "p_joint", (_M, 3)),
    ("collision.scratch.placed", "R_body", (_B, 3, 3)),
    ("collision.scratch.placed", "p_body", (_B, 3)),
    ("collision.scratch", "posture q_between q_lag_max travel travel_more", (_N,)),
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
    ("collision.measured", "pair", (_C,)),
    ("collision.scratch", "pending", (_K,)),
    ("tools", "joint", (_T,)),
    ("tools", "is_member", (_T, _N)),
    ("smoothing", "n_given", (1,)),
)
"""The second block, behind its head: the sizes, then the starts of all arrays."""


class Field(NamedTuple):
    """An array of the memory.

    Attributes:
        block: 0 or 1.
        at: Place in the second block that holds where the array starts in its own.
        shape: Its shape.
    """

    block: int
    at: int
    shape: tuple[Dim, ...]


def _find_fields(tables: tuple[Table, Table]) -> dict[str, Field]:
    """Return all arrays by ``part.name``, in the order of the tables."""
    fields: dict[str, Field] = {}
    for block, table in enumerate(tables):
        for part, names, shape in table:
            dims = tuple((-1, dim) if isinstance(dim, int) else dim for dim in shape)
            for name in names.split():
                at = len(Sizes._fields) + len(fields)
                fields[f"{part}.{name}"] = Field(block, at, dims)
    return fields


def _find_classes(kind: Any, path: str) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return the class and the paths of all parts of each tuple, by its own path."""
    hints = get_type_hints(kind)
    paths = tuple(f"{path}.{name}".lstrip(".") for name in hints)
    classes = {path: (kind, paths)}
    for name, hint in zip(paths, hints.values(), strict=True):
        if hasattr(hint, "_fields"):
            classes |= _find_classes(hint, name)
    return classes


_FIELDS = _find_fields((_FLOATS, _INTEGERS))
_CLASSES = _find_classes(Parts, "")
N_HEAD = len(Sizes._fields) + len(_FIELDS)


def allocate(sizes: Sizes) -> tuple[Vec, Ints]:
    """Return the two blocks, empty but for the head of the second."""
    ends, starts = [0, N_HEAD], []
    for field in _FIELDS.values():
        starts.append(ends[field.block])
        ends[field.block] += math.prod(_find_shape(sizes, field))
    integers = np.zeros(ends[1], dtype=np.int64)
    integers[:N_HEAD] = *sizes, *starts
    return np.zeros(ends[0]), integers


def _find_shape(head: Sequence[int], field: Field) -> tuple[int, ...]:
    """Return the shape of an array by the sizes that head the second block."""
    return tuple([more if i < 0 else head[i] + more for i, more in field.shape])


def _assemble(
    path: str, make_array: Callable[[Field], Any], make_tuple: Callable[..., Any]
) -> Any:
    """Return a part of the memory, each array and each tuple of them made by others."""
    if path in _FIELDS:
        return make_array(_FIELDS[path])
    kind, paths = _CLASSES[path]
    return make_tuple(kind, [_assemble(part, make_array, make_tuple) for part in paths])


def build_parts(floats: Vec, integers: Ints) -> Any:
    """Return all arrays; in kernels they are not counted as references.

    Numba counts references of every array that it passes on, atomically and at 5 ns
    each: a third of a period's time would go there. The gate holds the blocks for as
    long as a kernel runs.
    """
    blocks, head = (floats, integers), integers[:N_HEAD].tolist()

    def borrow(field: Field) -> Any:
        start, shape = head[field.at], _find_shape(head, field)
        return blocks[field.block][start : start + math.prod(shape)].reshape(shape)

    return _assemble("", borrow, lambda kind, parts: kind(*parts))


@intrinsic  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _build_parts(typing_context: Any, floats: Any, integers: Any) -> Any:  # noqa: ARG001
    """Compile ``build_parts``."""
    kinds = types.float64, types.int64

    def find_type(field: Field) -> Any:
        return types.Array(kinds[field.block], len(field.shape), "C")

    def join(kind: Any, parts: list[Any]) -> Any:
        return types.BaseTuple.from_types(parts, kind)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        blocks = [
            make_array(kind)(context, builder, block).data
            for kind, block in zip(signature.args, args, strict=True)
        ]

        def read(at: int) -> Any:
            return builder.load(builder.gep(blocks[1], [cgutils.intp_t(at)]))

        def borrow(field: Field) -> tuple[Any, Any]:
            kind = find_type(field)
            shape = [
                cgutils.intp_t(more)
                if i < 0
                else builder.add(read(i), cgutils.intp_t(more))
                for i, more in field.shape
            ]
            strides = [cgutils.intp_t(_ITEM)]
            for size in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], size))
            array = make_array(kind)(context, builder)
            populate_array(
                array,
                data=builder.gep(blocks[field.block], [read(field.at)]),
                shape=shape,
                strides=strides,
                itemsize=cgutils.intp_t(_ITEM),
                meminfo=None,
            )
            return kind, array._getvalue()  # noqa: SLF001 - as Numba's own arrays

        def tie(kind: Any, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
            tied = join(kind, [part for part, _ in parts])
            values = [value for _, value in parts]
            return tied, context.make_tuple(builder, tied, values)

        return _assemble("", borrow, tie)[1]

    return _assemble("", find_type, join)(floats, integers), generate


@overload(build_parts)  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _build_in_kernel(floats: Any, integers: Any) -> Any:  # noqa: ARG001
    """Let kernels call what compiles it."""

    def build(floats: Any, integers: Any) -> Any:
        return _build_parts(floats, integers)

    return build


@inlined
def lay_out(floats: Vec, integers: Ints) -> Parts:
    """Return all arrays; they share the memory of the blocks.

    Inlined, it costs a kernel nothing but the arrays that it uses. A kernel that hands
    all of them on to another pays a microsecond: it hands on the blocks.
    """
    return build_parts(floats, integers)  # type: ignore[no-any-return]
