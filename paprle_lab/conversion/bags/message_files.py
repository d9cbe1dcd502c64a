"""Messages of ROS bags and MCAP files, in the order in which they were received."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from mcap.reader import McapReader, NonSeekingReader, SeekingReader
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.recording.others.bags import is_bag
from paprle_lab.conversion.bags.decoders import Decode, Decoders, name_type

if TYPE_CHECKING:
    from typing import Self  # which Python 3.10 does not have

_LARGEST_RECORD = 1 << 28  # [bytes] chosen: a chunk of other writers has some MB
_REMEDY = "one that was cut off: mcap recover, or ros2 bag reindex"


@dataclass(frozen=True)
class BagTopic:
    """A topic of a file.

    Attributes:
        kind: Type of its messages, such as ``sensor_msgs/msg/JointState``.
        problem: Reason why its messages cannot be read; empty if they can.
    """

    name: str
    kind: str
    n_messages: int
    problem: str = ""


class MessageFile(Protocol):
    """A file of messages; a context manager.

    Attributes:
        topics: By name.
        span_ns: Times of the first and last message.
    """

    path: Path
    topics: Mapping[str, BagTopic]
    span_ns: tuple[int, int]

    def read(self, topics: Iterable[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield topic, time of reception [ns] and message.

        Raises:
            RecordingError: If the file is damaged.
        """

    def __enter__(self) -> Self:
        """Return the open file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""


def open_messages(path: Path) -> MessageFile:
    """Open a bag: ``.mcap``, ``.db3``, ``.bag``, or the folder of ``ros2 bag``.

    Returns:
        The open file.

    Raises:
        ConfigError: If there is none.
        RecordingError: If it is damaged.
    """
    if not path.exists():
        raise ConfigError(f"expected a bag, got nothing at '{path}'")
    if path.is_file() and path.suffix == ".mcap":
        return _McapFile(path)
    if is_bag(path):
        return _RosbagFile(path)
    raise ConfigError(
        f"expected a .mcap, .db3 or .bag, or the folder of ros2 bag, got '{path}'"
    )


def list_bags(places: Iterable[Path]) -> list[Path]:
    """Return bags, and those of folders in the order of their paths.

    Raises:
        ConfigError: If a place holds none.
    """
    found = list[Path]()
    for place in places:
        if not place.is_dir() or is_bag(place):
            found.append(place)
            continue
        folders = {path.parent for path in place.rglob("metadata.yaml")}
        files = [
            path
            for suffix in ("*.mcap", "*.db3", "*.bag")
            for path in place.rglob(suffix)
            if path.parent not in folders
        ]
        if not folders and not files:
            raise ConfigError(f"expected bags in '{place}', got none")
        found += sorted([*folders, *files])
    return found


class _McapFile:
    """An MCAP file with messages of any encoding."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        self._decoders: dict[int, Decode] = {}
        try:
            summary = self._make_reader().get_summary()
            if summary is None or summary.statistics is None:
                raise ValueError("no summary at its end")
            self._is_indexed = bool(summary.chunk_indexes)
            largest = max(
                (one.uncompressed_size for one in summary.chunk_indexes), default=0
            )
            if largest > _LARGEST_RECORD:
                raise ValueError(f"a chunk of {largest} bytes")
            counts = summary.statistics.channel_message_counts
            self.span_ns = (
                summary.statistics.message_start_time,
                summary.statistics.message_end_time,
            )
            self.topics: Mapping[str, BagTopic] = self._find_topics(summary, counts)
        except Exception as err:
            self._file.close()
            raise _make_error(path, err) from err

    def read(self, topics: Iterable[str]) -> Iterator[tuple[str, int, Any]]:
        wanted = list(topics)
        if not wanted:
            return
        try:
            # to sort messages without an index takes all of them in memory
            messages = self._make_reader(is_indexed=self._is_indexed).iter_messages(
                topics=wanted, log_time_order=self._is_indexed
            )
            for _, channel, message in messages:
                decode = self._decoders.get(channel.id)
                if decode is not None:
                    yield channel.topic, message.log_time, decode(message.data)
        except Exception as err:
            raise _make_error(self.path, err) from err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _make_reader(self, *, is_indexed: bool = True) -> McapReader:
        self._file.seek(0)
        make = SeekingReader if is_indexed else NonSeekingReader
        return make(self._file, validate_crcs=True, record_size_limit=_LARGEST_RECORD)

    def _find_topics(
        self, summary: Any, counts: Mapping[int, int]
    ) -> dict[str, BagTopic]:
        decoders = Decoders()
        topics = dict[str, BagTopic]()
        for channel in summary.channels.values():
            schema = summary.schemas.get(channel.schema_id)
            kind = name_type("" if schema is None else schema.name)
            found = decoders.find(channel.message_encoding, schema)
            before = topics.get(channel.topic)
            problem = found if isinstance(found, str) else ""
            if before is not None and before.kind != kind:
                problem = problem or f"of two types, {before.kind} and {kind}"
            if isinstance(found, str):
                pass
            elif not problem:
                self._decoders[channel.id] = found
            n = counts.get(channel.id, 0) + (before.n_messages if before else 0)
            problem = problem or (before.problem if before else "")
            topics[channel.topic] = BagTopic(channel.topic, kind, n, problem)
        return topics


class _RosbagFile:
    """A bag of ROS 1, of SQLite, or a folder of ``ros2 bag``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        is_ros1 = path.suffix == ".bag"
        self._reader: Any = None
        try:
            self._reader = Reader1(path) if is_ros1 else Reader2(path)
            self._reader.open()
            self.span_ns = (int(self._reader.start_time), int(self._reader.end_time))
            connections = list(self._reader.connections)
        except Exception as err:
            raise _make_error(path, err) from err
        decoders = Decoders()
        self._decode: dict[int, Callable[[bytes], Any]] = {}
        topics = dict[str, BagTopic]()
        for one in connections:
            found = decoders.find_ros(str(one.msgtype), one.msgdef, is_ros1=is_ros1)
            if not isinstance(found, str):
                self._decode[one.id] = found
            before = topics.get(one.topic)
            n = one.msgcount + (before.n_messages if before else 0)
            problem = found if isinstance(found, str) else ""
            topics[one.topic] = BagTopic(one.topic, str(one.msgtype), n, problem)
        self.topics: Mapping[str, BagTopic] = topics

    def read(self, topics: Iterable[str]) -> Iterator[tuple[str, int, Any]]:
        wanted = set(topics)
        connections = [
            one
            for one in self._reader.connections
            if one.topic in wanted and one.id in self._decode
        ]
        if not connections:
            return
        try:
            messages = self._reader.messages(connections=connections)
            for connection, received_ns, data in messages:
                decode = self._decode[connection.id]
                yield connection.topic, int(received_ns), decode(data)
        except Exception as err:
            raise _make_error(self.path, err) from err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


def _make_error(path: Path, err: Exception) -> RecordingError:
    return RecordingError(
        f"{path}: expected a whole bag, got {type(err).__name__}: {err}; {_REMEDY}"
    )
