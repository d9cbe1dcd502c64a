"""Conversion into LeRobot's format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from paprle.observation.frame import StateFrame
from paprle_lab.dataset.common import Common
from paprle_lab.dataset.episode_shard import (
    Frame,
    PieceWriter,
    ShardEpisode,
    write_pieces,
)
from paprle_lab.dataset.episodes import SourceRecording
from paprle_lab.dataset.formats.card import write_card
from paprle_lab.dataset.formats.lerobot import Shape, Totals, pack, read_stats
from paprle_lab.dataset.formats.marks import place_marks


class LerobotTarget:
    """Writer of LeRobot v3.0."""

    def __init__(self, root: Path, common: Common) -> None:
        self._root = root
        self._shape = Shape(
            robot_type=common.columns.robot.name,
            fps=common.fps,
            columns=common.columns.all,
            sizes=common.sizes,
            cameras=common.robot.header.get("cameras", {}),
            has_marks=common.has_marks,
        )

    def write(
        self,
        folder: Path,
        source: SourceRecording,
        frames: Iterator[tuple[StateFrame, Any]],
    ) -> int:
        """Write a recording as one or several pieces."""
        shape, n = self._shape, 0
        make = partial(
            PieceWriter, columns=shape.columns, sizes=shape.sizes, fps=shape.fps
        )
        stamps = list[int]()
        plain = _note_stamps(frames, stamps)
        for piece in write_pieces(folder, plain, make, shape.fps):
            marks = place_marks(source.marks, stamps[n : n + piece.n])
            piece.close(source.task, source.outcome, source.sha256, marks)
            n += piece.n
        return n

    def pack(
        self, meta: Path, folders: Sequence[Path], own: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Pack the pieces."""
        totals = Totals(**own.get("totals", {}), stats=read_stats(meta))
        parts = [part for folder in folders for part in sorted(folder.glob("part-*"))]
        pieces = [ShardEpisode.read(part) for part in parts]
        if pieces:
            pack(self._root, meta, pieces, self._shape, totals)
            write_card(self._root, self._shape, totals)
        values = asdict(totals)
        del values["stats"]  # which stand in a file of their own
        return values


def _note_stamps(
    frames: Iterator[tuple[StateFrame, Any]], stamps: list[int]
) -> Iterator[Frame]:
    for frame, values in frames:
        stamps.append(frame.stamp_ns)
        yield values, frame.images
