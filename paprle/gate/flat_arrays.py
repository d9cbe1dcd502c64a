"""Tuples of arrays in two blocks of memory, as kernels take them.

An array costs the compiler seven or more parameters, a laid tuple three.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array

ITEM = 8
"""Size of an item of both blocks, [B]."""
ITEMS = types.float64, types.int64
"""Types of the numbers in the blocks."""


def count_words(kind: Any) -> int:
    """Return the number of integers that describe arrays."""
    return kind.n_words if isinstance(kind, Laid) else 1 + int(kind.ndim)


class Laid(types.Type):  # type: ignore[misc]
    """The type of a named tuple of arrays, described one after the other."""

    def __init__(self, of: Any, kinds: Iterable[Any]) -> None:
        self.of = of
        self.parts: dict[str, tuple[int, Any]] = {}
        self.n_words = 0
        for name, kind in zip(of._fields, kinds, strict=True):
            self.parts[name] = self.n_words, kind
            self.n_words += count_words(kind)
        super().__init__(name=f"Laid({of.__name__})")

    @property
    def key(self) -> Any:
        """The identity of the type in Numba."""
        return self.of, tuple(self.parts.items())


@register_model(Laid)
class _LaidModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, laid: Laid) -> None:
        floats, integers = map(types.CPointer, ITEMS)
        members = ("floats", floats), ("integers", integers), ("at", types.intp)
        super().__init__(manager, laid, members)


@infer_getattr
class _LaidFields(AttributeTemplate):  # type: ignore[misc]
    key = Laid

    def generic_resolve(self, laid: Laid, name: str) -> Any:
        return laid.parts[name][1] if name in laid.parts else None


@lower_getattr_generic(Laid)  # type: ignore[untyped-decorator] # pragma: no cover
def _get_field(context: Any, builder: Any, laid: Laid, value: Any, name: str) -> Any:
    offset, kind = laid.parts[name]
    place = cgutils.create_struct_proxy(laid)(context, builder, value)
    at = builder.add(place.at, cgutils.intp_t(offset))
    if isinstance(kind, Laid):
        return _make_laid(context, builder, kind, (place.floats, place.integers, at))
    never_written = builder.module.add_metadata([])

    def read(word: int) -> Any:
        where = builder.add(at, cgutils.intp_t(word))
        read = builder.load(builder.gep(place.integers, [where]))
        read.set_metadata("invariant.load", never_written)
        return read

    shape = [read(1 + axis) for axis in range(kind.ndim)]
    strides = [cgutils.intp_t(ITEM)]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    block = (place.floats, place.integers)[ITEMS.index(kind.dtype)]
    array = populate_array(
        make_array(kind)(context, builder),
        data=builder.gep(block, [read(0)]),
        shape=shape,
        strides=strides,
        itemsize=cgutils.intp_t(ITEM),
        meminfo=None,  # whoever called the kernel holds the blocks
    )
    return array._getvalue()  # noqa: SLF001 - as Numba's own arrays


def make_intrinsic(of: Any, places: Iterable[int], kinds: Iterable[Laid]) -> Any:
    """Return an intrinsic that makes a named tuple from both blocks."""
    kinds, places = tuple(kinds), tuple(places)
    result = types.BaseTuple.from_types(kinds, of)

    def lay(typing_context: Any, floats: Any, integers: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            blocks = [
                make_array(kind)(context, builder, block).data
                for kind, block in zip(signature.args, args, strict=True)
            ]
            parts = [
                _make_laid(context, builder, kind, (*blocks, cgutils.intp_t(at)))
                for kind, at in zip(kinds, places, strict=True)
            ]
            return context.make_tuple(builder, result, parts)

        return result(floats, integers), generate

    return intrinsic(lay)


def _make_laid(context: Any, builder: Any, kind: Laid, place: tuple[Any, ...]) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.floats, made.integers, made.at = place
    return made._getvalue()  # noqa: SLF001 - as Numba's own tuples
