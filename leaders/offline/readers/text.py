"""Reader of CSV, and of trajectories without a header.

References:
    ARBot log CSV: requirements A23. TUM: ``t tx ty tz qx qy qz qw``, '#' comments.
    EuRoC: ``#timestamp, p_RS_R_x [m], … q_RS_w [], …``, stamps in [ns].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.recorded.quantities import doubt_angles, doubt_lengths
from paprle.contracts.types import Vec
from paprle.leaders.offline.columns import Columns, find_columns
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.readers.decode import read_whole
from paprle.leaders.offline.tables import Table, find_table
from paprle.leaders.offline.track import Rows
from paprle.leaders.offline.units import compute_quat_xyzw
from paprle.recording.others.adaptix import AdaptixFrame


@dataclass(frozen=True, slots=True)
class Limb:
    """One limb of a file, unchecked.

    Attributes:
        counts: Unreadable lines by kind.
        is_absolute: Poses are in the follower's base.
        has_pauses: Gaps are intended.
        axis_speeds: At full deflection.
    """

    rows: Rows
    counts: Counter[str]
    n_lines: int
    is_absolute: bool = False
    robot: str = ""
    has_orientation: bool = True
    has_pauses: bool = False
    told: str = ""
    axis_speeds: AxisSpeeds = AxisSpeeds()
    frames: tuple[AdaptixFrame, ...] = ()
    doubts: tuple[str, ...] = ()
    is_assumed: bool = False


def read_text(path: Path, names: tuple[str, ...], config: OfflineConfig) -> list[Limb]:
    """Return a limb for each name, its columns' prefix.

    Raises:
        ConfigError: If columns are missing.
        DeviceError: If it is empty.
    """
    text, encoding = read_whole(path)
    table = find_table(path, text, config.columns)
    if table is None:
        raise DeviceError(f"{path}: expected rows of motion, got an empty file")
    is_cut = not text.endswith("\n")
    prefixes = [""] if len(names) == 1 and not config.limbs else list(names)
    return [
        _read_limb(
            path,
            replace(table, told=", ".join(filter(None, (encoding, table.told)))),
            find_columns(path, table.header, prefix, config),
            config,
            is_cut,
        )
        for prefix in prefixes
    ]


def _read_limb(
    path: Path, table: Table, columns: Columns, config: OfflineConfig, is_cut: bool
) -> Limb:
    counts: Counter[str] = Counter()
    used = columns.used()
    values, kept = [], []
    for i, line in enumerate(table.lines):
        row = table.read(table.split(line), used)
        is_last = i == len(table.lines) - 1
        if is_last and is_cut and (row is None or _looks_cut(table, used)):
            counts["truncated last lines dropped"] += 1
        elif row is None:
            counts["lines that are not numbers dropped"] += 1
        else:
            values.append(row)
            kept.append(i)
    numbers = np.array(values, dtype=np.float64).reshape(len(values), len(used))
    column = {
        i: values * columns.scale.get(i, 1.0)
        for i, values in zip(used, numbers.T, strict=True)
    }
    t = (
        np.array(kept) * (config.dt or 0.0)
        if columns.stamp is None
        else column[columns.stamp]
    )
    rows = _make_rows(columns, column, t, config.columns.euler_order or "")
    return Limb(
        rows,
        counts,
        len(table.lines),
        columns.is_absolute,
        has_orientation=bool(columns.joints or columns.quat_xyzw or columns.euler),
        told=", ".join(filter(None, (table.told, columns.told))),
        doubts=tuple(filter(None, _list_doubts(path, table, columns, column))),
        is_assumed="joints" in columns.assumed,
    )


def _list_doubts(
    path: Path, table: Table, columns: Columns, column: dict[int, Vec]
) -> Iterator[str]:
    for role, indices in (("euler", columns.euler), ("position", columns.position)):
        if role not in columns.assumed or not indices:
            continue
        names = [table.header[i] for i in indices]
        values = np.column_stack([column[i] for i in indices])
        if role == "euler":
            yield doubt_angles(path, names, values)
        else:
            yield doubt_lengths(names, values)


def _looks_cut(table: Table, used: tuple[int, ...]) -> bool:
    # A complete file may lack the final line end; a number cut in its middle is
    # still a number, only shorter.
    n = len(table.header)
    rows = [words for words in map(table.split, table.lines) if len(words) == n]
    lengths = [len(words[-1]) for words in rows]
    return n - 1 in used and lengths[-1] < min(lengths[:-1], default=0)


def _make_rows(columns: Columns, column: dict[int, Vec], t: Vec, order: str) -> Rows:
    def stack(indices: tuple[int, ...]) -> Vec | None:
        return np.column_stack([column[i] for i in indices]) if indices else None

    quat_xyzw = stack(columns.quat_xyzw)
    if columns.euler:
        angles = np.column_stack([column[i] for i in columns.euler])
        quat_xyzw = compute_quat_xyzw(angles, order)
    elif columns.position and quat_xyzw is None:
        quat_xyzw = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    return Rows(
        t=t,
        p=stack(columns.position),
        quat_xyzw=quat_xyzw,
        q=stack(columns.joints),
        joint_names=columns.joint_names,
        opening=None if columns.opening is None else column[columns.opening],
    )
