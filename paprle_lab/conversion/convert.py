"""Conversion of files of others into a LeRobot data set."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.observation.columns import Column
from paprle_lab.conversion.mapping import SetMapping
from paprle_lab.conversion.rows import FileRows, fill_next, list_names
from paprle_lab.dataset.create import FEWEST, META
from paprle_lab.dataset.episode_shard import (
    Frame,
    PieceWriter,
    ShardEpisode,
    write_pieces,
)
from paprle_lab.dataset.episodes import LeftOut
from paprle_lab.dataset.film import ImageChoice
from paprle_lab.dataset.formats.card import Origin, write_card
from paprle_lab.dataset.formats.lerobot import Shape, Totals, pack, read_stats
from paprle_lab.dataset.report import DatasetReport
from paprle_lab.dataset.staging_folder import OWN, StagingFolder

_KIND = "converted"
_BLOCK = 1 << 20  # [bytes]
_ORIGIN = Origin(
    "converted by PAPRLE",
    "Sources of the columns, and rows that were held or dropped: "
    "`meta/paprle.json`, `meta/report.txt`.",
)


OpenRows = Callable[[Path], AbstractContextManager[FileRows]]
"""Opens the rows of a file."""


def convert(
    files: Sequence[Path],
    mapping: SetMapping,
    out: Path,
    open_rows: OpenRows,
    *,
    choice: ImageChoice = "newest",
    work: Work = UNSEEN,
) -> DatasetReport:
    """Create or extend a data set of files; each is one episode or several.

    Returns:
        The report; files that are damaged or lack a source are left out.

    Raises:
        ConfigError: If the data set that is there is another.
        RecordingError: If the data set cannot be written.
    """
    try:
        with closing(StagingFolder(out, META)) as stage:
            return _Conversion(stage, mapping, choice, work).run(files, open_rows)
    except OSError as err:
        raise RecordingError(
            f"dataset '{out}': expected to write it, got {err}; the same command goes "
            "on when there is room"
        ) from err


class _Conversion:
    def __init__(
        self,
        stage: StagingFolder,
        mapping: SetMapping,
        choice: ImageChoice,
        work: Work,
    ) -> None:
        self._stage, self._mapping = stage, mapping
        self._choice, self._work = choice, work
        self._names = list_names(mapping)
        self._shape = _make_shape(mapping)
        self._own = {"kind": _KIND, "images": choice, "mapping": _describe(mapping)}
        for key, value in self._own.items() if stage.own else ():
            if stage.own.get(key) != value:
                raise ConfigError(
                    f"dataset: expected the {key} of the data set that is there, got "
                    "another; choose another --out"
                )

    def run(self, files: Sequence[Path], open_rows: OpenRows) -> DatasetReport:
        stage, report = self._stage, DatasetReport(self._mapping.fps)
        known = dict(stage.own.get("sources", {}))
        report.n_before = len(known)
        folders = dict[str, Path]()
        for k, file in enumerate(files):
            self._work.note(f"reading {file.name}, {k + 1} of {len(files)}")
            try:
                name = _identify(file)
                if name in known:
                    continue
                if name in folders:
                    raise RecordingError("a copy of another one")
                folders[name] = stage.find(name) or self._write(file, name, open_rows)
            except (ConfigError, RecordingError) as err:
                report.left_out.append(LeftOut(file, str(err)))
        for name, folder in folders.items():
            known[name] = json.loads((folder / OWN).read_text(encoding="utf-8"))
        for values in known.values():
            report.add(values)
            report.notes += [f"{values['file']}: {note}" for note in values["notes"]]
        if folders:
            self._pack(known, folders, report)
        else:
            totals = stage.own.get("totals", {})
            report.n_episodes = int(totals.get("n_episodes", 0))
            report.n_frames = int(totals.get("n_frames", 0))
        return report

    def _write(self, file: Path, name: str, open_rows: OpenRows) -> Path:
        part = self._stage.begin(name)
        try:
            with open_rows(file) as rows:
                lengths = self._write_pieces(part, rows, file.name, name)
                summary = _summarise(file, rows, lengths)
        except BaseException:
            self._stage.abandon(part)
            raise
        if not lengths:
            self._stage.abandon(part)
            raise RecordingError(
                f"{file}: expected {FEWEST} rows in which all sources speak, got "
                "none; " + ("; ".join(summary["notes"]) or "compare their times")
            )
        (part / OWN).write_text(json.dumps(summary), encoding="utf-8")
        return self._stage.finish(part)

    def _write_pieces(
        self, part: Path, rows: FileRows, file: str, name: str
    ) -> list[int]:
        """Return the numbers of rows of the episodes."""
        shape, mapping = self._shape, self._mapping
        make = partial(
            PieceWriter, columns=shape.columns, sizes=shape.sizes, fps=shape.fps
        )
        lengths = list[int]()
        frames: Iterator[Frame | None] = fill_next(rows, mapping)
        for piece in write_pieces(part, frames, make, shape.fps):
            if piece.n < FEWEST:
                piece.abandon()
                shutil.rmtree(piece.folder)
                continue
            own = rows.tasks[-1] if rows.tasks else ""
            task = mapping.tasks.get(file, own or mapping.task)
            piece.close(task, "", name)
            lengths.append(piece.n)
        return lengths

    def _pack(
        self, known: dict[str, Any], folders: dict[str, Path], report: DatasetReport
    ) -> None:
        stage = self._stage
        meta = stage.begin_meta()
        totals = Totals(**stage.own.get("totals", {}), stats=read_stats(meta))
        parts = [
            part
            for folder in folders.values()
            for part in sorted(folder.glob("part-*"))
        ]
        pieces = [ShardEpisode.read(part) for part in parts]
        pack(stage.root, meta, pieces, self._shape, totals)
        write_card(stage.root, self._shape, totals, _ORIGIN)
        report.n_episodes, report.n_frames = totals.n_episodes, totals.n_frames
        values = asdict(totals)
        del values["stats"]
        own = self._own | {"totals": values, "sources": known}
        (meta / OWN).write_text(json.dumps(own, indent=1) + "\n", encoding="utf-8")
        lines = "\n".join(report.lines())
        (meta / "report.txt").write_text(lines + "\n", encoding="utf-8")
        stage.finish_meta(meta)


def _summarise(file: Path, rows: FileRows, lengths: Sequence[int]) -> dict[str, Any]:
    why = f", {rows.reason_to_split}" if rows.reason_to_split else ""
    gaps = [f"{len(lengths)} episodes{why}"] * (len(lengths) > 1)
    return {
        "file": file.name,
        "n_frames": sum(lengths),
        "trimmed": rows.trimmed,
        "ended": rows.ended,
        "accounts": {key: one.to_dict() for key, one in rows.accounts.items()},
        "notes": [*gaps, *rows.notes],
    }


def _make_shape(mapping: SetMapping) -> Shape:
    names = list_names(mapping)
    units = {
        column.name: [part.unit for part in column.parts for _ in part.names]
        for column in mapping.columns
    }
    columns = tuple(
        Column(
            column.name,
            tuple(names[column.name]),
            tuple(units[column.next_of or column.name]),
            column.name,
        )
        for column in mapping.columns
    )
    return Shape(
        robot_type=mapping.robot_type or "unknown",
        fps=mapping.fps,
        columns=columns,
        sizes={camera.name: camera.size for camera in mapping.cameras},
    )


def _describe(mapping: SetMapping) -> Any:
    """Return what rows depend on, as JSON gives it back."""
    values = asdict(mapping)
    del values["task"], values["tasks"]
    return json.loads(json.dumps(values))


def _identify(file: Path) -> str:
    """Return the beginning of a file's SHA-256; of a folder, of all its files."""
    digest = hashlib.sha256()
    files = sorted(file.rglob("*")) if file.is_dir() else [file]
    for path in files:
        if path.is_file():
            with path.open("rb") as opened:
                while block := opened.read(_BLOCK):
                    digest.update(block)
    return digest.hexdigest()[:16]
