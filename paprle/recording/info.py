"""Summary of an episode as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason
from paprle.ipc.records import Stream
from paprle.recording.gaps import list_gaps
from paprle.recording.messages.channels import Rows
from paprle.recording.notes import find_notes, list_notes
from paprle.recording.reader import find_episode
from paprle.recording.reading import Block, Reading
from paprle.recording.shortage import list_shortages, list_stands

_GAP_FACTOR = 2.5  # chosen: two records late by a quarter of a period are no gap
_BIN_NS = 1000  # [ns] chosen: steps are counted in microseconds, in any number

Stamps = npt.NDArray[np.int64]


def describe(path: Path) -> str:
    """Return a summary of an episode.

    Raises:
        RecordingError: If it is no readable recording.
    """
    reading = Reading(find_episode(path))
    seen = _Seen(reading.layout.leader.limbs)
    for item in reading:
        seen.take(item)
    return "\n".join(_lines(reading, seen))


class _Rate:
    def __init__(self) -> None:
        self.n = 0
        self.longest_ns = 0
        self.span: tuple[int, int] | None = None
        self._steps: Counter[int] = Counter()
        self._last: int | None = None

    def add(self, stamps: Stamps) -> None:
        if not len(stamps):
            return
        before = [] if self._last is None else [self._last]
        steps = np.diff(np.concatenate([np.array(before, np.int64), stamps]))
        values, counts = np.unique(steps // _BIN_NS, return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self._steps[value] += count
        self.longest_ns = max(self.longest_ns, *steps.tolist(), 0)
        ends = [int(stamps.min()), int(stamps.max()), *(self.span or ())]
        self.span = (min(ends), max(ends))
        self.n += len(stamps)
        self._last = int(stamps[-1])

    def __str__(self) -> str:
        if self.n < 2:
            return f"{self.n} records"
        ordered = sorted(self._steps.items())
        counted = np.cumsum([count for _, count in ordered])
        median = ordered[int(np.searchsorted(2 * counted, self.n - 1))][0]
        rate = 1e9 / (median * _BIN_NS) if median > 0 else float("nan")
        n_gaps = sum(n for step, n in ordered if step > _GAP_FACTOR * median)
        text = f"{self.n} records at {rate:.1f} Hz, {n_gaps} gaps"
        return f"{text}, longest {self.longest_ns * 1e-6:.1f} ms" if n_gaps else text


class _Seen:
    def __init__(self, limbs: tuple[str, ...]) -> None:
        self.rates = {Stream.TICK: _Rate(), Stream.GATE: _Rate()}
        self.missing = {Stream.TICK: 0, Stream.GATE: 0}
        self.states: dict[Stream, Counter[int]] = {
            Stream.TICK: Counter(),
            Stream.GATE: Counter(),
        }
        self.leader = {limb: _Rate() for limb in limbs}
        self.reasons: Counter[str] = Counter()
        self.n_events = 0
        self.notes: list[dict[str, Any]] = []
        self._last_k: dict[Stream, int] = {}
        self._last_seq = -1

    def take(self, item: Block | Mapping[str, Any]) -> None:
        if not isinstance(item, Block):
            self.n_events += 1
            self.notes += find_notes([item])
            return
        stream, records = item.stream, item.records
        self.rates[stream].add(records["stamp_ns"])
        k = records["k"].astype(np.int64)
        before = self._last_k.get(stream, int(k[0]) - 1)
        self.missing[stream] += int((np.diff(k, prepend=before) - 1).clip(0).sum())
        self._last_k[stream] = int(k[-1])
        self.states[stream].update(records["state"].tolist())
        if stream == Stream.GATE:
            self._count_reasons(records)
        else:
            self._take_samples(records)

    def _count_reasons(self, gate: Rows) -> None:
        words = gate["reasons"]
        for reason in Reason:
            acted = int((words >> np.uint64(reason) & np.uint64(1)).sum())
            self.reasons[reason.name] += acted

    def _take_samples(self, ticks: Rows) -> None:
        has_sample, sample = ticks["has_sample"], ticks["sample"]
        seq = np.where(has_sample, sample["seq"].astype(np.int64), -1)
        is_new = has_sample & (np.diff(seq, prepend=self._last_seq) != 0)
        self._last_seq = int(seq[-1])
        values = np.concatenate([sample["pose"], sample["q"]], axis=2)
        for row, rate in enumerate(self.leader.values()):
            is_given = is_new & ~np.isnan(values[:, row]).all(axis=1)
            rate.add(sample["limb_ns"][is_given, row])


def _lines(reading: Reading, seen: _Seen) -> Iterator[str]:
    header, manifest = reading.header, reading.manifest
    triple = f"leader={header['leader']} follower={header['follower']}"
    yield f"{reading.path.name}: {triple} env={header['env']}"
    yield f"  robot      {_describe_robot(header['robot'])}"
    spans = [rate.span for rate in seen.rates.values() if rate.span is not None]
    start = min((begin for begin, _ in spans), default=0)
    end = max((end for _, end in spans), default=0)
    yield f"  start      {_describe_start(header, start, is_known=bool(spans))}"
    yield f"  duration   {(end - start) * 1e-9:.3f} s"
    reason = "aborted" if manifest is None else manifest["end_reason"]
    yield f"  end        {reason}, {_find_fate(manifest or {})}"
    if (manifest or {}).get("outcome"):
        yield f"  outcome    {(manifest or {})['outcome']}"
    short = ", ".join(map(str, list_shortages(manifest or {})))
    if short:
        yield f"  short      {short}"
    stood = list_stands(manifest or {})
    if stood:
        yield f"  stood      {', '.join(stood)}"
    yield from _list_troubles(reading)
    version, revision = (header.get(key) for key in ("version", "git_rev"))
    yield f"  version    {version or 'unknown'}, revision {revision or 'unknown'}"
    if header.get("task"):
        yield f"  task       {header['task']}"
    for text in _list_notes(manifest or {"notes": seen.notes}, start, end):
        yield f"  note       {text}"
    for told in header.get("leader_notes", ()):
        yield f"  leader     {told}"
    yield "  streams"
    for name, stream in (("session", Stream.TICK), ("gate", Stream.GATE)):
        yield f"    {name:<8} {_describe_stream(seen, stream, manifest)}"
    for limb, rate in seen.leader.items():
        yield f"    leader   {limb}: {rate}"
    yield f"    events   {seen.n_events}"
    yield from _describe_cameras(header, manifest or {})
    yield f"  session    {_describe_states(seen.states[Stream.TICK], SessionState)}"
    yield f"  gate       {_describe_states(seen.states[Stream.GATE], GateState)}"
    acted = [f"{name} {n}" for name, n in seen.reasons.items() if n]
    yield f"  acted      {', '.join(acted) or 'never'}"
    yield from _describe_config(reading)


def _describe_robot(robot: Mapping[str, Any]) -> str:
    limbs = ", ".join(limb["name"] for limb in robot["limbs"])
    return f"{robot['name']}: {len(robot['joint_names'])} joints; limbs {limbs}"


def _describe_start(header: Mapping[str, Any], start: int, *, is_known: bool) -> str:
    if not is_known:
        return "nothing recorded"
    try:
        seconds = (start + header["wall_offset_ns"]) / 1e9
        moment = datetime.fromtimestamp(seconds, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        return "at no time that a calendar knows"
    return moment.isoformat(timespec="milliseconds")


def _find_fate(manifest: Mapping[str, Any]) -> str:
    if manifest.get("discarded"):
        return "discarded by the operator"
    return "kept" if manifest.get("kept", bool(manifest)) else "broken off"


def _list_notes(manifest: Mapping[str, Any], start: int, end: int) -> Iterator[str]:
    for note in list_notes(manifest):
        is_after = note.t_ns > end
        when = "after its end" if is_after else f"{(note.t_ns - start) * 1e-9:.1f} s"
        yield f"{when}: {note.text}"


def _describe_stream(
    seen: _Seen, stream: Stream, manifest: Mapping[str, Any] | None
) -> str:
    if not seen.rates[stream].n:
        return "nothing recorded"
    text = f"{seen.rates[stream]}, {seen.missing[stream]} missing in between"
    dropped = (manifest or {}).get("dropped", {}).get(stream.name.lower())
    return text if dropped is None else f"{text}, {dropped} dropped"


def _describe_cameras(
    header: Mapping[str, Any], manifest: Mapping[str, Any]
) -> Iterator[str]:
    counts = manifest.get("cameras", {})
    for name, camera in header.get("cameras", {}).items():
        size = f"{camera['width']} × {camera['height']} {camera['video']}"
        n = counts.get(name, {})
        told = (
            f", {n['pictures']} pictures, {n['dropped']} dropped, longest gap "
            f"{1e3 * n['longest_gap']:.0f} ms"
            if n
            else ""
        )
        yield f"    camera   {name}: {size} at {camera['fps']:g} Hz{told}"


def _list_troubles(reading: Reading) -> Iterator[str]:
    note = reading.find_problem()
    if note:
        yield f"  attention  {note}"
    for gap in list_gaps(reading.manifest or {}):
        yield f"  missing    {gap}"


def _describe_states(
    counts: Counter[int], kind: type[SessionState] | type[GateState]
) -> str:
    total = max(counts.total(), 1)
    names = {state.value: state.name for state in kind}
    shares = [
        f"{names.get(value, value)} {100 * n / total:.1f} %"
        for value, n in counts.most_common()
    ]
    return ", ".join(shares) or "nothing recorded"


def _describe_config(reading: Reading) -> Iterator[str]:
    rate = (reading.config.get("session") or {}).get("rate")
    h = reading.header.get("gate_period")
    period = "unknown" if h is None else f"{1e3 * h:g} ms"
    yield f"  config     session.rate={rate}, gate.period={period}"
    unsafe = sorted(_find_unsafe(reading.config, ""))
    if unsafe:
        yield f"  UNSAFE     {', '.join(unsafe)}"


def _find_unsafe(section: object, prefix: str) -> Iterator[str]:
    if not isinstance(section, dict):
        return
    for key, value in section.items():
        if key.startswith("unsafe_") and value:
            yield f"{prefix}{key}={value}"
        yield from _find_unsafe(value, f"{prefix}{key}.")
