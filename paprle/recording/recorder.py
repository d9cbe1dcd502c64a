"""Recorder without its process: reads rings, writes episodes."""

from __future__ import annotations

import shutil
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import RecordingError
from paprle.contracts.settings.core import RecordSettings
from paprle.ipc.records import Layout, Stream
from paprle.recording import events
from paprle.recording.manifest import (
    find_next_episode,
    make_episode_path,
    write_manifest,
)
from paprle.recording.mcap.journal import Journal
from paprle.recording.messages.channels import make_channels
from paprle.recording.notes import add_notes, find_notes
from paprle.recording.video.footage import FootageRecorder, RingReader

HOLD_NS = 10_000_000  # chosen: two rings agree on the order of what is this old [ns]
SYNC_NS = 1_000_000_000  # spec: safety.md 8.3: fdatasync at least every second
PLACE_NS = 400_000_000  # chosen: a file that was moved is told within a second [ns]
WARN_SHARE = 0.10  # spec: safety.md 8.3
STOP_SHARE = 0.02  # spec: safety.md 8.3
PREFLIGHT_FACTOR = 2.0  # spec: safety.md 8.3
_STAMP = struct.Struct("@q")  # of a record, where its type has it
_FOUND = ("short", "stood")  # of the robot's motion, at the end of an episode
_OF_THE_END = ("kept", "outcome", *_FOUND)  # fields of that event in the manifest
FILE_SHARE = 1.05  # measured: of what grows: 0.3–0.5 smooth motion, 1.03 noise


def estimate_rate(layout: Layout, tick_rate: float, gate_rate: float) -> float:
    """Return a recording's highest data rate, [bytes/s]."""
    raw = layout.tick.itemsize * tick_rate + layout.status.itemsize * gate_rate
    return FILE_SHARE * raw


