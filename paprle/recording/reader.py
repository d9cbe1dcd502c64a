"""Reading an episode back as arrays; what cannot be trusted is not returned.

No pickle and no code from the file. Of a damaged or unfinished file the longest valid
prefix is read, and the episode says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import RobotInfo, Vec
from paprle.ipc.records import Layout, Stream
from paprle.recording.channels import EVENTS_TOPIC, Channel, Rows, make_channels
from paprle.recording.events import parse_event
from paprle.recording.header import layout_from_header, robot_from_dict
from paprle.recording.manifest import read_manifest
from paprle.recording.messages import STRING, decode
from paprle.recording.scan import Attachment, Message, Scanner, Schema, Topic

MAX_TOTAL = 4 << 30  # chosen: of all messages together; some hours of a humanoid
_Stamped = tuple[npt.NDArray[np.int64], Vec]


@dataclass(frozen=True)
class Episode:
    """One recorded episode.

    Attributes:
        path: The MCAP file.
        header: What the recording says of itself, without config and URDF.
        config: The resolved config.
        urdf: Text of the robot's URDF.
        layout: Dtypes of the session.
        ticks: Session ticks in order, dtype ``Layout.tick``.
        gate: Gate ticks in order, dtype ``Layout.gate``.
        events: Events in order, as given.
        manifest: The manifest; None when the recording was never finished.
        is_complete: The file is whole, and is the one of its manifest.
        note: What is wrong with it; empty when it is complete.
    """

    path: Path
    header: Mapping[str, Any]
    config: Mapping[str, Any]
    urdf: str
    layout: Layout
    ticks: Rows
    gate: Rows
    events: tuple[Mapping[str, Any], ...]
    manifest: Mapping[str, Any] | None
    is_complete: bool
    note: str

    @classmethod
    def open(cls, path: Path | str) -> Episode:
        """Read an episode.

        Args:
            path: The MCAP file, its manifest, or a folder with one episode.

        Returns:
            The episode, or its longest valid prefix.

        Raises:
            RecordingError: If nothing can be read, or it is no recording of ours.
        """
        return _read(find_episode(Path(path)))

    @property
    def robot(self) -> Mapping[str, Any]:
        """The robot as JSON values: names, limits, home, limbs."""
        robot: Mapping[str, Any] = self.header["robot"]
        return robot

    @property
    def robot_info(self) -> RobotInfo:
        """The robot; its ``urdf_path`` is where the URDF was when it was recorded."""
        return robot_from_dict(self.robot)

    @property
    def end_reason(self) -> str:
        """Why it ended; ``aborted`` when the recording was never finished."""
        return "aborted" if self.manifest is None else self.manifest["end_reason"]

    @property
    def wall_offset_ns(self) -> int:
        """Wall time minus monotonic time, [ns]."""
        return int(self.header["wall_offset_ns"])

    @cached_property
    def target(self) -> dict[str, _Stamped]:
        """Retargeted T_base_eef by limb: tick stamps [ns], rows xyz + quat_xyzw."""
        return {
            limb: _present(self.ticks["stamp_ns"], self.ticks["target"][:, row])
            for row, limb in enumerate(self.layout.limbs)
        }

    @cached_property
    def raw(self) -> dict[str, _Stamped]:
        """Leader poses as given, by follower limb: capture stamps [ns], rows."""
        new = self.is_new_sample
        stamps = self.ticks["sample"]["stamp_ns"][new]
        return {
            limb: _present(stamps, self.ticks["raw"][new, row])
            for row, limb in enumerate(self.layout.limbs)
        }

    @cached_property
    def leader(self) -> dict[str, _Stamped]:
        """Leader samples by leader limb: capture stamps [ns], poses or joints."""
        samples = self.ticks["sample"][self.is_new_sample]
        result = {}
        for row, limb in enumerate(self.layout.leader.limbs):
            values = samples["pose"][:, row]
            if self.layout.leader.emits_joints(limb):
                n = len(self.layout.leader.joint_names[limb])
                values = samples["q"][:, row, :n]
            result[limb] = _present(samples["limb_ns"][:, row], values)
        return result

    @cached_property
    def objects(self) -> dict[str, _Stamped]:
        """T_world_object by name: measurement stamps [ns], rows xyz + quat_xyzw."""
        return {
            name: _present(self.gate["meas_ns"], self.gate["objects"][:, row])
            for row, name in enumerate(self.layout.objects)
        }

    @cached_property
    def is_new_sample(self) -> npt.NDArray[np.bool_]:
        """Ticks whose sample is not that of the tick before."""
        has_sample = self.ticks["has_sample"]
        seq = np.where(has_sample, self.ticks["sample"]["seq"].astype(np.int64), -1)
        is_new: npt.NDArray[np.bool_] = has_sample & (np.diff(seq, prepend=-1) != 0)
        return is_new


def find_episode(path: Path) -> Path:
    """Return the MCAP file meant by itself, its manifest or its folder.

    Raises:
        RecordingError: If there is none, or a folder has several.
    """
    if path.is_dir():
        found = sorted(path.glob("episode_*.mcap"))
        if len(found) != 1:
            names = ", ".join(file.name for file in found[:10]) or "none"
            raise RecordingError(f"{path}: expected one episode, got {names}; name it")
        return found[0]
    if path.suffix == ".json":
        path = path.with_suffix(".mcap")
    if not path.is_file():
        raise RecordingError(f"{path}: expected an MCAP file, got none")
    return path


def _read(path: Path) -> Episode:
    scanner = Scanner(path)
    contents = _Contents(path)
    try:
        for item in scanner:
            contents.take(item)
    except OSError as err:
        raise RecordingError(f"{path}: expected to read it, got {err}") from err
    if "robot.urdf" not in contents.attachments:
        problem = scanner.problem or "no attachments"
        raise RecordingError(f"{path}: expected a recording of paprle, got {problem}")
    header = contents.json("header.json")
    layout = layout_from_header(header)
    base_links = {limb["name"]: limb["base_link"] for limb in header["robot"]["limbs"]}
    channels = make_channels(layout, base_links)
    manifest = read_manifest(path)
    note = _compare(path, scanner, manifest)
    return Episode(
        path=path,
        header=header,
        config=contents.json("config.json"),
        urdf=contents.attachments["robot.urdf"].decode(errors="replace"),
        layout=layout,
        ticks=contents.fill(channels, Stream.TICK, layout.tick),
        gate=contents.fill(channels, Stream.GATE, layout.status),
        events=contents.events(),
        manifest=manifest,
        is_complete=not note,
        note=note,
    )


class _Contents:
    """Messages by topic, as the chunks bring them."""

    def __init__(self, path: Path) -> None:
        self.attachments: dict[str, bytes] = {}
        self._path = path
        self._schemas: dict[int, str] = {}
        self._topics: dict[str, Topic] = {}
        self._messages: dict[int, list[bytes]] = {}
        self._n_bytes = 0

    def take(self, item: object) -> None:
        if isinstance(item, Attachment):
            self.attachments[item.name] = item.data
        elif isinstance(item, list):
            for record in item:
                self._take_record(record)

    def _take_record(self, record: Schema | Topic | Message) -> None:
        if isinstance(record, Message):
            self._n_bytes += len(record.data)
            if self._n_bytes > MAX_TOTAL:
                raise self._error(f"at most {MAX_TOTAL >> 30} GiB of messages", "more")
            self._messages.setdefault(record.channel_id, []).append(record.data)
        elif isinstance(record, Topic):
            self._topics[record.topic] = record
        else:
            self._schemas[record.id] = record.name

    def json(self, name: str) -> dict[str, Any]:
        try:
            data = json.loads(self.attachments[name])
        except (KeyError, ValueError, RecursionError) as err:
            raise self._error(f"attachment {name}", repr(err)) from err
        if not isinstance(data, dict):
            raise self._error(f"a JSON object in {name}", type(data).__name__)
        return data

    def events(self) -> tuple[Mapping[str, Any], ...]:
        if EVENTS_TOPIC not in self._topics:
            return ()
        texts = self._of(EVENTS_TOPIC, STRING)
        return tuple(parse_event(decode(data, STRING).data.encode()) for data in texts)

    def fill(
        self, channels: tuple[Channel, ...], stream: Stream, dtype: np.dtype[np.void]
    ) -> Rows:
        """Return the records of one stream, as many as all its channels have."""
        mine = [channel for channel in channels if channel.stream == stream]
        if not self._messages:
            return np.zeros(0, dtype)
        rows = [self._rows(channel) for channel in mine]
        n = min(len(part) for part in rows)
        records = np.zeros(n, dtype)
        if stream == Stream.TICK:
            records["sample"]["q"] = np.nan
            records["sample"]["pose"] = np.nan
        for channel, part in zip(mine, rows, strict=True):
            channel.decode(part[:n], records)
        records.setflags(write=False)
        return records

    def _rows(self, channel: Channel) -> Rows:
        message = channel.message
        data = self._of(channel.topic, message.typename)
        size = message.dtype.itemsize
        other = next((len(row) for row in data if len(row) != size), None)
        if other is not None:
            got = f"{other}; {self._describe_writer()}"
            raise self._error(f"messages of {size} bytes on {channel.topic}", got)
        joined = b"".join(data)
        fixed = channel.is_constant
        table = np.frombuffer(joined, np.uint8).reshape(len(data), size)
        template = np.frombuffer(message.template, np.uint8)
        if not (table[:, fixed] == template[fixed]).all():
            raise self._error(f"the header's names on {channel.topic}", "others")
        return np.frombuffer(joined, message.dtype)

    def _of(self, name: str, typename: str) -> list[bytes]:
        topic = self._topics.get(name)
        if topic is None or self._schemas.get(topic.schema_id) != typename:
            raise self._error(f"topic {name} of {typename}", "none")
        return self._messages.get(topic.id, [])

    def _describe_writer(self) -> str:
        header = self.json("header.json")
        version, revision = header.get("version"), header.get("git_rev")
        return f"paprle {version} at {revision} recorded it"

    def _error(self, expected: str, got: str) -> RecordingError:
        return RecordingError(f"{self._path}: expected {expected}, got {got}")


def _present(stamps: npt.NDArray[np.int64], values: Vec) -> _Stamped:
    """Return the rows that are not NaN throughout, with their stamps."""
    present = ~np.isnan(values).all(axis=1)
    return stamps[present], values[present]


def _compare(path: Path, scanner: Scanner, manifest: Mapping[str, Any] | None) -> str:
    """Say what is wrong with the file; empty when it is what was written."""
    if not scanner.is_complete:
        return (
            f"{scanner.problem}; what comes before is valid, 'paprle recover' makes "
            "a file of it"
        )
    if manifest is None:
        return "no manifest: the recording was never finished"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != manifest.get("sha256"):
        return "the file is not the one that its manifest describes"
    return ""
