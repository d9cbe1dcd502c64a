"""All a gate computes with, in two blocks of memory.

A compiled function takes 0.05 to 0.2 µs for every array that it is handed from Python,
and the gate has fifty. So it is handed two blocks, and lays its arrays over them
itself; ``lay_out`` is that layout, for Python and for kernels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.extending import intrinsic, overload

from paprle.compiled import inlined
from paprle.contracts.types import Vec
from paprle.gate.clearance import Scene
from paprle.gate.limits import Box, Limits, Motion
from paprle.gate.tools import Tools
from paprle.robot.arrays import Bodies, Ints, Pairs, Tree

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
    n_floats = 35 * n + 29 * m + 31 * b + k * (2 * n + 13) + t * (n + 9) + 49
    n_ints = _N_SIZES + n + g + 1 + 3 * m + 2 * b + 3 * k + t * (n + 1)
    integers = np.zeros(n_ints, dtype=np.int64)
    integers[:_N_SIZES] = sizes
    return np.zeros(n_floats), integers


def borrow(block: Any, first: int, shape: tuple[int, ...]) -> Any:
    """Return a part of a block; in kernels one that is not counted as a reference.

    Numba counts references of every array that it passes on, atomically and at 5 ns
    each: a third of a period's time would go there. The gate holds the blocks for as
    long as a kernel runs.
    """
    return block[first : first + math.prod(shape)].reshape(shape)


@intrinsic  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _point_at(typing_context: Any, address: Any, dtype: Any) -> Any:  # noqa: ARG001
    """Return a pointer to an address."""
    signature = types.CPointer(dtype.dtype)(address, dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return signature, generate


@overload(borrow)  # type: ignore[untyped-decorator] # pragma: no cover - Numba's own
def _borrow(block: Any, first: Any, shape: Any) -> Any:  # noqa: ARG001
    """Compile ``borrow``."""
    kind = np.float64 if block.dtype == types.float64 else np.int64

    def borrow_address(block: Any, first: Any, shape: Any) -> Any:
        address = types.uintp(block.ctypes.data) + types.uintp(8 * first)
        return carray(_point_at(address, kind), shape)

    return borrow_address


@inlined
def lay_out(floats: Vec, integers: Ints) -> Parts:
    """Return all arrays; they share the memory of the blocks.

    Inlined, it costs a kernel nothing but the arrays that it uses. A kernel that hands
    all of them on to another pays a microsecond: it hands on the blocks.
    """
    n, g, m = integers[0], integers[1], integers[2]
    b, k, t = integers[3], integers[4], integers[5]
    of_pairs = 35 * n
    of_joints = of_pairs + k * (2 * n + 13)
    of_bodies = of_joints + 29 * m
    of_tools = of_bodies + 31 * b
    alone = of_tools + t * (n + 9)
    joints_at = _N_SIZES + n + g + 1
    bodies_at = joints_at + 3 * m
    pairs_at = bodies_at + 2 * b
    tools_at = pairs_at + 3 * k
    limits = Limits(
        q_min=borrow(floats, 0, (n,)),
        q_max=borrow(floats, n, (n,)),
        dq_max=borrow(floats, 2 * n, (n,)),
        ddq_max=borrow(floats, 3 * n, (n,)),
        lag_bound=borrow(floats, 4 * n, (n,)),
        members=borrow(integers, _N_SIZES, (n,)),
        starts=borrow(integers, _N_SIZES + n, (g + 1,)),
    )
    box = Box(
        brake=borrow(floats, 5 * n, (n,)),
        low=borrow(floats, 6 * n, (n,)),
        high=borrow(floats, 7 * n, (n,)),
        base=borrow(floats, 8 * n, (n,)),
        wanted=borrow(floats, 9 * n, (n,)),
    )
    motion = Motion(
        c=borrow(floats, 10 * n, (n,)),
        v=borrow(floats, 11 * n, (n,)),
        feed=borrow(floats, 12 * n, (n,)),
        ddq=borrow(floats, 13 * n, (n,)),
        target=borrow(floats, 14 * n, (n,)),
        dq_des=borrow(floats, 15 * n, (n,)),
        before=borrow(floats, 16 * n, (n,)),
        q_meas=borrow(floats, 17 * n, (n,)),
        goal=borrow(floats, 18 * n, (n,)),
        error=borrow(floats, 19 * n, (n,)),
        exact=borrow(floats, 20 * n, (n,)),
        v_next=borrow(floats, 21 * n, (n,)),
        q_next=borrow(floats, 22 * n, (n,)),
        straight=borrow(floats, 23 * n, (n,)),
        is_straight=borrow(floats, alone, (1,)),
    )
    tree = Tree(
        parent=borrow(integers, joints_at, (m,)),
        R=borrow(floats, of_joints, (m, 3, 3)),
        p=borrow(floats, of_joints + 9 * m, (m, 3)),
        axis=borrow(floats, of_joints + 12 * m, (m, 3)),
        is_prismatic=borrow(integers, joints_at + m, (m,)),
        column=borrow(integers, joints_at + 2 * m, (m,)),
        scale=borrow(floats, of_joints + 15 * m, (m,)),
        offset=borrow(floats, of_joints + 16 * m, (m,)),
    )
    bodies = Bodies(
        joint=borrow(integers, bodies_at, (b,)),
        R=borrow(floats, of_bodies, (b, 3, 3)),
        p=borrow(floats, of_bodies + 9 * b, (b, 3)),
        kind=borrow(integers, bodies_at + b, (b,)),
        size=borrow(floats, of_bodies + 12 * b, (b, 5)),
        sphere=borrow(floats, of_bodies + 17 * b, (b,)),
        capsule=borrow(floats, of_bodies + 18 * b, (b,)),
    )
    pairs = Pairs(
        a=borrow(integers, pairs_at, (k,)),
        b=borrow(integers, pairs_at + k, (k,)),
        keep=borrow(floats, of_pairs, (k,)),
        reach=borrow(floats, of_pairs + 13 * k, (n, k)),
    )
    scene = Scene(
        tree=tree,
        bodies=bodies,
        pairs=pairs,
        R_joint=borrow(floats, of_joints + 17 * m, (m, 3, 3)),
        p_joint=borrow(floats, of_joints + 26 * m, (m, 3)),
        R_body=borrow(floats, of_bodies + 19 * b, (b, 3, 3)),
        p_body=borrow(floats, of_bodies + 28 * b, (b, 3)),
        distance=borrow(floats, of_pairs + k, (k,)),
        change=borrow(floats, of_pairs + 2 * k, (k,)),
        pace=borrow(floats, of_pairs + 12 * k, (k,)),
        behind=borrow(floats, of_pairs + 3 * k, (k,)),
        astray=borrow(floats, of_pairs + 4 * k, (k,)),
        floor=borrow(floats, of_pairs + 5 * k, (k,)),
        apart=borrow(floats, of_pairs + 6 * k, (k,)),
        room=borrow(floats, of_pairs + 7 * k, (k,)),
        open=borrow(integers, pairs_at + 2 * k, (k,)),
        rows=borrow(floats, of_pairs + (13 + n) * k, (k, n)),
        allowed=borrow(floats, of_pairs + 8 * k, (k,)),
        normal=borrow(floats, of_pairs + 9 * k, (k, 3)),
        witness=borrow(floats, alone + 4, (9,)),
        posture=borrow(floats, 24 * n, (n,)),
        travel=borrow(floats, 25 * n, (n,)),
        gap=borrow(floats, 26 * n, (n,)),
        lag=borrow(floats, 27 * n, (n,)),
        aside=borrow(floats, 28 * n, (n,)),
        work=borrow(floats, alone + 1, (1,)),
    )
    tools = Tools(
        joint=borrow(integers, tools_at, (t,)),
        p=borrow(floats, of_tools, (t, 3)),
        is_member=borrow(integers, tools_at + t, (t, n)),
        reach=borrow(floats, of_tools + 9 * t, (t, n)),
        speed=borrow(floats, alone + 2, (1,)),
        sigma=borrow(floats, alone + 3, (1,)),
        J=borrow(floats, 29 * n, (6, n)),
        gram=borrow(floats, alone + 13, (6, 6)),
        tips=borrow(floats, of_tools + 3 * t, (2, t, 3)),
    )
    return Parts(limits, box, motion, scene, tools)
