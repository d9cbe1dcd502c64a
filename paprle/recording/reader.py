"""Reading of an episode's longest valid prefix, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import RobotInfo, Vec
from paprle.ipc.records import Layout, Stream
from paprle.recording.header import robot_from_dict
from paprle.recording.messages.channels import Rows
from paprle.recording.reading import Block, Reading

MAX_TOTAL = 4 << 30  # chosen: of all records together; some hours of an arm
_EVENT_BYTES = 1000  # chosen: about what an event takes in memory
_Stamped = tuple[npt.NDArray[np.int64], Vec]


@dataclass(frozen=True)
class Episode:
    """Recorded episode.

    Attributes:
        ticks: Session ticks, dtype ``Layout.tick``.
        gate: Gate ticks, dtype ``Layout.status``.
        manifest: None if the recording was never finished.
        is_complete: The file is whole and matches its manifest.
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
    def open(cls, path: Path | str, work: Work = UNSEEN) -> Episode:
        """Return an episode by its MCAP file, manifest or folder.

        ``work`` gets the read part of the file.

        Raises:
            RecordingError: If it is no readable recording.
        """
        return _read(find_episode(Path(path)), work)

    @property
    def robot(self) -> Mapping[str, Any]:
        """Robot as JSON values."""
        robot: Mapping[str, Any] = self.header["robot"]
        return robot

    @property
    def robot_info(self) -> RobotInfo:
        """Robot, with its ``urdf_path`` when recorded."""
        return robot_from_dict(self.robot)

    @property
    def end_reason(self) -> str:
        """Reason of its end; ``aborted`` without a manifest."""
        return "aborted" if self.manifest is None else self.manifest["end_reason"]

    @property
    def wall_offset_ns(self) -> int:
        """Wall time minus monotonic time, [ns]."""
        return int(self.header["wall_offset_ns"])

    @cached_property
    def target(self) -> dict[str, _Stamped]:
        """Retargeted T_base_eef by limb: tick stamps [ns], xyz + quat_xyzw."""
        return {
            limb: _present(self.ticks["stamp_ns"], self.ticks["target"][:, row])
            for row, limb in enumerate(self.layout.limbs)
        }

    @cached_property
    def raw(self) -> dict[str, _Stamped]:
        """Leader poses by follower limb: capture stamps [ns], rows."""
        new = self.is_new_sample
        stamps = self.ticks["sample"]["stamp_ns"][new]
        return {
            limb: _present(stamps, self.ticks["raw"][new, row])
            for row, limb in enumerate(self.layout.limbs)
        }

    @cached_property
    def leader(self) -> dict[str, _Stamped]:
        """Poses, joints or axes by leader limb, with capture stamps [ns]."""
        samples = self.ticks["sample"][self.is_new_sample]
        result = {}
        for row, limb in enumerate(self.layout.leader.limbs):
            values = samples["pose"][:, row]
            if self.layout.leader.emits_joints(limb):
                n = len(self.layout.leader.joint_names[limb])
                values = samples["q"][:, row, :n]
            elif self.layout.leader.emits_axes(limb):
                values = samples["axes"][:, row, : len(self.layout.leader.axes[limb])]
            result[limb] = _present(samples["limb_ns"][:, row], values)
        return result

    @cached_property
    def objects(self) -> dict[str, _Stamped]:
        """T_world_object by name: stamps [ns] of measurement or placement, rows."""
        measured = {
            name: _present(self.gate["meas_ns"], self.gate["objects"][:, row])
            for row, name in enumerate(self.layout.objects)
        }
        return measured | {
            name: _present(self.ticks["stamp_ns"], self.ticks["placed"][:, row])
            for row, name in enumerate(self.layout.placed)
        }

    @cached_property
    def is_new_sample(self) -> npt.NDArray[np.bool_]:
        """Mask of ticks with a new sample."""
        has_sample = self.ticks["has_sample"]
        seq = np.where(has_sample, self.ticks["sample"]["seq"].astype(np.int64), -1)
        is_new: npt.NDArray[np.bool_] = has_sample & (np.diff(seq, prepend=-1) != 0)
        return is_new


def find_episode(path: Path) -> Path:
    """Return the MCAP file of a path, manifest or folder.

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


def _read(path: Path, work: Work) -> Episode:
    reading = Reading(path)
    blocks: dict[Stream, list[Rows]] = {Stream.TICK: [], Stream.GATE: []}
    events: list[Mapping[str, Any]] = []
    n_bytes = 0
    for item in reading:
        reading.report(work)
        if not isinstance(item, Block):
            events.append(item)
            n_bytes += _EVENT_BYTES
        else:
            blocks[item.stream].append(item.records)
            n_bytes += item.records.nbytes
        if n_bytes > MAX_TOTAL:
            raise RecordingError(
                f"{path}: expected at most {MAX_TOTAL >> 30} GiB of records, got more; "
                "'paprle info' and 'paprle recover' read any length"
            )
    note = reading.find_problem()
    layout = reading.layout
    return Episode(
        path=path,
        header=reading.header,
        config=reading.config,
        urdf=reading.urdf,
        layout=layout,
        ticks=_join(blocks[Stream.TICK], layout.tick),
        gate=_join(blocks[Stream.GATE], layout.status),
        events=tuple(events),
        manifest=reading.manifest,
        is_complete=not note,
        note=note,
    )


def _join(blocks: list[Rows], dtype: np.dtype[np.void]) -> Rows:
    whole = np.zeros(sum(map(len, blocks)), dtype)
    at = 0
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        whole[at : at + len(block)] = block
        at += len(block)
    whole.setflags(write=False)
    return whole


def _present(stamps: npt.NDArray[np.int64], values: Vec) -> _Stamped:
    present = ~np.isnan(values).all(axis=1)
    return stamps[present], values[present]
