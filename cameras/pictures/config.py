"""YAML settings of a folder of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Unit, doc

from paprle.contracts.settings.camera import CameraSettings
from paprle.contracts.settings.core import STRICT


@dataclass(frozen=True, kw_only=True)
class PicturesConfig(CameraSettings):
    """Which pictures are played, how fast, and where they were taken."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    folder: Annotated[str, Unit("path"), doc("Its *.png are played, by name.")]
