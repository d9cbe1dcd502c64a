"""Recorded episode of any length."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.far_leader import FAR
from paprle.contracts.types import RobotInfo
from paprle.ipc.records import Stream
from paprle.recording.header import robot_from_dict
from paprle.recording.reader import find_episode
from paprle.recording.reading import Block, Reading
from paprle_lab.evaluation.far import FarErrors
from paprle_lab.evaluation.store import Store

_TOLD = ("posture", "stuck_in_reach", "reconstruction")
_MOST_EVENTS = 1000  # chosen: a file of strangers may hold any number of them
_SAMPLE = ("stamp_ns", "seq", "limb_ns", "pose")
_PUNCTUAL = ("k", "stamp_ns", "state", "compute_ns", "late_ns", "n_overruns")
_ASKED = ("has_sample", "driver", "target", "given", "q_des", "err_pos", "err_rot")
_JUDGED = ("sample_age_ns", "is_far", "status_age_ns", "dq_des")
_TICK = (*_PUNCTUAL, *_ASKED, *_JUDGED)
_SENT = (
    "reasons",
    "setpoint_ns",
    "meas_ns",
    "speed_scale",
    "clearance",
    "q_des",
    "q_cmd",
    "dq_cmd",
    "q_meas",
    "held",
)
_GATE = (*_PUNCTUAL, *_SENT)


class StoredEpisode:
    """A recorded episode; see ``paprle.recording.reader.Episode``.

    Attributes:
        ticks: Measured fields only.
        gate: Measured fields only.
        is_complete: The file matches its manifest.
        note: Defect of the file.
    """

    def __init__(self, path: Path) -> None:
        """Read an MCAP file, a manifest, or a folder of one episode.

        Raises:
            RecordingError: If nothing is readable.
            ConfigError: If the disk is full.
        """
        reading = Reading(find_episode(path))
        self.path = reading.path
        self.header: Mapping[str, Any] = reading.header
        self.config: Mapping[str, Any] = reading.config
        self.urdf = reading.urdf
        self.robot_info: RobotInfo = robot_from_dict(reading.header["robot"])
        self.layout = layout = reading.layout
        sample = _take_fields(layout.sample, _SAMPLE)
        tick = [*_take_fields(layout.tick, _TICK).descr, ("sample", sample.descr)]
        self.ticks = Store(np.dtype(tick))
        self.gate = Store(_take_fields(layout.status, _GATE))
        self.far = FarErrors()
        self.events: list[Mapping[str, Any]] = []
        for item in reading:
            if isinstance(item, Block):
                store = self.ticks if item.stream == Stream.TICK else self.gate
                store.append(item.records)
            elif item.get("event") == FAR:
                self.far.take(item)
            elif item.get("event") in _TOLD and len(self.events) < _MOST_EVENTS:
                self.events.append(item)
        self.manifest = reading.manifest
        self.note = reading.find_problem()
        self.is_complete = not self.note

    @property
    def end_reason(self) -> str:
        """Reason of the end; ``aborted`` if unfinished."""
        return "aborted" if self.manifest is None else self.manifest["end_reason"]


def _take_fields(dtype: np.dtype[np.void], names: tuple[str, ...]) -> np.dtype[np.void]:
    fields: Mapping[str, Any] = dtype.fields or {}
    return np.dtype([(name, fields[name][0]) for name in names])
