"""Recordings as series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import Work
from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason, to_bits
from paprle.ipc.records import Stream
from paprle.observation.frame import StateFrame
from paprle.recording.messages.channels import Rows
from paprle.recording.reading import Block, Reading
from paprle_lab.dataset.episodes import (
    EpisodeChoice,
    RecordingProgress,
    SourceRecording,
    choose,
    choose_rate,
    find_recordings,
    find_sizes,
)
from paprle_lab.dataset.frames import NS, EpisodeFrames
from paprle_lab.dataset.resampling_error import Account
from paprle_lab.evaluation.timing import count_interventions
from paprle_lab.scoring.glimpses import LEAST_STEP, Watch
from paprle_lab.scoring.series import EpisodeSeries, Facts, Glimpses, Track

_HARMLESS = (Reason.LATE, Reason.OLD_SEQUENCE)
"""Reasons that change no command."""

LeftOut = list[tuple[Path, str]]


def read_recordings(
    places: Sequence[Path], left_out: LeftOut, work: Work
) -> Iterator[EpisodeSeries]:
    """Yield the episodes of recordings; those left out are added with the reason.

    Raises:
        ConfigError: If there are none, or they do not match.
    """
    choice: EpisodeChoice = choose(find_recordings(places))
    left_out += [(path, reason) for path, reason, _ in choice.left_out]
    if choice.robot is None:
        return
    fps, sizes = choose_rate(choice.robot), find_sizes(choice.robot)
    names = tuple(choice.robot.header["robot"]["joint_names"])
    work.note("reading recordings")
    progress = RecordingProgress(work, choice.sources)
    for source in progress.each():
        try:
            frames = _Frames(source, fps, tuple(sizes), progress)
            yield frames.read(names, _read_facts(source))
        except RecordingError as err:
            left_out.append((source.path, str(err)))


class _Frames:
    def __init__(
        self,
        source: SourceRecording,
        fps: int,
        cameras: Sequence[str],
        progress: RecordingProgress,
    ) -> None:
        self._source, self._fps, self._progress = source, fps, progress
        self._watches = {name: Watch() for name in cameras}
        self._next_look = 0.0

    def read(self, names: tuple[str, ...], facts: Facts) -> EpisodeSeries:
        source, fps = self._source, self._fps
        frames = EpisodeFrames(source.path, fps, kept=source.kept)
        q, sent, driven = [], [], []
        for k, frame in enumerate(frames):
            self._progress.count(k / fps)
            q.append(frame.q.astype(np.float32))
            sent.append(frame.q_sent.astype(np.float32))
            driven.append(bool(frame.driven.any()))
            self._look(k / fps, frame)
        if frames.problem or len(q) < 2:
            raise RecordingError(frames.problem or f"only {len(q)} frames")
        return EpisodeSeries(
            name=source.path.stem,
            path=source.path,
            task=source.task,
            outcome=source.outcome,
            fps=fps,
            t=np.arange(len(q)) / fps,
            action=Track(names, np.array(sent, dtype=np.float64)),
            state=Track(names, np.array(q, dtype=np.float64)),
            driven=np.array(driven),
            cameras={
                name: self._finish(name, frames.accounts[name])
                for name in self._watches
            },
            facts=facts,
        )

    def _look(self, t: float, frame: StateFrame) -> None:
        if t < self._next_look:
            return
        self._next_look = t + LEAST_STEP - 0.5 / self._fps
        for name, watch in self._watches.items():
            watch.add(t, frame.images[name])

    def _finish(self, name: str, account: Account) -> Glimpses:
        # a held image of a camera as slow as the frames is one that did not come
        return self._watches[name].finish(account.n_gaps / max(account.n_frames, 1))


def _read_facts(source: SourceRecording) -> Facts:
    """Return the counts of the kept times."""
    begin, end = source.kept
    ticks, gate = TickCounts(), list[Rows]()
    first = None
    for item in Reading(source.path):
        if not isinstance(item, Block):
            continue
        stamps = item.records["stamp_ns"]
        first = int(stamps[0]) if first is None else first
        t = (stamps - first) / NS
        rows = item.records[(t >= begin) & (t < end)]
        if item.stream == Stream.TICK:
            ticks.add(rows)
        else:
            kept = np.zeros(len(rows), [("reasons", "u8"), ("state", "i4")])
            kept["reasons"], kept["state"] = rows["reasons"], rows["state"]
            gate.append(kept)
    return Facts(**ticks.find(), **measure_gate(gate))


def measure_gate(parts: Sequence[Rows]) -> dict[str, Any]:
    """Return share and interventions of the gate's rows: ``reasons``, ``state``."""
    if not parts:
        return {}
    gate = np.concatenate(parts)
    is_on = gate["state"] == GateState.ENGAGED
    n_on = int(is_on.sum())
    acted = (gate["reasons"][is_on] & ~np.uint64(to_bits(_HARMLESS))) != 0
    return {
        "interventions": count_interventions(gate),
        "gate_held": float(acted.mean()) if n_on else None,
    }


class TickCounts:
    """Falling edges of the clutch and of tracking."""

    def __init__(self) -> None:
        self._n = self._n_valid = 0
        self._n_clutches = self._n_losses = 0
        self._last_state, self._was_valid = -1, False

    def add(self, rows: Rows) -> None:
        """Add ticks, in order."""
        if not len(rows):
            return
        states = np.append([self._last_state], rows["state"])
        is_let_go = (states[1:] == SessionState.CLUTCHED) & (
            states[:-1] == SessionState.ENGAGED
        )
        self._n_clutches += int(is_let_go.sum())
        self._last_state = int(states[-1])
        seen = rows[rows["has_sample"]]
        valid = np.append([self._was_valid], seen["sample"]["valid"])
        self._n_losses += int((valid[:-1] & ~valid[1:]).sum())
        self._was_valid = bool(valid[-1])
        self._n += len(rows)
        self._n_valid += int(valid[1:].sum())

    def find(self) -> Mapping[str, Any]:
        """Return both counts; None: unknown."""
        return {
            "clutches": self._n_clutches if self._n else None,
            "losses": self._n_losses if self._n_valid else None,
        }
