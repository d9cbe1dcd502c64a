"""The one way to compile: plain functions over arrays, cached for this user.

A kernel is a Python function of scalar loops that Numba compiles on its first call.
With ``NUMBA_DISABLE_JIT=1`` the very same functions run uncompiled: they are their own
readable reference, and coverage and mutation tests see every line of them.

Numba renews a cached kernel when its own file is another, but not when a kernel that
it calls from another file is. So the cache folder is keyed by a hash of the content of
all kernel sources, and a stale kernel is never loaded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from paprle.compiled.kernel_parts import PartCompiler, Whole

_Kernel = TypeVar("_Kernel", bound=Callable[..., object])

_MARKS = b"from paprle.compiled import", b"from numba"


def _find_cache(package: Path) -> Path:
    """Return the cache folder of a package's very sources, where they are."""
    # Numba itself keeps the kernels of each folder apart
    digest = hashlib.sha256(f"{numba.__version__} {package}".encode())
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            digest.update(source)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "paprle" / digest.hexdigest()[:16]


CACHE = os.environ.get("NUMBA_CACHE_DIR") or str(_find_cache(Path(__file__).parents[1]))
"""Folder of compiled kernels; another one for other sources."""

numba.config.CACHE_DIR = CACHE


def compiled(function: _Kernel) -> _Kernel:
    """Compile a kernel on its first call; division by zero gives inf or NaN."""
    return _compile(function)


def compiled_aside(function: _Kernel) -> _Kernel:
    """Compile a kernel that takes its time in a thread beside a loop.

    Returns:
        The kernel; while it runs it leaves the interpreter's lock to the loop.
    """
    return _compile(function, nogil=True)


def inlined(function: _Kernel) -> _Kernel:
    """Compile a small kernel into whoever calls it.

    A call costs 50 to 100 ns with arrays as arguments, more than such a kernel does.

    Returns:
        The kernel.
    """
    return _compile(function, forceinline=True)


def _compile(function: _Kernel, **options: bool) -> _Kernel:
    """Make a kernel that is whole to Python, and a part to other kernels."""
    if numba.config.DISABLE_JIT:
        return function
    options |= {"no_cfunc_wrapper": True}
    jit = partial(numba.njit, error_model="numpy", **options)
    kernel = jit(cache=True, pipeline_class=Whole)(function)
    part = jit(no_cpython_wrapper=True, pipeline_class=PartCompiler)(function)

    def find_template(args: Any, kws: dict[str, Any]) -> Any:
        # else it is compiled once more for each number that is written out
        any_number = map(numba.types.unliteral, args)
        return part.get_call_template(tuple(any_number), kws)

    kernel.get_call_template = find_template
    kernel.get_overload = part.get_overload
    return cast(_Kernel, kernel)
