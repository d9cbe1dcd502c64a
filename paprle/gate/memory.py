"""All a gate computes with, in two blocks of memory.

A compiled function takes about 0.2 µs for every array that it is handed from Python,
and the gate has fifty. So it is handed two blocks, and lays its arrays over them
itself; ``lay_out`` is that layout, for Python and for kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.extending import intrinsic, overload, register_jitable

from paprle.compiled import compiled
from paprle.gate.clearance import Scene
from paprle.gate.limits import Box, Limits, Motion
from paprle.gate.tools import Tools
from paprle.robot.arrays import Ints, Tree
from paprle.robot.bodies import Bodies, Pairs
from paprle.types import Vec

_N_SIZES = 6


class Sizes(NamedTuple):
    """How many there are of each: joints of the vector, of the tree, and so on."""

    n: int
    groups: int
    joints: int
    bodies: int
    pairs: int
    tools: int


class Parts(NamedTuple):
    """What lies in the memory."""

    limits: Limits
    box: Box
    motion: Motion
    scene: Scene
    tools: Tools


def allocate(sizes: Sizes) -> tuple[Vec, Ints]:
    """Return the two blocks, empty."""
    n, g, m, b, k, t = sizes
    n_floats = 36 * n + 29 * m + 31 * b + k * (2 * n + 12) + t * (n + 9) + 49
    n_ints = _N_SIZES + n + g + 1 + 3 * m + 2 * b + 3 * k + t * (n + 1)
    integers = np.zeros(n_ints, dtype=np.int64)
    integers[:_N_SIZES] = sizes
    return np.zeros(n_floats), integers


def borrow(block: Any, first: int, count: int) -> Any:
    """Return a part of a block; in kernels one that is not counted as a reference.

    Numba counts references of every array that it passes on, atomically and at 5 ns
    each: a third of a period's time would go there. The gate holds the blocks for as
    long as a kernel runs.
    """
    return block[first : first + count]


@intrinsic  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _point_at(typing_context: Any, address: Any, dtype: Any) -> Any:  # noqa: ARG001
    """Return a pointer to an address."""
    signature = types.CPointer(dtype.dtype)(address, dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return signature, generate


@overload(borrow)  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _borrow(block: Any, first: Any, count: Any) -> Any:  # noqa: ARG001
    """Compile ``borrow``."""
    kind = np.float64 if block.dtype == types.float64 else np.int64

    def borrow_address(block: Any, first: Any, count: Any) -> Any:
        address = types.uintp(block.ctypes.data) + types.uintp(8 * first)
        return carray(_point_at(address, kind), (count,))

    return borrow_address


@register_jitable  # type: ignore[untyped-decorator]
def _take(block: Any, at: Ints, count: int) -> Any:
    """Return the next part of a block and move on; in Python one that holds the block.

    Not ``compiled``: Python calling it would be handed what a kernel borrows.
    """
    first = at[0]
    at[0] += count
    return borrow(block, first, count)


@compiled
def lay_out(floats: Vec, integers: Ints) -> Parts:
    """Return all arrays; they share the memory of the blocks."""
    n, g, m = integers[0], integers[1], integers[2]
    b, k, t = integers[3], integers[4], integers[5]
    f, i = np.zeros(1, dtype=np.int64), np.full(1, _N_SIZES, dtype=np.int64)
    limits = Limits(
        q_min=_take(floats, f, n),
        q_max=_take(floats, f, n),
        dq_max=_take(floats, f, n),
        ddq_max=_take(floats, f, n),
        leash=_take(floats, f, n),
        members=_take(integers, i, n),
        starts=_take(integers, i, g + 1),
    )
    box = Box(
        brake=_take(floats, f, n),
        low=_take(floats, f, n),
        high=_take(floats, f, n),
        base=_take(floats, f, n),
        wanted=_take(floats, f, n),
    )
    motion = Motion(
        c=_take(floats, f, n),
        v=_take(floats, f, n),
        feed=_take(floats, f, n),
        ddq=_take(floats, f, n),
        target=_take(floats, f, n),
        dq_des=_take(floats, f, n),
        before=_take(floats, f, n),
        q_meas=_take(floats, f, n),
        goal=_take(floats, f, n),
        error=_take(floats, f, n),
        exact=_take(floats, f, n),
        v_next=_take(floats, f, n),
        q_next=_take(floats, f, n),
        straight=_take(floats, f, n),
        is_straight=_take(floats, f, 1),
    )
    tree = Tree(
        parent=_take(integers, i, m),
        R=_take(floats, f, 9 * m).reshape((m, 3, 3)),
        p=_take(floats, f, 3 * m).reshape((m, 3)),
        axis=_take(floats, f, 3 * m).reshape((m, 3)),
        is_prismatic=_take(integers, i, m),
        column=_take(integers, i, m),
        scale=_take(floats, f, m),
        offset=_take(floats, f, m),
    )
    bodies = Bodies(
        joint=_take(integers, i, b),
        R=_take(floats, f, 9 * b).reshape((b, 3, 3)),
        p=_take(floats, f, 3 * b).reshape((b, 3)),
        kind=_take(integers, i, b),
        size=_take(floats, f, 5 * b).reshape((b, 5)),
        sphere=_take(floats, f, b),
        capsule=_take(floats, f, b),
    )
    pairs = Pairs(
        a=_take(integers, i, k),
        b=_take(integers, i, k),
        keep=_take(floats, f, k),
        reach=_take(floats, f, n * k).reshape((n, k)),
    )
    scene = Scene(
        tree=tree,
        bodies=bodies,
        pairs=pairs,
        R_joint=_take(floats, f, 9 * m).reshape((m, 3, 3)),
        p_joint=_take(floats, f, 3 * m).reshape((m, 3)),
        R_body=_take(floats, f, 9 * b).reshape((b, 3, 3)),
        p_body=_take(floats, f, 3 * b).reshape((b, 3)),
        distance=_take(floats, f, k),
        change=_take(floats, f, k),
        behind=_take(floats, f, k),
        astray=_take(floats, f, k),
        floor=_take(floats, f, k),
        apart=_take(floats, f, k),
        room=_take(floats, f, k),
        open=_take(integers, i, k),
        rows=_take(floats, f, k * n).reshape((k, n)),
        allowed=_take(floats, f, k),
        normal=_take(floats, f, 3 * k).reshape((k, 3)),
        witness=_take(floats, f, 9),
        posture=_take(floats, f, n),
        travel=_take(floats, f, n),
        pace=_take(floats, f, n),
        gap=_take(floats, f, n),
        lag=_take(floats, f, n),
        aside=_take(floats, f, n),
        work=_take(floats, f, 1),
    )
    tools = Tools(
        joint=_take(integers, i, t),
        p=_take(floats, f, 3 * t).reshape((t, 3)),
        is_member=_take(integers, i, t * n).reshape((t, n)),
        reach=_take(floats, f, t * n).reshape((t, n)),
        speed=_take(floats, f, 1),
        sigma=_take(floats, f, 1),
        J=_take(floats, f, 6 * n).reshape((6, n)),
        gram=_take(floats, f, 36).reshape((6, 6)),
        tips=_take(floats, f, 6 * t).reshape((2, t, 3)),
    )
    return Parts(limits, box, motion, scene, tools)
