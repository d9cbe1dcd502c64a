"""Streaming reader, with one chunk in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import Work
from paprle.ipc.records import Stream
from paprle.recording.events import parse_event
from paprle.recording.header import SCHEMA_VERSION, layout_from_header
from paprle.recording.header_check import check_config, check_header
from paprle.recording.manifest import read_manifest
from paprle.recording.mcap.salvage import Renumbering
from paprle.recording.mcap.scan import (
    Attachment,
    Chunk,
    Messages,
    Metadata,
    Scanner,
    Schema,
    Topic,
)
from paprle.recording.messages.channels import (
    EVENTS_TOPIC,
    GIVEN,
    LEADER_LIFE,
    MAPPING,
    Channel,
    Ints,
    Rows,
    make_channels,
)
from paprle.recording.messages.types import STRING, decode

HEADER, CONFIG, URDF = "header.json", "config.json", "robot.urdf"
_LARGEST = {HEADER: 4 << 20, CONFIG: 4 << 20, URDF: 32 << 20}  # chosen: ours are less
_OPTIONAL = (GIVEN, LEADER_LIFE, MAPPING)
_MAX_PENDING = 64 << 20  # chosen: rows whose other channels have not come yet
_MAX_CHANNELS = 1000  # chosen: a humanoid with many objects has some dozens
_MB = 1e6  # [bytes]

Table = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Block:
    """Consecutive records of one stream."""

    stream: Stream
    records: Rows


class Reading:
    """Pass over a recording's valid prefix; ``manifest`` is None if unfinished."""

    def __init__(self, path: Path, scanner: Scanner | None = None) -> None:
        """Read attachments and manifest; a ``Salvager`` reads on after damage.

        Raises:
            RecordingError: If it is no readable recording.
        """
        self.path = path
        self.n_messages = 0
        self._scanner = scanner or Scanner(path)
        self._items = iter(self._scanner)
        self._first: Chunk = []
        attachments = self._read_attachments()
        self.header: Mapping[str, Any] = self._json(attachments[HEADER], HEADER)
        self.config: Mapping[str, Any] = self._json(attachments[CONFIG], CONFIG)
        if self.header.get("schema") == SCHEMA_VERSION:  # else the next says so
            check_header(self.header, str(path))
        self.layout = layout_from_header(self.header)
        check_config(self.config, str(path))
        self.urdf = attachments[URDF].decode(errors="replace")
        limbs = self.header["robot"]["limbs"]
        base_links = {limb["name"]: limb["base_link"] for limb in limbs}
        channels = make_channels(self.layout, base_links)
        self._feeds = {channel.topic: _Feed(channel) for channel in channels}
        self.streams = {channel.topic: channel.stream for channel in channels}
        self.renumbering = Renumbering(self.streams)
        self._topics: dict[int, str] = {}
        self._schemas: dict[int, str] = {}
        self.manifest = read_manifest(path)

    @property
    def share(self) -> float:
        """Read share of the file, 0 … 1."""
        return self._scanner.valid_bytes / max(self._scanner.size, 1)

    def report(self, work: Work) -> None:
        """Report the read part of the file."""
        report_read(self._scanner, work)

    def __iter__(self) -> Iterator[Block | Mapping[str, Any]]:
        """Yield blocks of records, and events; once."""
        try:
            yield from self._take(self._first)
            for item in self._items:
                if isinstance(item, list):
                    yield from self._take(item)
        except OSError as err:
            raise self._error("to read it", str(err)) from err

    def find_problem(self) -> str:
        """Return the fault of the file after reading."""
        if not self._scanner.is_complete:
            return (
                f"{self._scanner.problem}; what comes before is valid, "
                "'paprle recover' makes a file of it"
            )
        if self.manifest is None:
            return "no manifest: the recording was never finished"
        if self._scanner.sha256.hexdigest() != self.manifest.get("sha256"):
            return "the file is not the one that its manifest describes"
        return ""

    def _read_attachments(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        try:
            for item in self._items:
                if isinstance(item, Attachment) and item.name in _LARGEST:
                    if len(item.data) > _LARGEST[item.name]:
                        limit = f"{item.name} of at most {_LARGEST[item.name]} bytes"
                        raise self._error(limit, f"{len(item.data)}")
                    found[item.name] = item.data
                elif not isinstance(item, Attachment | Metadata):
                    self._first = item
                    break
        except OSError as err:
            raise self._error("to read it", str(err)) from err
        missing = _LARGEST.keys() - found.keys()
        if missing:
            problem = self._scanner.problem or f"no {', '.join(sorted(missing))}"
            raise self._error("a recording of paprle", problem)
        return found

    def _json(self, data: bytes, name: str) -> dict[str, Any]:
        try:
            values = json.loads(data)
        except (ValueError, RecursionError) as err:
            raise self._error(f"JSON in {name}", repr(err)[:200]) from err
        if not isinstance(values, dict):
            raise self._error(f"a JSON object in {name}", type(values).__name__)
        return values

    def _take(self, chunk: Chunk) -> Iterator[Block | Mapping[str, Any]]:
        for record in self.renumbering.renumber(chunk):
            if isinstance(record, Messages):
                yield from self._take_messages(record)
            elif isinstance(record, Topic):
                self._register(record)
            elif isinstance(record, Schema):
                self._schemas[record.id] = record.name
        for stream in (Stream.TICK, Stream.GATE):
            block = self._decode(stream)
            if block is not None:
                yield block
        if sum(feed.n_bytes for feed in self._feeds.values()) > _MAX_PENDING:
            raise self._error("rows of all channels beside each other", "one without")

    def _register(self, topic: Topic) -> None:
        if len(self._topics) >= _MAX_CHANNELS:
            raise self._error(f"at most {_MAX_CHANNELS} channels", "more")
        feed, typename = self._feeds.get(topic.topic), self._schemas[topic.schema_id]
        expected = STRING if feed is None else feed.channel.message.typename
        is_ours = feed is not None or topic.topic == EVENTS_TOPIC
        if is_ours and typename != expected:
            raise self._error(f"topic {topic.topic} of {expected}", "another type")
        if feed is not None and topic.left_out:
            if topic.left_out != feed.channel.left_out:
                raise self._error(f"more rows of topic {topic.topic}", topic.left_out)
            self._feeds[topic.topic] = _SparseFeed(feed.channel)
        self._topics[topic.id] = topic.topic

    def _take_messages(self, messages: Messages) -> Iterator[Mapping[str, Any]]:
        self.n_messages += len(messages.data)
        topic = self._topics[messages.channel_id]
        if topic == EVENTS_TOPIC:
            for row in messages.data:
                yield parse_event(decode(row.tobytes(), STRING).data.encode())
            return
        missing = self._feeds.keys() - set(self._topics.values())
        for optional in [t for t in missing if t.startswith(_OPTIONAL)]:
            missing.discard(optional)  # files of earlier versions have none
            del self._feeds[optional]
        if missing:
            raise self._error(f"topic {sorted(missing)[0]}", "none")
        feed = self._feeds.get(topic)
        if feed is None:
            return  # not ours, or nothing that this version reads back
        size = feed.channel.message.dtype.itemsize
        if messages.data.shape[1] != size:
            version, rev = (self.header.get(key) for key in ("version", "git_rev"))
            got = f"{messages.data.shape[1]}; paprle {version} at {rev} recorded it"
            raise self._error(f"messages of {size} bytes on {topic}", got)
        if not feed.take(messages.data, messages.sequence):
            raise self._error(f"the header's names on {topic}", "others")

    def _decode(self, stream: Stream) -> Block | None:
        feeds = [f for f in self._feeds.values() if f.channel.stream == stream]
        n = min(feed.n_rows for feed in feeds if not isinstance(feed, _SparseFeed))
        if n == 0:
            return None
        layout = self.layout
        records = np.zeros(n, layout.tick if stream == Stream.TICK else layout.status)
        if stream == Stream.TICK:
            records["sample"]["q"] = np.nan
            records["sample"]["pose"] = np.nan
            records["given"] = np.nan  # files of earlier versions have none,
            records["mapping"] = np.nan  # nor of these
        for feed in feeds:
            rows, at = feed.give(n)
            if feed.channel.expected is None and (not len(at) or at[0] > 0):
                raise self._error(f"rows of topic {feed.channel.topic}", "none")
            feed.channel.decode(rows, records, at)
        return Block(stream, records)

    def _error(self, expected: str, got: str) -> RecordingError:
        return RecordingError(f"{self.path}: expected {expected}, got {got}")


class _Feed:
    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.n_rows = self.n_bytes = 0
        self._tables: list[Table] = []
        self._fixed = channel.is_constant
        self._template = np.frombuffer(channel.message.template, np.uint8)

    def take(self, table: Table, first: int) -> bool:  # noqa: ARG002 - all rows come
        self._tables.append(table)
        self.n_rows += len(table)
        self.n_bytes += table.size
        fixed = self._fixed
        return bool((table[:, fixed] == self._template[fixed]).all())

    def give(self, n: int) -> tuple[Rows, Ints]:
        whole = _join(self._tables)
        rest = whole[n:]
        self._tables = [rest.copy()] if len(rest) else []
        self.n_rows, self.n_bytes = len(rest), rest.size
        return self._view(whole[:n]), np.arange(n)

    def _view(self, table: Table) -> Rows:
        return np.ascontiguousarray(table).view(self.channel.message.dtype)[:, 0]


class _SparseFeed(_Feed):
    def __init__(self, channel: Channel) -> None:
        super().__init__(channel)
        self._rows: list[Ints] = []
        self._n_given = 0

    def take(self, table: Table, first: int) -> bool:
        self._rows.append(np.arange(first, first + len(table)))
        return super().take(table, first)

    def give(self, n: int) -> tuple[Rows, Ints]:
        if not self._rows:
            return np.zeros(0, self.channel.message.dtype), np.zeros(0, np.int64)
        whole, rows = _join(self._tables), np.concatenate(self._rows) - self._n_given
        end = int(np.searchsorted(rows, n))
        first = max(int(np.searchsorted(rows, 0, side="right")) - 1, 0)
        kept = max(end - 1, 0)
        self._n_given += n
        self._rows = [rows[kept:] - n + self._n_given]
        self._tables = [whole[kept:].copy()]
        self.n_bytes = self._tables[0].size
        return self._view(whole[first:end]), rows[first:end]


def report_read(scanner: Scanner, work: Work) -> None:
    """Report the part of a file that a scanner has read."""
    work.count(scanner.valid_bytes / _MB, scanner.size / _MB, "MB")


def _join(tables: list[Table]) -> Table:
    return tables[0] if len(tables) == 1 else np.concatenate(tables)
