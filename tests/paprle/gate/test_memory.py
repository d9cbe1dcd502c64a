"""The gate's memory: nothing overlaps, nothing is outside, nothing grows."""

from __future__ import annotations

import itertools
from typing import get_type_hints

import numba
import numpy as np
import pytest
from adversary import H, drive, load

from benchmarks.gate_soak import KEPT, Memory, run_memory
from paprle.compiled import compiled
from paprle.gate import memory
from paprle.gate.gate import Gate
from paprle.gate.memory import GateParts, Sizes, allocate, view_memory


def find_arrays(parts):
    """Return all arrays of nested tuples."""
    if isinstance(parts, np.ndarray):
        return [parts]
    return list(itertools.chain.from_iterable(find_arrays(part) for part in parts))


SIZES = [
    Sizes(1, 1, 0, 0, 0, 0, 1, 0),
    Sizes(7, 1, 9, 20, 95, 1, 4, 190),
    Sizes(3, 2, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37),
    Sizes(2, 3, 1, 1, 1, 1, 2, 2),
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_arrays_fill_the_memory_and_never_overlap(sizes):
    blocks = allocate(sizes)
    parts = view_memory(*blocks)

    for block, first in zip(blocks, (0, memory.N_HEAD), strict=True):
        taken = np.zeros(len(block), dtype=int)
        for array in find_arrays(parts):
            if array.dtype == block.dtype and array.size:
                begin = array.__array_interface__["data"][0] - block.ctypes.data
                assert begin % 8 == 0
                assert array.flags.c_contiguous
                assert 0 <= begin // 8 <= len(block) - array.size
                taken[begin // 8 : begin // 8 + array.size] += 1
        assert (taken[:first] == 0).all(), "the head itself stays"
        assert (taken[first:] == 1).all()


def find_paths(kind, path):
    """Return the paths of all arrays of nested tuples, in their order."""
    hints = getattr(kind, "_fields", None) and get_type_hints(kind)
    if not hints:
        return [path]
    found = [find_paths(hint, f"{path}.{name}") for name, hint in hints.items()]
    return list(itertools.chain.from_iterable(found))


@compiled
def number(array, k, shapes):
    for axis in range(array.ndim):
        shapes[k, axis] = array.shape[axis]
    for i in range(array.size):
        array.flat[i] = k + 1


@pytest.fixture(scope="module")
def number_all():
    """Fills each array of a memory with its number, and tells its shape."""
    paths = find_paths(GateParts, "view_memory(floats, integers)")
    calls = [f"    number({path}, {k}, shapes)" for k, path in enumerate(paths)]
    made = {"view_memory": view_memory, "number": number}
    # a kernel can name no field by a variable
    exec("\n".join(["def number_all(floats, integers, shapes):", *calls]), made)
    return (
        made["number_all"]
        if numba.config.DISABLE_JIT
        else numba.njit(made["number_all"])
    )


@pytest.mark.long
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_kernels_lay_it_out_as_python_does(sizes, number_all):
    blocks = allocate(sizes)
    arrays = find_arrays(view_memory(*blocks))
    shapes = np.full((len(arrays), 3), -1)

    number_all(*blocks, shapes)

    for k, array in enumerate(arrays):
        assert tuple(shapes[k, : array.ndim]) == array.shape
        assert (shapes[k, array.ndim :] == -1).all()
        assert (array == k + 1).all()


def test_sizes_head_the_integers():
    _, integers = allocate(SIZES[2])

    assert tuple(integers[: len(SIZES[2])]) == SIZES[2]


def test_the_parts_python_sees_hold_the_memory():
    parts = Gate(load("piper"), h=H)._parts

    for array in find_arrays(parts):
        while array.base is not None:
            array = array.base  # noqa: PLW2901 - up to the block itself
        assert array.flags.owndata, "else it points at memory that is long free"


def test_two_gates_share_nothing():
    robot = load("piper")
    one, two = Gate(robot, h=H), Gate(robot, h=H)
    target = robot.home + 0.1
    alone, _, _ = drive(Gate(robot, h=H), [target] * 50)
    for k in range(50):
        two.step(robot.home - 0.1, H)

        assert (one.step(target, H).q_cmd == alone[k]).all()


@pytest.mark.long
def test_memory_does_not_grow():
    assert run_memory("table2", 5000, seed=1) == 0


def test_memory_that_grows_is_noticed():
    kept, memory = [], Memory(10)
    memory.look(1)
    before = str(memory)
    kept += [object() for _ in range(2 * KEPT)]

    assert memory.judge() == 1
    assert str(memory) != before


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_memory_does_not_grow_for_long():
    assert run_memory("piper", 1_000_000, seed=1) == 0
