"""Settings of a recorded camera."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import FilmSettings


@settings(slots=False)
class FileConfig(FilmSettings):
    """Episode and camera to play; the calibration is the recorded one."""

    path: Annotated[str, Unit("path"), doc("The episode's MCAP file.")]
    camera: Annotated[str, doc("One of its cameras; the only one when absent.")] = ""
    loop: Annotated[bool, doc("Begin again at the end.")] = True
