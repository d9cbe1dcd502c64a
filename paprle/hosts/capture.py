"""Recording of leaders without a robot."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from paprle.config import Resolved
from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import Feedback, LeaderInfo, SessionState
from paprle.hosts.factories import make_leaders
from paprle.hosts.virtual import ListRing, VirtualClock
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.records import Record, Stream, make_layout, pack_sample, split_layout
from paprle.recording.header import make_recording_header
from paprle.recording.recorder import Recorder, check_free_space, estimate_rate
from paprle.robot.empty_robot import NOBODY
from paprle.session.episode import EpisodeLog
from paprle.session.inputs.leaders import Leaders

_NONE = "none"


class CaptureHost:
    """Records leaders without a follower."""

    def __init__(self, resolved: Resolved, clock: Clock) -> None:
        """Prepare; nothing is opened.

        Raises:
            ConfigError: Without a folder to write to.
        """
        if resolved.record.dir is None:
            raise ConfigError(
                "record.dir: expected a folder for the capture, got none; add "
                "record.dir=FOLDER"
            )
        self.leaders: dict[str, Leader] = make_leaders(resolved, clock, NOBODY)
        infos = {name: one.info for name, one in self.leaders.items()}
        layout = make_layout(NOBODY, merge_leaders(infos))
        self._clock = clock
        self._layouts = split_layout(layout)
        self._samples = Leaders(layout, resolved.session.max_gap, samples="off")
        self._log, self._ring = EpisodeLog(), ListRing()
        self._tick: Record = np.zeros((), dtype=layout.tick)
        self._arrivals: dict[str, list[int]] = {name: [] for name in self.leaders}
        self._is_followed = any(info.is_human for info in infos.values())
        self.is_over = False
        try:
            rate = estimate_rate(layout, resolved.session.rate, 0.0)
            folder = Path(resolved.record.dir)
            check_free_space(folder, rate, resolved.record.planned_time)
        except RecordingError as err:
            raise ConfigError(str(err)) from err
        header = _make_header(resolved, layout.leader)
        header["leader_notes"] = [
            note for leader in self.leaders.values() for note in leader.notes
        ]
        self.recorder = Recorder(resolved.record, layout, header, [self._ring])

    def open(self) -> None:
        """Open all leaders, or none.

        Raises:
            DeviceError: If one cannot be opened.
        """
        with ExitStack() as stack:
            for leader in self.leaders.values():
                stack.callback(leader.close)
                leader.open()
            stack.pop_all()

    def step(self) -> None:
        """Record the newest samples and send feedback."""
        now_ns = self._clock()
        if self._log.begin_ns is None:
            self._log.begin(now_ns)
        newest = [leader.latest() for leader in self.leaders.values()]
        records = [
            None if sample is None else pack_sample(layout, sample)
            for layout, sample in zip(self._layouts, newest, strict=True)
        ]
        self._samples.update(records, now_ns)
        for name, intake in zip(self.leaders, self._samples.intakes, strict=True):
            if intake.sample is not None and intake.arrived_ns == now_ns:
                self._arrivals[name].append(now_ns)
        self._write(now_ns)
        self.is_over = self._samples.is_exhausted or self._samples.asks_to_end(now_ns)
        self._answer(now_ns)
        self.recorder.step(now_ns)

    def close(self, reason: str) -> None:
        """Close the leaders and finish the episode."""
        for leader in self.leaders.values():
            leader.close()
        now_ns = self._clock()
        self._log.end(reason, now_ns)
        self._log.close(now_ns, is_standing=True)
        self._push_events()
        self.recorder.finish(reason, now_ns)

    def summarise(self) -> list[str]:
        """Return number, rate and refusals of each leader's samples."""
        refused = Counter(self._samples.refused)
        told = []
        for name, arrivals in self._arrivals.items():
            who = name or "leader"
            if len(arrivals) < 2:
                told.append(f"{who}: {len(arrivals)} sample(s)")
                continue
            gaps = np.diff(arrivals) * 1e-9
            told.append(
                f"{who}: {len(arrivals)} samples in {gaps.sum():.1f} [s], "
                f"{1.0 / gaps.mean():.1f} [Hz], longest gap {gaps.max() * 1e3:.0f} [ms]"
            )
        if refused:
            counts = ", ".join(f"{n} {why}" for why, n in sorted(refused.items()))
            told.append(f"refused: {counts}")
        return told

    def _write(self, now_ns: int) -> None:
        tick, sample = self._tick, self._samples.sample
        tick["k"] += 1
        tick["stamp_ns"] = tick["posted_ns"] = now_ns
        is_driving = self._samples.is_usable
        state = SessionState.ENGAGED if is_driving else SessionState.CLUTCHED
        tick["state"], tick["has_sample"] = state, sample is not None
        if sample is not None:
            tick["sample"][()] = sample.record
            tick["sample_age_ns"] = now_ns - self._samples.arrived_ns
        self._push_events()
        self._ring.push(Stream.TICK, tick.tobytes())

    def _push_events(self) -> None:
        for event in self._log.events:
            self._ring.push(Stream.EVENT, json.dumps(event).encode())
        self._log.events = []

    def _answer(self, now_ns: int) -> None:
        self._is_followed = self._is_followed or self._samples.asks_to_start
        told = Feedback(
            stamp_ns=now_ns,
            state=SessionState.ENGAGED if self._is_followed else SessionState.WAITING,
            episode=0,
            is_engaged=self._is_followed,
        )
        for leader in self.leaders.values():
            leader.apply(told)


def capture(resolved: Resolved, has_ended: Callable[[], bool]) -> CaptureHost:
    """Return the closed capture of leaders.

    It ends with them, after ``session.duration``, or by ``has_ended``.

    Raises:
        ConfigError: If it cannot be written.
        DeviceError: If a leader cannot be opened.
    """
    session = resolved.session
    virtual = VirtualClock() if session.clock == "virtual" else None
    made = CaptureHost(resolved, virtual or time.monotonic_ns)
    made.open()
    loop, reason = DeadlineLoop(session.rate), "failed"
    clock = virtual or time.monotonic_ns
    begin_ns = clock()
    try:
        while True:
            if has_ended():
                reason = "quit"
                break
            made.step()
            if made.is_over:
                reason = "end signal"
                break
            is_up = (clock() - begin_ns) * 1e-9 >= (session.duration or np.inf)
            if is_up:
                reason = "time is up"
                break
            if virtual is None:
                loop.wait()
            else:
                virtual.now_ns += loop.period_ns
    finally:
        made.close(reason)
    return made


def _make_header(resolved: Resolved, leader: LeaderInfo) -> dict[str, Any]:
    whole = resolved.to_dict()
    keys = ("leader", "leader_type", "leaders", "session", "record")
    return make_recording_header(
        config={key: whole[key] for key in keys if key in whole},
        names={"leader": resolved.leader_name, "follower": _NONE, "env": _NONE},
        robot=NOBODY,
        leader=replace(leader, motion={}, path={}),
        gate_period=1.0 / resolved.session.rate,
    )
