"""Broad phase: the pairs that could meet in a period (decision 0012).

A limb's bodies make a cluster, two clusters a block; far blocks are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from paprle.compiled import inlined
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies, Ints, Pairs, ReachTable, Tree, make_reach


class Blocks(NamedTuple):
    """Pairs by the clusters of their bodies; g blocks of nc clusters.

    Attributes:
        cluster: Of each body, shape (nb,).
        one: First cluster, shape (g,).
        starts: First pair, and the end, shape (g + 1,).
        keep: Largest clearance, shape (g,), [m].
        ball: Centre and radius of clusters, shape (nc, 4), [m].
        is_seen: Measured in this period, shape (g,).
    """

    cluster: Ints
    one: Ints
    two: Ints
    starts: Ints
    keep: Vec
    reach: ReachTable
    ball: Vec
    is_seen: Ints


def find_clusters(tree: Tree, bodies: Bodies, limbs: Iterable[Ints]) -> Ints:
    """Return each body's cluster, (nb,): a limb, shared joints, or fixed."""
    own = [frozenset(columns.tolist()) for columns in limbs]
    keys: list[object] = []
    for joint, parent in enumerate(tree.parent.tolist()):
        column = int(tree.column[joint])
        named = frozenset(i for i, columns in enumerate(own) if column in columns)
        keys.append(named or (keys[parent] if parent >= 0 else joint))
    wanted = [
        keys[joint] if joint >= 0 else (body,)
        for body, joint in enumerate(bodies.joint.tolist())
    ]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(wanted))}
    return np.array([numbers[key] for key in wanted], dtype=np.int64)


def make_blocks(cluster: Ints, pairs: Pairs, n: int) -> tuple[Blocks, Ints]:
    """Return pairs in n joints as blocks, and old places, (k,)."""
    ends = np.sort([cluster[pairs.a], cluster[pairs.b]], axis=0).reshape(2, -1)
    order = np.lexsort(ends[::-1])
    kinds, first = np.unique(ends[:, order].T, axis=0, return_index=True)
    starts = np.append(first, len(order)).astype(np.int64)
    keep, most = np.zeros(len(kinds)), np.zeros((n, len(kinds)))
    for g in range(len(kinds)):
        for k in order[starts[g] : starts[g + 1]]:
            own = slice(pairs.reach.starts[k], pairs.reach.starts[k + 1])
            column = pairs.reach.column[own]
            most[column, g] = np.maximum(most[column, g], pairs.reach.rate[own])
            keep[g] = max(keep[g], pairs.keep[k])
    one, two = kinds.T.reshape(2, -1)
    n_clusters = int(cluster.max(initial=-1)) + 1
    ball, is_seen = np.zeros((n_clusters, 4)), np.zeros(len(kinds), dtype=np.int64)
    reach = make_reach(most)
    return Blocks(cluster, one, two, starts, keep, reach, ball, is_seen), order


def add_straying(pairs: Pairs, straying: Vec) -> Pairs:
    """Add the joints' straying, (n,), to pairs' clearance."""
    reach, k = pairs.reach, len(pairs.a)
    pair = np.repeat(np.arange(k), np.diff(reach.starts))
    more = np.bincount(pair, reach.rate * straying[reach.column], minlength=k)
    return pairs._replace(keep=pairs.keep + more)


def reorder(pairs: Pairs, order: Ints) -> Pairs:
    """Return the pairs in an order of old places, (k,)."""
    reach = pairs.reach
    own = [np.arange(reach.starts[k], reach.starts[k + 1]) for k in order]
    starts = np.cumsum([0, *(len(places) for places in own)])
    places = np.concatenate([*own, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    sparse = ReachTable(starts, reach.column[places], reach.rate[places])
    return Pairs(pairs.a[order], pairs.b[order], pairs.keep[order], sparse)


@inlined
def fill_balls(blocks: Blocks, bodies: Bodies, p: Vec) -> None:
    """Write a ball around each cluster of bodies at p, (nb, 3)."""
    ball, cluster = blocks.ball, blocks.cluster
    ball[:] = 0.0
    for body in range(len(cluster)):
        c = cluster[body]
        for axis in range(3):
            ball[c, axis] += p[body, axis]
        ball[c, 3] += 1.0
    for c in range(len(ball)):
        for axis in range(3):
            ball[c, axis] /= ball[c, 3]
        ball[c, 3] = 0.0
    for body in range(len(cluster)):
        c = cluster[body]
        x, y, z = p[body, 0], p[body, 1], p[body, 2]
        x, y, z = x - ball[c, 0], y - ball[c, 1], z - ball[c, 2]
        wide = math.sqrt(x * x + y * y + z * z) + bodies.sphere[body]
        ball[c, 3] = max(ball[c, 3], wide)


@inlined
def bound_block(blocks: Blocks, g: int) -> float:
    """Return a lower bound of a block's distances, [m]."""
    ball, one, two = blocks.ball, blocks.one[g], blocks.two[g]
    if one == two:
        return -math.inf
    x, y = ball[two, 0] - ball[one, 0], ball[two, 1] - ball[one, 1]
    z = ball[two, 2] - ball[one, 2]
    return float(math.sqrt(x * x + y * y + z * z) - ball[one, 3] - ball[two, 3])
