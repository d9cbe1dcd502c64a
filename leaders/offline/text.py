"""Reads motion from text: CSV with named columns, and TUM trajectories.

Every line stands for itself, so that garbage in one costs that line and no other.

References:
    ARBot log CSV: requirements A23. TUM: ``t tx ty tz qx qy qz qw``, '#' comments.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leaders.offline.columns import TUM, Columns, find_columns
from leaders.offline.config import OfflineConfig
from leaders.offline.track import Rows
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Vec

_LARGEST_FILE = 128 * 2**20  # [bytes] chosen: 3.5 h of ARBot rows at 30 Hz


@dataclass(frozen=True, slots=True)
class Limb:
    """One limb as read from a file, nothing checked yet.

    Attributes:
        rows: Its rows.
        counts: Lines that could not be read, by kind.
        n_lines: Lines of data in the file.
        is_absolute: Poses are meant in the follower's base as they are.
        robot: The robot whose joints these drove; empty where nobody knows.
    """

    rows: Rows
    counts: Counter[str]
    n_lines: int
    is_absolute: bool = False
    robot: str = ""


def read_text(path: Path, names: tuple[str, ...], config: OfflineConfig) -> list[Limb]:
    """Read one limb for each name from a CSV or TUM file.

    Args:
        path: The file.
        names: Names of its limbs; more than one are prefixes of columns.
        config: The leader's config.

    Returns:
        One limb a name, in their order.

    Raises:
        ConfigError: If the columns are not there.
        DeviceError: If the file cannot be read.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DeviceError(
                f"{path}: expected at most {_LARGEST_FILE >> 20} MiB, got "
                f"{path.stat().st_size >> 20} MiB; cut it into parts"
            )
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as err:
        raise DeviceError(f"{path}: expected a readable file, got {err}") from err
    is_cut = not text.endswith("\n")
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    if not lines:
        raise DeviceError(f"{path}: expected rows of motion, got an empty file")
    first = lines[0].split()
    header: tuple[str, ...]
    separator: str | None
    if len(first) == len(TUM) and all(_is_number(word) for word in first):
        header, separator = TUM, None
    else:
        header, separator = _header(path, lines.pop(0)), ","
    table = _Table(header, separator, lines, is_cut)
    prefixes = [""] if len(names) == 1 and not config.limbs else list(names)
    return [
        table.limb(find_columns(path, header, prefix, config), config.dt)
        for prefix in prefixes
    ]


def _header(path: Path, line: str) -> tuple[str, ...]:
    header = tuple(name.strip().strip('"') for name in line.split(","))
    if any(_is_number(name) for name in header) or len(header) < 2:
        raise ConfigError(
            f"{path}: expected a header line that names the columns (or 8 numbers a "
            f"line, a TUM trajectory), got '{line.strip()[:60]}'; add the header"
        )
    twice = sorted(name for name, n in Counter(header).items() if n > 1 and name)
    if twice:
        raise ConfigError(f"{path}: expected each column once, got {twice} twice")
    return header


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class _Table:
    """Lines of numbers under a header."""

    def __init__(
        self,
        header: tuple[str, ...],
        separator: str | None,
        lines: list[str],
        is_cut: bool,
    ) -> None:
        self._header = header
        self._separator = separator
        self._lines = lines
        self._is_cut = is_cut

    def limb(self, columns: Columns, dt: float | None) -> Limb:
        """Return the rows of one limb; lines that cannot be read are counted."""
        counts: Counter[str] = Counter()
        used = columns.used()
        values, kept = [], []
        for i, line in enumerate(self._lines):
            row = self._parse(self._words(line), used)
            is_last = i == len(self._lines) - 1
            if is_last and self._is_cut and (row is None or self._looks_cut(used)):
                counts["truncated last lines dropped"] += 1
            elif row is None:
                counts["lines that are not numbers dropped"] += 1
            else:
                values.append(row)
                kept.append(i)
        table = np.array(values, dtype=np.float64).reshape(len(values), len(used))
        column = dict(zip(used, table.T, strict=True))
        t = (
            np.array(kept) * (dt or 0.0)
            if columns.stamp is None
            else column[columns.stamp]
        )
        rows = _rows(columns, column, t)
        return Limb(rows, counts, len(self._lines), columns.is_absolute)

    def _words(self, line: str) -> list[str]:
        return line.strip().split(self._separator)

    def _parse(self, words: list[str], used: tuple[int, ...]) -> list[float] | None:
        if len(words) != len(self._header):
            return None
        try:
            return [float(words[i]) for i in used]
        except ValueError:
            return None

    def _looks_cut(self, used: tuple[int, ...]) -> bool:
        """Whether the very last number, if it is used, is shorter than all before."""
        # A complete file may lack the final line end; a number cut in its middle is
        # still a number, only shorter.
        n = len(self._header)
        rows = [words for words in map(self._words, self._lines) if len(words) == n]
        lengths = [len(words[-1]) for words in rows]
        return n - 1 in used and lengths[-1] < min(lengths[:-1], default=0)


def _rows(columns: Columns, column: dict[int, Vec], t: Vec) -> Rows:
    def stack(indices: tuple[int, ...]) -> Vec | None:
        return np.column_stack([column[i] for i in indices]) if indices else None

    return Rows(
        t=t,
        p=stack(columns.pose[:3]),
        quat_xyzw=stack(columns.pose[3:]),
        q=stack(columns.joints),
        joint_names=columns.joint_names,
        opening=None if columns.opening is None else column[columns.opening],
    )
