"""Settings of a picture folder."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings


@settings(slots=False)
class PicturesConfig(CameraSettings):
    """Pictures, rate and camera pose."""

    folder: Annotated[str, Unit("path"), doc("Its *.png are played, by name.")]
