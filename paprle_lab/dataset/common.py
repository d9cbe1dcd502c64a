"""Properties that all episodes of a data set share, and the interface of a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from paprle.observation.columns import Columns
from paprle.observation.frame import Frame
from paprle_lab.dataset.episodes import Robot, SourceRecording

Format = Literal["lerobot", "hdf5"]


@dataclass(frozen=True)
class Common:
    """The properties that all episodes of a data set share.

    Attributes:
        robot: Of all recordings.
        form: Of the data set.
        columns: Of numbers.
        sizes: Height and width of images by camera, [px].
        fps: Frames a second.
        keep_undriven: Frames that no leader drove are part of it.
    """

    robot: Robot
    form: Format
    columns: Columns
    sizes: Mapping[str, tuple[int, int]]
    fps: int
    keep_undriven: bool = False


class Target(Protocol):
    """A format: writes one recording on its own, and then all that were written."""

    def write(
        self, folder: Path, source: SourceRecording, frames: Iterator[tuple[Frame, Any]]
    ) -> int:
        """Write a recording into an empty folder; return how many frames."""

    def pack(
        self, meta: Path, folders: Sequence[Path], own: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Add what was written to the data set; return what to know of it later."""
