"""Recovery of a damaged file's valid chunks."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap import records

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.ipc.records import Stream
from paprle.recording.gaps import Gap
from paprle.recording.manifest import (
    make_manifest,
    manifest_path,
    sync_folder,
    write_manifest,
)
from paprle.recording.mcap.records import frame_rows
from paprle.recording.mcap.salvage import Renumbering, Salvager
from paprle.recording.mcap.scan import (
    Attachment,
    Chunk,
    Messages,
    Metadata,
    Schema,
    Topic,
)
from paprle.recording.mcap.writer import IndexedFile
from paprle.recording.messages.channels import Rows
from paprle.recording.notes import add_notes, find_notes
from paprle.recording.reading import Block, Reading, report_read
from paprle.recording.video.intact import IntactPictures

_CHUNK_BYTES = 1 << 19  # chosen: about as in a finished recording


@dataclass(frozen=True)
class RecoverReport:
    """Saved and lost parts of a recovered recording.

    Attributes:
        lost_time: Gaps, plus an estimate for the end, [s].
    """

    path: Path
    n_messages: int
    n_ticks: int
    n_gate: int
    lost_bytes: int
    lost_time: float
    gaps: tuple[Gap, ...]
    lost: Mapping[str, int]
    problem: str

    def __str__(self) -> str:
        lost = f"lost {self.lost_bytes} bytes, about {self.lost_time:.3f} [s]"
        if self.problem:
            lost += f" ({self.problem})"
        lines = [
            f"{self.path}: {self.n_ticks} session ticks and {self.n_gate} gate ticks "
            f"in {self.n_messages} messages; {lost}"
        ]
        lines += [f"missing: {gap}" for gap in self.gaps]
        if self.lost:
            told = ", ".join(f"{topic} {n}" for topic, n in self.lost.items())
            lines.append(f"missing messages by channel: {told}")
        return "\n".join(lines)


def make_recovered_path(path: Path) -> Path:
    """Return the recovered file's default path."""
    return path.with_name(f"{path.stem}.recovered.mcap")


def recover(path: Path, out: Path, work: Work = UNSEEN) -> RecoverReport:
    """Return the report of a recording whose valid chunks go to ``out``.

    Raises:
        RecordingError: If nothing is valid, or ``out`` exists or does not read back.
    """
    if out.suffix != ".mcap":
        raise RecordingError(f"recover: expected a new .mcap file, got '{out}'")
    if not path.is_file():
        raise RecordingError(f"recover: expected a recording, got '{path}'; not found")
    if out.exists() or manifest_path(out).exists():
        raise RecordingError(f"recover: expected a new file, got '{out}'; it exists")
    salvager = Salvager(path)
    work.note("reading what is whole")
    source = _Survey(Reading(path, salvager), work)
    if source.n_ticks + source.n_gate == 0:
        raise RecordingError(f"{path}: nothing to recover: {source.problem}")
    work.note("writing what is whole")
    try:
        n_messages, sha256 = _copy(source.reading, out, work)
    except OSError as err:
        out.unlink(missing_ok=True)
        raise RecordingError(f"recover: could not write '{out}': {err}") from err
    gaps = tuple(_find_gaps(source))
    tail = salvager.tail_bytes / (salvager.size - salvager.lost_bytes)
    start, end = source.span
    report = RecoverReport(
        path=out,
        n_messages=n_messages,
        n_ticks=source.n_ticks,
        n_gate=source.n_gate,
        lost_bytes=salvager.lost_bytes,
        lost_time=sum(gap.seconds for gap in gaps) + tail * (end - start) * 1e-9,
        gaps=gaps,
        lost=_count_lost(source),
        problem=salvager.problem,
    )
    _finish(source, report, sha256)
    return report


def _find_gaps(source: _Survey) -> Iterator[Gap]:
    reading = source.reading
    start = source.span[0] + int(reading.header["wall_offset_ns"])
    missing = sorted(
        (loss.begin_ns, loss.end_ns)
        for loss in reading.renumbering.losses
        if loss.topic in reading.streams
    )
    merged: list[tuple[int, int]] = []
    for begin, end in missing:
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    for begin, end in merged:
        yield Gap((begin - start) * 1e-9, (end - begin) * 1e-9)


