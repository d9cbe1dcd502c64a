"""Kernels that are parts of others: the same results, and no array is ever lost."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from cells import spread

from paprle.compiled import PIPELINES, compiled, inlined

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or PIPELINES is None,
    reason="kernels run uncompiled, or are compiled plainly",
)

N = 1000  # calls


def double(x):
    for i in range(len(x)):
        x[i] *= 2.0


def copy_of(x):
    return x.copy()


def tail_of(x):
    return x[1:], x[0]


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch, tmp_path):
    monkeypatch.setattr("paprle.compiled.CACHE", str(tmp_path))


def make_quadruple():
    part = compiled(double)

    def quadruple(x):
        part(x)
        part(x)

    return part, compiled(quadruple)


def test_a_part_does_the_same_by_itself_and_in_another():
    part, whole = make_quadruple()
    x = np.array([1.0, 2.0])

    part(x)
    whole(x)
    part(x)

    np.testing.assert_array_equal(x, [16.0, 32.0])


def test_a_kernel_that_makes_no_array_counts_none():
    _, whole = make_quadruple()
    whole(np.ones(2))

    (code,) = whole.inspect_llvm().values()
    body = code[: code.index("_ZN7cpython")] if "_ZN7cpython" in code else code

    assert "NRT_incref" not in body


def test_a_view_that_is_returned_is_a_view():
    x = np.arange(3.0)

    rest, first = compiled(tail_of)(x)
    rest[0] = 7.0

    np.testing.assert_array_equal(rest, [7.0, 2.0])
    assert (x[1], first) == (7.0, 0.0)


def test_a_part_that_returns_a_view_of_an_array_leaves_it_to_its_maker():
    part = compiled(lambda x: x[1:])

    def add_up(n):
        made = np.ones(n)
        first = part(made)[0]
        other = np.zeros(n)  # takes the memory of what was let go of
        return made[n - 1] + first + other[0]

    assert compiled(add_up)(5) == 2.0


LEAKS = f"""
import numpy as np
from numba.core.runtime import rtsys, _nrt_python
from paprle.compiled import compiled, inlined
_nrt_python.memsys_enable_stats()
copy_of = DECORATED(lambda x: x.copy())
tail_of = DECORATED(lambda x: x[1:])
kernels = [
    compiled(lambda x: copy_of(x)[0]),
    compiled(lambda x: copy_of(x)),
    compiled(lambda x: x[np.array([0, 1])][1] + (x + x)[0]),
    compiled(lambda x: (x, copy_of(copy_of(x)))[1][1]),
    compiled(lambda x: tail_of(copy_of(x))[0] + tail_of(x)[0]),
]
x = np.arange(3.0)
for kernel in kernels:
    kernel(x)
    before = rtsys.get_allocation_stats()
    for _ in range({N}):
        kernel(x)
    after = rtsys.get_allocation_stats()
    made, freed = after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free
    assert made >= {N} and made == freed, (made, freed)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "decorated", spread([compiled.__name__, inlined.__name__], compiled.__name__)
)
def test_arrays_that_kernels_make_are_freed(decorated, tmp_path):
    script = tmp_path / "leaks.py"  # Numba caches what has a file
    script.write_text(LEAKS.replace("DECORATED", decorated))

    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
