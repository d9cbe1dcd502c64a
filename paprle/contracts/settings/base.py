"""Decorator of settings classes; ``paprle.config`` validates them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

STRICT: Mapping[str, Any] = {"extra": "forbid", "strict": True, "allow_inf_nan": False}
"""Pydantic's configuration of a settings class: unknown keys are errors."""

_T = TypeVar("_T")


@overload
def settings(cls: type[_T], /) -> type[_T]: ...
@overload
def settings(
    *, slots: bool = True, rename: Callable[[str], str] | None = None
) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(field,)
)
def settings(
    cls: type[_T] | None = None,
    /,
    *,
    slots: bool = True,
    rename: Callable[[str], str] | None = None,
) -> type[_T] | Callable[[type[_T]], type[_T]]:
    """Return a class as frozen settings, or a decorator.

    ``slots`` is False for one of several bases with fields; ``rename`` returns a
    field's key in files.
    """

    def make(cls: type[_T]) -> type[_T]:
        own = STRICT if rename is None else {**STRICT, "alias_generator": rename}
        cls.__pydantic_config__ = own  # type: ignore[attr-defined]
        return dataclass(frozen=True, kw_only=True, slots=slots)(cls)

    return make if cls is None else make(cls)
