"""Conversion of bags into a LeRobot data set."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.observation.columns import Column
from paprle_lab.conversion.bags.bag_rows import BagRows, list_names
from paprle_lab.conversion.bags.mapping import BagMapping
from paprle_lab.conversion.bags.message_files import open_messages
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

_KIND = "bags"
_BLOCK = 1 << 20  # [bytes]
_ORIGIN = Origin(
    "converted from bags by PAPRLE",
    "Topics and fields of the columns, and rows that were held or dropped: "
    "`meta/paprle.json`, `meta/report.txt`.",
)


def convert_bags(
    bags: Sequence[Path],
    mapping: BagMapping,
    out: Path,
    *,
    choice: ImageChoice = "newest",
    work: Work = UNSEEN,
) -> DatasetReport:
    """Create or extend a data set of bags; each is one episode, or several with gaps.

    Returns:
        The report; bags that are damaged or lack a topic are left out.

    Raises:
        ConfigError: If the data set that is there is another.
        RecordingError: If the data set cannot be written.
    """
    try:
        with closing(StagingFolder(out, META)) as stage:
            return _Conversion(stage, mapping, choice, work).run(bags)
    except OSError as err:
        raise RecordingError(
            f"dataset '{out}': expected to write it, got {err}; the same command goes "
            "on when there is room"
        ) from err


class _Conversion:
    def __init__(
        self,
        stage: StagingFolder,
        mapping: BagMapping,
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

    def run(self, bags: Sequence[Path]) -> DatasetReport:
        stage, report = self._stage, DatasetReport(self._mapping.fps)
        known = dict(stage.own.get("sources", {}))
        report.n_before = len(known)
        folders = dict[str, Path]()
        for k, bag in enumerate(bags):
            self._work.note(f"reading {bag.name}, {k + 1} of {len(bags)}")
            try:
                name = _identify(bag)
                if name in known:
                    continue
                if name in folders:
                    raise RecordingError("a copy of another one")
                folders[name] = stage.find(name) or self._write(bag, name)
            except (ConfigError, RecordingError) as err:
                report.left_out.append(LeftOut(bag, str(err)))
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

    def _write(self, bag: Path, name: str) -> Path:
        part = self._stage.begin(name)
        shape = self._shape
        make = partial(
            PieceWriter, columns=shape.columns, sizes=shape.sizes, fps=shape.fps
        )
        task = self._mapping.tasks.get(bag.name, self._mapping.task)
        lengths = list[int]()
        try:
            with open_messages(bag) as file:
                rows = BagRows(
                    file, self._mapping, choice=self._choice, work=self._work
                )
                frames = _fill_next(rows, self._mapping)
                for piece in write_pieces(part, frames, make, shape.fps):
                    if piece.n < FEWEST:
                        piece.abandon()
                        shutil.rmtree(piece.folder)
                    else:
                        piece.close(task, "", name)
                        lengths.append(piece.n)
                span_ns = file.span_ns
        except BaseException:
            self._stage.abandon(part)
            raise
        if not lengths:
            self._stage.abandon(part)
            raise RecordingError(
                f"{bag}: expected {FEWEST} rows in which all topics speak, got none; "
                + ("; ".join(rows.notes) or "compare their times, or set max_gap")
            )
        first, last = rows.span_ns
        trimmed = ((first - span_ns[0]) * 1e-9, (span_ns[1] - last) * 1e-9)
        gaps = [f"{len(lengths)} episodes, as topics paused"] * (len(lengths) > 1)
        summary = {
            "file": bag.name,
            "n_frames": sum(lengths),
            "trimmed": trimmed,
            "ended": rows.ended,
            "accounts": {key: one.to_dict() for key, one in rows.accounts.items()},
            "notes": [*gaps, *rows.notes],
        }
        (part / OWN).write_text(json.dumps(summary), encoding="utf-8")
        return self._stage.finish(part)

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


def _fill_next(rows: BagRows, mapping: BagMapping) -> Iterator[Frame | None]:
    """Give each row the next one's values where a column asks for them."""
    columns = [(one.name, one.next_of) for one in mapping.columns if one.next_of]
    before = None
    for row in rows:
        if not columns:
            yield row
            continue
        if row is not None and before is not None:
            following = {name: row.values[of] for name, of in columns}
            yield before.values | following, before.images
        if row is None:
            yield None
        before = row


def _make_shape(mapping: BagMapping) -> Shape:
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


def _describe(mapping: BagMapping) -> Any:
    """Return what rows depend on, as JSON gives it back."""
    values = asdict(mapping)
    del values["task"], values["tasks"]
    return json.loads(json.dumps(values))


def _identify(bag: Path) -> str:
    """Return the beginning of a bag's SHA-256; of a folder, of all its files."""
    digest = hashlib.sha256()
    files = sorted(bag.iterdir()) if bag.is_dir() else [bag]
    for path in files:
        if path.is_file():
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
    return digest.hexdigest()[:16]
