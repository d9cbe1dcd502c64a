"""Numba compilation of called kernels as parts, optimised once as a whole.

It depends on Numba's internals. Counting references only where arrays are made saves a
third of the compile time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.typed_passes import NoPythonSupportedFeatureValidation

# with a Numba that lacks one of these, importing fails, and kernels compile plainly
attrgetter(
    "add_llvm_module",
    "enable_object_caching",
    "finalize",
    "get_pointer_to_function",
    "_optimize_final_module",
)(JITCodeLibrary)

_MAKERS: set[tuple[Callable[..., object], tuple[types.Type, ...]]] = set()
"""Kernels that return arrays, with the types they take."""
_MAKING = ("binop", "inplace_binop", "unary", "arrayexpr")
"""Expressions whose array is a new one."""


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Lowered code of a part; a part never runs."""

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        return _NoEnvironment

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        fails = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p)
        return int(fails.value or 0)


class _WholeLibrary(JITCodeLibrary):  # type: ignore[misc]
    def finalize(self) -> None:
        self._linking_libraries: list[Any] = _find_all(self._linking_libraries)
        super().finalize()

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()  # noqa: SLF001
        passes.run(self._final_module, builder)


def _find_all(libraries: list[Any]) -> list[Any]:
    found: dict[Any, None] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            if isinstance(library, _PartLibrary):
                waiting += library._linking_libraries  # noqa: SLF001
    return list(found)


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, env: object) -> None:
        """Set nothing."""


class _CountWhereMade(FunctionPass):  # type: ignore[misc]
    _name = "count_where_made"
    _is_part = False

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        # whoever gets an array, even a view of its own, lets go of it as of a new one
        returns_arrays = _is_counted(state, state.return_type)
        if returns_arrays:
            _MAKERS.add((state.func_id.func, tuple(state.args)))
        counts = returns_arrays or _makes_arrays(state)
        state.flags.nrt = counts
        state.targetctx = state.targetctx.subtarget(enable_nrt=counts)
        library = _PartLibrary if self._is_part else _WholeLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _MakeWhole(_CountWhereMade):
    _name = "make_whole"


@register_pass(mutates_CFG=False, analysis_only=True)
class _MakePart(_CountWhereMade):
    _name = "make_part"
    _is_part = True


def _makes_arrays(state: Any) -> bool:
    def is_counted(variable: Any) -> bool:
        return _is_counted(state, state.typemap[variable.name])

    for block in state.func_ir.blocks.values():
        for copied in block.find_insts(ir.SetItem):
            if is_counted(copied.value):
                return True
        for made in block.find_insts(ir.Assign):
            how = made.value
            if not isinstance(how, ir.Expr) or not is_counted(made.target):
                continue
            if how.op in _MAKING or (how.op == "getitem" and is_counted(how.index)):
                return True
            if how.op == "call" and _calls_maker(state, how):
                return True
    return False


def _calls_maker(state: Any, call: Any) -> bool:
    called = state.typemap[call.func.name]
    if not isinstance(called, types.Dispatcher):
        return True
    taken = tuple(state.calltypes[call].args)
    return (called.dispatcher.py_func, taken) in _MAKERS


def _is_counted(state: Any, kind: types.Type) -> bool:
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())


def _make_passes(state: Any, added: type) -> list[PassManager]:
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    passes.add_pass_after(added, NoPythonSupportedFeatureValidation)
    passes.finalize()
    return [passes]


class Whole(CompilerBase):  # type: ignore[misc]
    """Compiler of kernels that Python calls."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        return _make_passes(self.state, _MakeWhole)


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiler of kernels that kernels call."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        return _make_passes(self.state, _MakePart)
