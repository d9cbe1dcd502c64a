"""Shared properties of episodes, and format interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from paprle.observation.columns import Columns
from paprle.observation.frame import StateFrame
from paprle_lab.dataset.episodes import Robot, SourceRecording
from paprle_lab.dataset.film import ImageChoice

Format = Literal["lerobot", "hdf5"]


@dataclass(frozen=True)
class Common:
    """Shared properties of episodes.

    Attributes:
        sizes: Height and width by camera, [px].
        fps: Frame rate, [Hz].
        has_marks: Whether it tells subtasks and mistakes.
    """

    robot: Robot
    form: Format
    columns: Columns
    sizes: Mapping[str, tuple[int, int]]
    fps: int
    keep_undriven: bool = False
    choice: ImageChoice = "newest"
    has_marks: bool = False


class DatasetFormat(Protocol):
    """A format of data sets."""

    def write(
        self,
        folder: Path,
        source: SourceRecording,
        frames: Iterator[tuple[StateFrame, Any]],
    ) -> int:
        """Write a recording into an empty folder; return its length."""

    def pack(
        self, meta: Path, folders: Sequence[Path], own: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Add recordings to the data set; return its state."""
