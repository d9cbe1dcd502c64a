"""Conversions of episodes to formats of ARBot and AdaptiX.

ARBot's log: cake-lab/AR-PiPER, piper_research_logger_node.py. Stamps are wall time [s];
poses are in the limb's base, [m] and ``quat_xyzw``.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import SessionState, Vec
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.recording.others.adaptix import (
    CLOSED,
    N_FINGERS,
    NOBODY,
    Actor,
    AdaptixFrame,
    AdaptixRecording,
)
from paprle.recording.reader import Episode

_ADAPTIX_JOINTS = 7  # spec: Storage.cpp, 8 poses with the gripper's
_POSITION = ("pos_x", "pos_y", "pos_z")
_QUAT_XYZW = ("orient_x", "orient_y", "orient_z", "orient_w")
ARBOT_COLUMNS = (
    "capture_timestamp",
    *(f"target_{name}" for name in _POSITION + _QUAT_XYZW),
    *(f"kinematic_{name}" for name in _POSITION + _QUAT_XYZW),
    "ik_solver_delay_ms",
    "e2e_latency_at_control_ms",
    "e2e_latency_at_eval_ms",
    "sync_delta_ms",
)


def is_arbot_csv(path: Path) -> bool:
    """Return whether a file is an ARBot log."""
    if path.suffix != ".csv":
        return False
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return set(ARBOT_COLUMNS) <= set(next(csv.reader(file), ()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return False


def read_arbot_csv(path: Path) -> Vec:
    """Return an ARBot log, shape (N, 19), columns as ``ARBOT_COLUMNS``.

    Raises:
        RecordingError: If a column is missing or a value is no number.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = set(ARBOT_COLUMNS) - set(rows.fieldnames or ())
            if missing:
                names = ", ".join(sorted(missing))
                raise RecordingError(f"{path}: expected ARBot's columns, no {names}")
            table = [_parse_row(path, rows.line_num, row) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as err:
        raise RecordingError(f"{path}: expected an ARBot CSV, got {err}") from err
    return np.array(table, dtype=np.float64).reshape(-1, len(ARBOT_COLUMNS))


def write_arbot_csv(path: Path, table: npt.ArrayLike) -> None:
    """Write an ARBot log, shape (N, 19).

    Raises:
        RecordingError: If the file exists or cannot be written.
    """
    rows = np.asarray(table, dtype=np.float64).tolist()
    lines = [",".join(ARBOT_COLUMNS), *(",".join(map(repr, row)) for row in rows)]
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as err:
        raise RecordingError(f"{path}: expected a new file, got {err}") from err


def make_arbot_table(episode: Episode, limb: str, poses: Vec) -> Vec:
    """Return an episode as an ARBot log, shape (M, 19).

    ``poses`` are T_base_eef per gate record, shape (N, 7).

    Raises:
        RecordingError: If the limb has no target poses, or nothing was measured.
    """
    if limb not in episode.layout.limbs:
        names = ", ".join(episode.layout.limbs)
        raise RecordingError(f"{episode.path}: no limb '{limb}'; there are {names}")
    row = episode.layout.limbs.index(limb)
    ticks = episode.ticks[episode.is_new_sample]
    is_on = ticks["state"] == SessionState.ENGAGED
    ticks = ticks[is_on & np.isfinite(ticks["target"][:, row]).all(axis=1)]
    measured = np.isfinite(poses).all(axis=1) & (episode.gate["meas_ns"] > 0)
    if not len(ticks) or not measured.any():
        raise RecordingError(f"{episode.path}: no target poses of limb '{limb}'")
    gate, poses = episode.gate[measured], poses[measured]
    capture_ns = ticks["sample"]["stamp_ns"]
    nearest = find_nearest(gate["meas_ns"], capture_ns)
    met_ns = np.maximum(ticks["posted_ns"], gate["stamp_ns"][nearest])
    columns = (
        (capture_ns + episode.wall_offset_ns) / 1e9,
        ticks["target"][:, row],
        poses[nearest],
        ticks["compute_ns"] / 1e6,
        (ticks["posted_ns"] - capture_ns) / 1e6,
        (met_ns - capture_ns) / 1e6,
        (gate["meas_ns"][nearest] - capture_ns) / 1e6,
    )
    return np.column_stack(columns).astype(np.float64)


def make_adaptix(
    episode: Episode, limb: str, version: int, work: Work = UNSEEN
) -> AdaptixRecording:
    """Return an AdaptiX recording, poses in the robot's world.

    Raises:
        RecordingError: If nothing was measured, or not seven joints for versions 1, 2.
    """
    robot = episode.robot_info
    info = next((one for one in robot.limbs if one.name == limb), None)
    if info is None or (version > 0 and len(info.joint_names) != _ADAPTIX_JOINTS):
        raise RecordingError(
            f"{episode.path}: expected a limb of {_ADAPTIX_JOINTS} joints for AdaptiX "
            f"{version}, got '{limb}'; version 0 has the gripper alone"
        )
    is_new = np.diff(episode.gate["meas_ns"], prepend=0) > 0
    rows = episode.gate[is_new & np.isfinite(episode.gate["q_meas"]).all(axis=1)]
    if not len(rows):
        raise RecordingError(f"{episode.path}: expected measurements, got none")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(episode.urdf, encoding="utf-8")
        links = LinkPoses(replace(robot, urdf_path=path))
    places = (*info.joint_names, info.eef_link) if version else (info.eef_link,)
    begin_ns = int(rows["meas_ns"][0])
    frames = []
    found = zip(rows, _find_objects(episode, rows), strict=True)
    for k, (row, objects) in enumerate(found):
        work.count(k, len(rows), "frames")
        links.update(row["q_meas"])
        opening = 1.0
        if info.gripper is not None:
            at = robot.joint_names.index(info.gripper.joint)
            opening = info.gripper.measure(float(row["q_meas"][at]))
        fingers = np.zeros(N_FINGERS[version])
        fingers[::2] = (1.0 - min(max(opening, 0.0), 1.0)) * CLOSED
        frames.append(
            AdaptixFrame(
                (int(row["meas_ns"]) - begin_ns) * 1e-9,
                np.array([pin.SE3ToXYZQUAT(links.place(name)) for name in places]),
                fingers,
                NOBODY,
                {k: x for k, x in enumerate(objects) if np.isfinite(x).all()},
            )
        )
    names = (*episode.layout.objects, *episode.layout.placed)
    actors = tuple(Actor(k, name) for k, name in enumerate(names))
    return AdaptixRecording(version, actors, tuple(frames), Counter())


def _find_objects(episode: Episode, rows: npt.NDArray[np.void]) -> Vec:
    # Those of the env come first, then those that the operator had placed by then.
    ticks = episode.ticks
    last = np.searchsorted(ticks["stamp_ns"], rows["meas_ns"], side="right") - 1
    placed = np.full((len(rows), len(episode.layout.placed), 7), np.nan)
    placed[last >= 0] = ticks["placed"][last[last >= 0]]
    return np.concatenate([rows["objects"], placed], axis=1)


def find_nearest(
    stamps: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """Return indices of the closest of sorted stamps."""
    right = np.clip(np.searchsorted(stamps, at), 1, max(len(stamps) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(stamps) - 1)
    is_left = at - stamps[left] <= stamps[right] - at
    return np.where(is_left, left, right)


def _parse_row(path: Path, line: int, row: dict[str, str | None]) -> list[float]:
    try:
        return [float(row[name] or "") for name in ARBOT_COLUMNS]
    except ValueError as err:
        raise RecordingError(f"{path}, line {line}: expected numbers, {err}") from err
