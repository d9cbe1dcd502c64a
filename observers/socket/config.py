"""YAML settings of the socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Unit, doc

from paprle.contracts.settings.core import STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class SocketConfig:
    """Path of the socket."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    path: Annotated[str, Unit("path"), doc("The Unix socket on which it listens.")]
