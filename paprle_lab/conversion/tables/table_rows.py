"""Rows of a table, as they stand in its arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import Vec
from paprle_lab.conversion.mapping import MappedColumn, Part, SetMapping
from paprle_lab.conversion.rows import RGB, Row
from paprle_lab.conversion.tables.table_files import (
    TableEpisode,
    TableFile,
    open_table,
)
from paprle_lab.conversion.tables.table_pictures import TablePictures
from paprle_lab.dataset.resampling_error import Account

_BLOCK = 32  # [rows] chosen: 30 MB of a camera


class TableRows:
    """Rows of a file's episodes, iterated once; None between two episodes.

    A row with NaN, or with an image that cannot be decoded, has the values of the row
    before; rows before the first whole one are left out.
    """

    def __init__(self, file: TableFile, mapping: SetMapping, work: Work) -> None:
        self._file, self._mapping, self._work = file, mapping, work
        self.accounts: defaultdict[str, Account] = defaultdict(Account)
        self.notes, self.tasks = list[str](), list[str]()
        self.ended = self.reason_to_split = ""
        self.trimmed = (0.0, 0.0)
        self._n_lost: defaultdict[str, int] = defaultdict(int)

    def __iter__(self) -> Iterator[Row | None]:
        episodes = self._file.episodes
        for k, episode in enumerate(episodes):
            self._work.count(k, len(episodes), "episodes")
            self._check(episode)
            self.tasks.append(episode.task)
            yield from self._read(episode)
            yield None
        self.notes += [
            f"{n} rows left out, as {name} has no values yet"
            for name, n in self._n_lost.items()
        ]

    def _check(self, episode: TableEpisode) -> None:
        for name in self._mapping.sources:
            array = episode.arrays.get(name)
            if array is None:
                raise RecordingError(
                    f"{self._file.path}: expected the array '{name}', got none; in it: "
                    f"{', '.join(sorted(episode.arrays))[:500]}"
                )
            if array.shape[0] != episode.total:
                raise RecordingError(
                    f"{self._file.path}: expected {episode.total} rows of '{name}', "
                    f"got {array.shape[0]}: it has another rate"
                )

    def _read(self, episode: TableEpisode) -> Iterator[Row]:
        pictures = [TablePictures(one) for one in self._mapping.cameras]
        shown: Row | None = None
        for first in range(0, episode.n, _BLOCK):
            last = min(first + _BLOCK, episode.n)
            columns = {
                one.name: self._read_column(one, episode, first, last)
                for one in self._mapping.columns
                if one.parts
            }
            blocks = [episode.read(one.camera.source, first, last) for one in pictures]
            for k in range(last - first):
                values = {name: block[k] for name, block in columns.items()}
                images = {
                    one.camera.name: one.decode(block[k])
                    for one, block in zip(pictures, blocks, strict=True)
                }
                shown = self._hold(values, images, shown)
                if shown is not None:
                    yield shown

    def _read_column(
        self, column: MappedColumn, episode: TableEpisode, first: int, last: int
    ) -> Vec:
        parts = [self._read_part(part, episode, first, last) for part in column.parts]
        joined: Vec = np.concatenate(parts, axis=1)
        return joined

    def _read_part(
        self, part: Part, episode: TableEpisode, first: int, last: int
    ) -> Any:
        block = episode.read(part.source, first, last).reshape(last - first, -1)
        if block.dtype.kind not in "fiub" or block.shape[1] != len(part.names):
            raise RecordingError(
                f"{self._file.path}: expected {len(part.names)} numbers a row in "
                f"'{part.source}', got {block.shape[1]} of {block.dtype}"
            )
        return block.astype(np.float64) * part.scale

    def _hold(
        self, values: dict[str, Vec], images: dict[str, RGB | None], before: Row | None
    ) -> Row | None:
        """Return a row with what is missing from the row before, if there is one."""
        whole, seen = dict[str, Vec](), dict[str, RGB]()
        for name, numbers in values.items():
            is_good = bool(np.isfinite(numbers).all())
            if is_good:
                whole[name] = numbers
            elif before is not None:
                whole[name] = before.values[name]
            else:
                self._count_lost(name)
                return None
            self._count(name, is_good=is_good)
        for name, image in images.items():
            if image is not None:
                seen[name] = image
            elif before is not None:
                seen[name] = before.images[name]
            else:
                self._count_lost(name)
                return None
            self._count(f"observation.images.{name}", is_good=image is not None)
        return Row(whole, seen)

    def _count(self, name: str, *, is_good: bool) -> None:
        self.accounts[name].count("exact" if is_good else "held", 0, limit_ns=1)

    def _count_lost(self, name: str) -> None:
        self._n_lost[name] += 1


@contextmanager
def open_table_rows(
    path: Path, mapping: SetMapping, *, work: Work = UNSEEN
) -> Iterator[TableRows]:
    """Open a file's rows.

    Raises:
        ConfigError: If there is none.
        RecordingError: If it is damaged.
    """
    with open_table(path) as file:
        yield TableRows(file, mapping, work)
