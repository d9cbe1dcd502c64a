"""Numba kernels, cached per user by a hash of all kernel sources.

Numba's cache misses called kernels in other files. Untested Numba versions use plain
``numba.njit``: equal results, over twice the compile time.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
from numba.core.registry import cpu_target

_Kernel = TypeVar("_Kernel", bound=Callable[..., object])

_MARKS = b"from paprle.compiled import", b"from numba"
_VERIFIED = "0.68."
"""Versions whose compiler ``kernel_parts`` was verified with."""

_ALGEBRA = "numba.np.arraymath"
_BLAS = "scipy.linalg.cython_blas"

_OWN_FOLDER = threading.Lock()
"""Held while Numba's setting names our cache."""


def _find_pipelines() -> tuple[Any, Any] | None:
    if not numba.__version__.startswith(_VERIFIED):
        return None
    try:
        kernel_parts = importlib.import_module("paprle.compiled.kernel_parts")
    except (ImportError, AttributeError):  # something that it reaches into is missing
        return None
    return kernel_parts.Whole, kernel_parts.PartCompiler


PIPELINES = _find_pipelines()
"""Compilers of a whole kernel and of a part; None: kernels are compiled plainly."""


def _find_cache(package: Path) -> Path:
    # Numba itself keeps the kernels of each folder apart
    how = "parts" if PIPELINES else "plain"
    digest = hashlib.sha256(f"{numba.__version__} {how} {package}".encode())
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            digest.update(source)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "paprle" / digest.hexdigest()[:16]


CACHE = os.environ.get("NUMBA_CACHE_DIR") or str(_find_cache(Path(__file__).parents[1]))
"""Folder of compiled kernels; another one for other sources."""


def compiled(function: _Kernel) -> _Kernel:
    """Compile a kernel on its first call; division by zero gives inf or NaN."""
    return _compile(function)


def compiled_aside(function: _Kernel) -> _Kernel:
    """Return a kernel that releases the GIL."""
    return _compile(function, nogil=True)


def inlined(function: _Kernel) -> _Kernel:
    """Return a small inlined kernel, saving 50 to 100 ns a call."""
    return _compile(function, forceinline=True)


def _compile(function: _Kernel, **options: bool) -> _Kernel:
    if numba.config.DISABLE_JIT:
        return function
    jit = partial(numba.njit, error_model="numpy", **options)
    if PIPELINES is None:
        return cast(_Kernel, _cache_on_use(jit(function)))
    return cast(_Kernel, _compile_in_parts(function, jit, *PIPELINES))


def _compile_in_parts(function: _Kernel, jit: Any, whole: Any, part: Any) -> Any:
    jit = partial(jit, no_cfunc_wrapper=True)
    to_python = _cache_on_use(jit(pipeline_class=whole)(function))

    @cache
    def make_part() -> Any:
        return jit(no_cpython_wrapper=True, pipeline_class=part)(function)

    def find_template(args: Any, kws: dict[str, Any]) -> Any:
        # else it is compiled once more for each number that is written out
        any_number = map(numba.types.unliteral, args)
        return make_part().get_call_template(tuple(any_number), kws)

    to_python.get_call_template = find_template
    to_python.get_overload = lambda signature: make_part().get_overload(signature)
    return to_python


def _cache_on_use(kernel: Any) -> Any:
    compile_now = kernel.compile

    def compile_cached(signature: Any) -> Any:
        with _OWN_FOLDER:
            _import_algebra()
            theirs, numba.config.CACHE_DIR = numba.config.CACHE_DIR, CACHE
            try:
                kernel.enable_caching()
            finally:  # kernels of the program that imports this one stay there
                numba.config.CACHE_DIR = theirs
        kernel.compile = compile_now
        return compile_now(signature)

    kernel.compile = compile_cached
    return kernel


def prepare() -> None:
    """Load the needs of every kernel, for forks to share."""
    if not numba.config.DISABLE_JIT:
        _import_algebra()
        cpu_target.target_context.refresh()


def _import_algebra() -> None:
    """Import what kernels load, without SciPy's BLAS: half a second."""
    if _ALGEBRA in sys.modules or _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = ModuleType(_BLAS)  # Numba only looks whether it is there
    try:
        importlib.import_module(_ALGEBRA)
    finally:
        del sys.modules[_BLAS]