def _count_lost(source: _Survey) -> Counter[str]:
    counts: Counter[str] = Counter()
    for loss in source.reading.renumbering.losses:
        counts[loss.topic] += loss.n
    return counts


class _Survey:
    def __init__(self, reading: Reading, work: Work = UNSEEN) -> None:
        self.reading = reading
        self.n_events = 0
        self.notes: list[dict[str, Any]] = []
        self.span = (0, 0)
        self.checksums = {Stream.TICK: 0, Stream.GATE: 0}
        counts = {Stream.TICK: 0, Stream.GATE: 0}
        stamps: list[int] = []
        for item in reading:
            reading.report(work)
            if not isinstance(item, Block):
                self.n_events += 1
                self.notes += find_notes([item])
                continue
            counts[item.stream] += len(item.records)
            data, before = item.records.tobytes(), self.checksums[item.stream]
            self.checksums[item.stream] = zlib.crc32(data, before)
            own = item.records["stamp_ns"]
            stamps += [int(own.min()), int(own.max())]
            stamps = [min(stamps), max(stamps)]
        if stamps:
            self.span = (stamps[0], stamps[1])
        self.n_ticks, self.n_gate = counts[Stream.TICK], counts[Stream.GATE]
        self.problem = reading.find_problem()


def _copy(source: Reading, out: Path, work: Work) -> tuple[int, str]:
    file = IndexedFile(out)
    pictures = IntactPictures()
    renumbering = Renumbering(source.streams)
    try:
        n_messages, salvager = 0, Salvager(source.path)
        for item in salvager:
            report_read(salvager, work)
            whole = item
            if isinstance(item, list):
                whole = renumbering.renumber(pictures.pick(item))
            n_messages += _copy_item(whole, file)
        digest = file.finish()
    finally:
        file.close()
    sync_folder(out.parent)
    return n_messages, digest


def _copy_item(item: Attachment | Metadata | Chunk, file: IndexedFile) -> int:
    if isinstance(item, Attachment):
        file.attach(records.Attachment(0, 0, item.name, item.media_type, item.data))
        return 0
    if isinstance(item, Metadata):
        file.note(records.Metadata(item.name, item.values))
        return 0
    n = 0
    for record in item:
        if isinstance(record, Messages):
            file.add(_frame(record))
            n += len(record.data)
        elif isinstance(record, Schema):
            file.declare(
                records.Schema(record.id, record.data, record.encoding, record.name)
            )
        else:
            file.declare(_declare(record))
    if (
        file.n_bytes >= _CHUNK_BYTES
    ):  # never within a chunk: what belongs together stays
        file.end_chunk()
    return n


def _frame(messages: Messages) -> Rows:
    n, size = messages.data.shape
    rows = np.ascontiguousarray(messages.data).view(f"V{size}")[:, 0]
    stamps = messages.log_time, messages.publish_time
    sequence = messages.sequence + np.arange(n)
    return frame_rows(messages.channel_id, rows, *stamps, sequence)


def _declare(topic: Topic) -> records.Channel:
    texts = topic.topic, topic.encoding, topic.metadata
    return records.Channel(topic.id, *texts, topic.schema_id)


def _finish(source: _Survey, report: RecoverReport, sha256: str) -> None:
    frames = {
        "event": source.n_events,
        "tick": report.n_ticks,
        "gate": report.n_gate,
    }
    header = source.reading.header
    manifest = make_manifest(
        report.path, header, "recovered", source.span, frames, sha256
    )
    manifest |= {
        "recovered_from": source.reading.path.name,
        "problem": report.problem,
        "lost_bytes": report.lost_bytes,
        "lost_time": report.lost_time,
        "gaps": [gap._asdict() for gap in report.gaps],
        "lost": dict(report.lost),
        **add_notes({}, source.notes),
    }
    write_manifest(report.path, manifest)
    copy = _Survey(Reading(report.path))
    if copy.problem or copy.checksums != source.checksums:
        raise RecordingError(f"{report.path}: does not read back: {copy.problem}")