def check_free_space(folder: Path, bytes_per_s: float, planned: float) -> None:
    """Check that the planned recording, [s], fits twice; make the folder.

    Raises:
        RecordingError: If the folder cannot be made or has too little room.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        usage = shutil.disk_usage(folder)
    except OSError as err:
        raise RecordingError(f"record.dir: expected a folder, got {err}") from err
    needed = PREFLIGHT_FACTOR * bytes_per_s * planned
    needed = max(needed, STOP_SHARE * usage.total)
    if usage.free < needed:
        raise RecordingError(
            f"record.dir '{folder}': expected {needed / 1e6:.0f} MB free for "
            f"{planned:.0f} [s] twice over, got {usage.free / 1e6:.0f} MB; make room, "
            "or lower record.planned_time"
        )


class Recorder:
    """Writer of the rings' records, one file per episode."""

    def __init__(
        self,
        settings: RecordSettings,
        layout: Layout,
        header: Mapping[str, Any],
        rings: Sequence[RingReader],
        wall: Callable[[], int] = time.time_ns,
        footage: FootageRecorder | None = None,
    ) -> None:
        self.failure = ""
        self.warning = ""
        self.losses: list[str] = []
        self.manifests: dict[Path, dict[str, Any]] = {}
        self.has_prefix = True
        self._folder = Path(settings.dir or ".")
        self._settings = settings
        self._layout = layout
        self._header = header
        self._rings = rings
        self._wall = wall
        self._footage = footage or FootageRecorder({}, {}, lambda *_: None)
        self._journal: Journal | None = None
        self._held: list[tuple[int, int, int, bytes]] = []
        self._n_held = 0
        self._begin_ns = 0
        self._flushed_ns = 0
        self._synced_ns = 0
        self._placed_ns = 0
        self._dropped_before: dict[str, int] = {}
        self._extra: dict[str, Any] = {}
        make_channels(layout, {})  # message codecs are made once, before any episode

    @property
    def is_recording(self) -> bool:
        """Whether an episode's file is open."""
        return self._journal is not None

    @property
    def path(self) -> Path | None:
        """Path of the open file."""
        return self._journal.path if self._journal else None

    def step(self, now_ns: int) -> None:
        """Write due records; never raises because of the disk."""
        self._drain(now_ns)
        if self.is_recording and self.count_dropped() != self._dropped_before:
            self.warning = "recording: the disk is too slow, records are being lost"
        self._process(now_ns - HOLD_NS, now_ns)
        self._write_footage()
        if self._journal is not None:
            self._keep(self._journal, now_ns)

    def finish(self, end_reason: str, now_ns: int) -> None:
        """Empty the rings and finish an episode."""
        self._drain(now_ns)
        self._process(None, now_ns)
        self._end(end_reason)

    def _drain(self, now_ns: int) -> None:
        for ring in self._rings:
            for kind, payload in ring.drain():
                entry = self._classify(kind, payload, now_ns)
                if entry is not None:
                    self._n_held += 1
                    self._held.append((*entry, self._n_held, payload))
        self._held.sort(key=lambda held: (held[0], held[1] >> 8, held[2]))

    def _classify(
        self, kind: int, payload: bytes, now_ns: int
    ) -> tuple[int, int] | None:
        if kind == Stream.EVENT:
            event = events.parse_event(payload)
            name = event.get("event")
            rank = {events.BEGIN: 0, events.END: 2, events.DISCARD: 2}.get(str(name), 1)
            return events.find_stamp(event, now_ns), rank << 8 | kind
        dtype = self._layout.tick if kind == Stream.TICK else self._layout.status
        if len(payload) != dtype.itemsize or kind not in (Stream.TICK, Stream.GATE):
            self.warning = (
                f"recorder: expected records of {dtype.itemsize} bytes, got "
                f"{len(payload)} of kind {kind}; were all processes given one config?"
            )
            return None
        at = dtype.fields["stamp_ns"][1] if dtype.fields else 0
        (stamp,) = _STAMP.unpack_from(payload, at)
        return stamp, 1 << 8 | kind

    def _process(self, until_ns: int | None, now_ns: int) -> None:
        n = len(self._held)
        if until_ns is not None:
            n = sum(held[0] <= until_ns for held in self._held)
        due, self._held = self._held[:n], self._held[n:]
        for k, (stamp, rank_and_kind, _, payload) in enumerate(due, start=1):
            kind = Stream(rank_and_kind & 0xFF)
            if kind == Stream.EVENT:
                was_recording = self.is_recording
                self._follow(payload, stamp, now_ns)
                if was_recording and not self.is_recording and until_ns is not None:
                    self._held = due[k:] + self._held
                    return  # closing takes time: whoever waits sees that it goes on
            elif self._journal is not None and stamp >= self._begin_ns:
                self._write(kind, payload)

    def _follow(self, payload: bytes, stamp: int, now_ns: int) -> None:
        event = events.parse_event(payload)
        name = event.get("event")
        if name == events.BEGIN:
            self._end("interrupted")
            self._begin(event, stamp, now_ns)
        self._write(Stream.EVENT, payload)
        if name == events.END:
            self._extra |= {k: event[k] for k in _OF_THE_END if k in event}
            self._end(str(event.get("end_reason", "unknown")))
        elif name == events.DISCARD:
            self._discard(event)
        elif name == events.OUTCOME:
            self._mark_last(event, {"outcome": event.get("outcome")})
        elif name == events.NOTE:
            self._note(event)

    def _begin(self, event: dict[str, Any], stamp: int, now_ns: int) -> None:
        header = dict(self._header)
        header["wall_offset_ns"] = self._wall() - now_ns
        header["session_episode"] = event.get("episode")
        header["task"] = str(event.get("task", self._settings.task))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._journal = self._open(header)
        except (OSError, RecordingError) as err:
            self._fail(err)
            return
        self.failure = ""
        self._footage.begin(stamp)
        self._begin_ns = stamp
        self._flushed_ns = self._synced_ns = self._placed_ns = now_ns
        self._dropped_before = self.count_dropped()
        self._extra = {key: header[key] for key in ("session_episode", "task")}

    def _open(self, header: Mapping[str, Any]) -> Journal:
        for _ in range(100):  # chosen: other recorders on this folder come in between
            number = find_next_episode(self._folder)
            path = make_episode_path(self._folder, number)
            try:
                return Journal(path, self._layout, header, has_prefix=self.has_prefix)
            except FileExistsError:
                continue
        raise RecordingError(f"record.dir '{self._folder}': no free episode number")

    def _write(self, stream: Stream, payload: bytes) -> None:
        if self._journal is None:
            return
        try:
            self._journal.write(stream, payload)
        except OSError as err:
            self._fail(err)

    def _write_footage(self) -> None:
        for track, given in self._footage.take():
            if track is None:
                self._write(Stream.EVENT, given)
            elif self._journal is not None:
                try:
                    self._journal.write_picture(track, given)
                except OSError as err:
                    self._fail(err)

    def _keep(self, journal: Journal, now_ns: int) -> None:
        if now_ns - self._flushed_ns < self._settings.flush * 1e9:
            return
        self._flushed_ns = now_ns
        try:
            journal.flush()
            if now_ns - self._placed_ns >= PLACE_NS:
                self._placed_ns = now_ns
                journal.check_place()
            if now_ns - self._synced_ns >= SYNC_NS:
                self._synced_ns = now_ns
                journal.sync()
                self._check_space()
        except (OSError, RecordingError) as err:
            self._fail(err)

    def _check_space(self) -> None:
        usage = shutil.disk_usage(self._folder)
        text = f"{usage.free / 1e6:.0f} MB free in '{self._folder}'"
        if usage.free < STOP_SHARE * usage.total:
            self._end("disk_full")
            self.failure = f"recording stopped: {text}; make room"
            self.losses.append(self.failure)
        elif usage.free < WARN_SHARE * usage.total:
            self.warning = f"recording: only {text}"

    def _end(self, end_reason: str) -> None:
        if self._journal is None:
            return
        self._write_footage()
        if self._journal is None:
            return  # that has failed
        journal, self._journal = self._journal, None
        if cameras := self._footage.end():
            self._extra["cameras"] = cameras
        after, before = self.count_dropped(), self._dropped_before
        dropped = {name: n - before.get(name, 0) for name, n in after.items()}
        try:
            manifest = journal.close(end_reason, self._extra | {"dropped": dropped})
        except OSError as err:
            self._journal = journal
            self._fail(err)
            return
        self.manifests[journal.path] = manifest
        if (n_lost := sum(dropped.values())) and not self._extra.get("discarded"):
            self.losses.append(f"{journal.path}: {n_lost} records are missing")

    def _discard(self, event: Mapping[str, Any]) -> None:
        marks = {"discarded": True, "kept": False}
        reason = str(event.get("reason", "discarded"))
        if self._journal is not None:
            self._extra |= marks
            self._extra |= {k: event[k] for k in _FOUND if k in event}
            self._end(reason)
        else:  # it ended otherwise, and the last word counts
            self._mark_last(event, marks | {"end_reason": reason, "outcome": None})

    def _note(self, event: Mapping[str, Any]) -> None:
        if self._journal is not None:
            self._extra |= add_notes(self._extra, find_notes([event]))
        else:
            last = next(reversed(self.manifests.values()), {})
            self._mark_last(event, add_notes(last, find_notes([event])))

    def _mark_last(self, event: Mapping[str, Any], marks: Mapping[str, Any]) -> None:
        path, manifest = next(reversed(self.manifests.items()), (None, {}))
        meant = event.get("episode", manifest.get("session_episode"))
        if path is None or manifest.get("session_episode") != meant:
            return  # the episode that is meant could not be recorded
        manifest |= marks
        if manifest.get("outcome") is None:
            manifest.pop("outcome", None)
        try:
            write_manifest(path, manifest)
        except OSError as err:
            self.warning = f"{path}: could not be marked as {dict(marks)}: {err}"

    def _fail(self, err: Exception) -> None:
        where = self.path or self._folder
        self.failure = f"recording of '{where}' failed: {err}; the robot is unaffected"
        self.losses.append(self.failure)
        if self._journal is not None:
            self._journal.abandon()
            self._journal = None
            self._footage.end()

    def count_dropped(self) -> dict[str, int]:
        """Return records dropped by full rings, by stream."""
        totals = {stream.name.lower(): 0 for stream in Stream}
        for ring in self._rings:
            for stream in Stream:
                totals[stream.name.lower()] += ring.dropped.get(stream, 0)
        return totals
