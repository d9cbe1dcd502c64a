"""With another Numba kernels compile plainly, and do the very same."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from arms import ROOT
from numba.core import codegen

from paprle import compiled

needs_jit = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="kernels run uncompiled"
)


class Kernels(NamedTuple):
    """Of each kind one; the second and the third call the first."""

    scale: object
    add_up: object
    copy_scaled: object


def make_kernels():
    def scale(x, factor):
        for i in range(len(x)):
            x[i] *= factor

    part = compiled.inlined(scale)

    def add_up(x):
        part(x, 3)
        part(x, 1.0 / x[0])
        total = 0.0
        for value in x:
            total += np.sin(value)
        return total / x[1]

    def copy_scaled(x):
        made = x.copy()
        part(made, 0.1)
        return made, made[1:]

    return Kernels(
        part, compiled.compiled(add_up), compiled.compiled_aside(copy_scaled)
    )


@pytest.fixture
def both(monkeypatch, tmp_path):
    """The kernels in parts, as far as this Numba has any, and the same plainly."""
    monkeypatch.setattr(compiled, "CACHE", str(tmp_path / "parts"))
    in_parts = make_kernels()
    monkeypatch.setattr(compiled, "CACHE", str(tmp_path / "plain"))
    monkeypatch.setattr(compiled, "PIPELINES", None)
    return in_parts, make_kernels()


X = [[0.3, 0.7, -2.5], [0.3, 0.0, 1.0], [1e-320, 0.0, 0.0]]


@needs_jit
@pytest.mark.long
def test_plain_kernels_do_the_same_to_the_last_bit(both):
    results = []
    for kernels in both:
        rows = np.array(X)
        sums = [kernels.add_up(row) for row in rows]
        copies = [kernels.copy_scaled(row) for row in rows]
        kernels.scale(rows[0], 7)
        whole, tails = zip(*copies, strict=True)
        results.append([np.array(sums), rows, np.array(whole), np.array(tails)])

    for in_parts, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(in_parts, plain)
    assert np.isinf(results[1][0]).any(), "a division by zero raises nothing"


@needs_jit
def test_plain_kernels_have_the_same_options(both):
    for kernels in both:
        scale, add_up, copy_scaled = (kernel.targetoptions for kernel in kernels)

        assert scale["forceinline"]
        assert copy_scaled["nogil"]
        assert "nogil" not in add_up
        assert add_up["error_model"] == "numpy"


@needs_jit
@pytest.mark.long
def test_plain_kernels_are_cached(both, tmp_path):
    both[1].add_up(np.array(X[0]))

    names = {path.name.split("-")[0] for path in (tmp_path / "plain").rglob("*.nbi")}
    assert {name.split(".")[-1] for name in names} == {"add_up", "scale"}


def test_this_numba_has_parts_if_it_was_verified():
    is_verified = numba.__version__.startswith("0.68.")

    assert (compiled.PIPELINES is not None) == is_verified


@pytest.mark.parametrize("version", ["0.60.0", "0.61.2", "0.67.0", "0.69.0", "0.680"])
def test_another_numba_compiles_plainly(monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)

    assert compiled._find_pipelines() is None


@pytest.mark.parametrize(
    ("owner", "lacks"),
    [(codegen, "JITCodeLibrary"), (codegen.JITCodeLibrary, "get_pointer_to_function")],
    ids=["class", "method"],
)
def test_a_numba_that_lacks_a_piece_compiles_plainly(monkeypatch, owner, lacks):
    monkeypatch.setattr(numba, "__version__", "0.68.9")
    monkeypatch.delitem(sys.modules, "paprle.compiled.kernel_parts", raising=False)
    monkeypatch.delattr(owner, lacks)

    assert compiled._find_pipelines() is None


COMMANDS = ROOT / "tests/support/runs/kernel_commands.py"


@needs_jit
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_plain_kernels_give_the_same_commands(tmp_path):
    """All kernels are compiled once more: 90 s of a core that is idle."""
    in_parts, plain = (
        subprocess.run(
            [sys.executable, COMMANDS, *words],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | cache,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for words, cache in (((), {}), (["plain"], {"NUMBA_CACHE_DIR": str(tmp_path)}))
    )

    assert len(in_parts) == len(plain) == 640
    assert in_parts == plain, "not the same to the last bit"
