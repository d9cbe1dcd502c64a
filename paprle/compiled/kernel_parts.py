"""Compilation of a kernel that Python calls from the kernels that it calls.

Numba optimises each function, and then again within each that calls it, so that what
lies ten calls deep is optimised ten times. Here a kernel that is called by kernels is a
part: typed and lowered once, never optimised or run by itself. Only what Python calls
is: it is linked with all its parts and optimised once, as a whole.

A kernel counts references of arrays only where it makes or returns one, or gets one
from a kernel. Other arrays are its caller's, which holds them until the kernel returns;
counting them takes a third of the time to compile.

This reaches into Numba's compiler, so that it is used with those versions alone that it
was verified with: ``paprle.compiled`` names them, and compiles plainly with others.
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
    """The code of a part: as it was lowered, to be linked into what calls it."""

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Leave it as it is; what it calls is linked with it into the whole."""
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Code generator that sets no environment: a part is never run."""
        return _NoEnvironment

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Address of a function that only fails: nobody runs a part."""
        fails = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p)
        return int(fails.value or 0)


class _WholeLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel and its parts, optimised once."""

    def finalize(self) -> None:
        """Link all parts, those of parts as well, and optimise them."""
        self._linking_libraries: list[Any] = _find_all(self._linking_libraries)
        super().finalize()

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()  # noqa: SLF001
        passes.run(self._final_module, builder)


def _find_all(libraries: list[Any]) -> list[Any]:
    """Return libraries, and all that the parts among them call."""
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
    """Turns counting of references off where no array is made."""

    _name = "count_where_made"
    _is_part = False

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Decide for one function, between its types and its code.

        Args:
            state: What Numba knows of the function.

        Returns:
            Whether its code was changed.
        """
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
    """Return whether a function makes an array, or may get a new one of a kernel."""

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
    """Return whether a called function may return a new array."""
    called = state.typemap[call.func.name]
    if not isinstance(called, types.Dispatcher):
        return True
    taken = tuple(state.calltypes[call].args)
    return (called.dispatcher.py_func, taken) in _MAKERS


def _is_counted(state: Any, kind: types.Type) -> bool:
    """Return whether a value of a type is, or holds, something with references."""
    return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())


def _make_passes(state: Any, added: type) -> list[PassManager]:
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    passes.add_pass_after(added, NoPythonSupportedFeatureValidation)
    passes.finalize()
    return [passes]


class Whole(CompilerBase):  # type: ignore[misc]
    """Compiles a kernel that Python calls."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes of a whole kernel."""
        return _make_passes(self.state, _MakeWhole)


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles a kernel as a part of those that call it."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes of a part."""
        return _make_passes(self.state, _MakePart)
