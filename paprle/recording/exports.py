"""Conversions from episodes; they can be made again and are never the only copy.

ARBot's log, 19 columns: cake-lab/AR-PiPER, piper_research_logger_node.py. Its stamps
are wall time in [s], its poses are in the limb's base, positions in [m], orientations
are ``quat_xyzw``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import SessionState, Vec
from paprle.recording.reader import Episode

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


def read_arbot_csv(path: Path) -> Vec:
    """Return an ARBot log, shape (N, 19), columns as ``ARBOT_COLUMNS``.

    Raises:
        RecordingError: If a column is missing or a value is not a number.
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
    """Write rows as ARBot's logger does: the shortest text of each float64.

    Args:
        path: A new file.
        table: Shape (N, 19), columns as ``ARBOT_COLUMNS``.

    Raises:
        RecordingError: If the file exists, or cannot be written.
    """
    rows = np.asarray(table, dtype=np.float64).tolist()
    lines = [",".join(ARBOT_COLUMNS), *(",".join(map(repr, row)) for row in rows)]
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as err:
        raise RecordingError(f"{path}: expected a new file, got {err}") from err


def make_arbot_table(episode: Episode, limb: str, poses: Vec) -> Vec:
    """Return an episode as ARBot's evaluator would have logged it.

    One row a leader sample while ENGAGED, beside the measured pose whose stamp is
    closest to the sample's capture time. The IK delay is that of the whole tick.

    Args:
        episode: The episode.
        limb: Limb of the robot.
        poses: T_base_eef of the limb at ``q_meas`` of each gate record, shape (N, 7),
            xyz and quat_xyzw.

    Returns:
        Shape (M, 19), columns as ``ARBOT_COLUMNS``.

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


def find_nearest(
    stamps: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """Return the index of the closest stamp for each time; stamps never decrease."""
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
