"""YAML settings of a recorded camera."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Unit, doc

from paprle.contracts.settings.camera import FilmSettings
from paprle.contracts.settings.core import STRICT


@dataclass(frozen=True, kw_only=True)
class FileConfig(FilmSettings):
    """Which camera of which episode is played; its calibration comes from there."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    path: Annotated[str, Unit("path"), doc("The episode's MCAP file.")]
    camera: Annotated[str, doc("One of its cameras; the only one when absent.")] = ""
    loop: Annotated[bool, doc("Begin again at the end.")] = True
