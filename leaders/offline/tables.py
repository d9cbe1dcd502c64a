"""Text as a table of independent lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paprle.contracts.errors import ConfigError
from paprle.leaders.offline.columns import TUM, TUM_WXYZ, shown
from paprle.leaders.offline.config import ColumnSettings, Delimiter
from paprle.leaders.offline.readers.echo import read_echo
from paprle.leaders.offline.titles import find_header, is_units

_NAMED: Mapping[Delimiter, str | None] = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar": "|",
    "space": None,
}
_FOUND = ("\t", ";", "|", ",")
_N_TITLES = 50  # chosen: more than an instrument writes above its table
_N_LOOKED_AT = 6  # chosen: garbage in a few of the first lines does not matter
_GROUPS = re.compile(r"[^;,]+;[^;,]+,[^;,]+,[^;,]+;[^;,]+,[^;,]+,[^;,]+,[^;,]+")
"""``t;x,y,z;w,x,y,z``, as published paths of end-effectors are written."""


@dataclass(frozen=True, slots=True)
class Table:
    """Lines under a header.

    Attributes:
        separator: None: white space.
        has_groups: As in ``t;x,y,z;w,x,y,z``.
    """

    header: tuple[str, ...]
    lines: list[str]
    separator: str | None
    has_groups: bool = False
    told: str = ""

    def split(self, line: str) -> list[str]:
        """Return the words of a line."""
        if self.has_groups:
            return line.strip().replace(";", ",").split(",")
        return split(line, self.separator)

    def read(self, words: Sequence[str], used: Sequence[int]) -> list[float] | None:
        """Return the numbers of some columns, or None."""
        if len(words) != len(self.header):
            return None
        try:
            return [self._read_number(words[i]) for i in used]
        except ValueError:
            return None

    def _read_number(self, word: str) -> float:
        try:
            return float(word)
        except ValueError:
            if self.separator == "," or self.has_groups:
                raise
            return float(word.replace(",", "."))  # a decimal comma


def find_table(path: Path, text: str, config: ColumnSettings) -> Table | None:
    """Return the table of a text, or None.

    Raises:
        ConfigError: If the columns are unknown.
    """
    lines, comments = _list_lines(text)
    if not lines:
        return None
    return (
        _read_printed(path, lines, config)
        or _read_titled(path, lines, config)
        or _read_plain(path, lines, comments, config)
    )


def _list_lines(text: str) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    comments: list[str] = []
    for line in text.split("\n"):
        if line.strip() and line.lstrip()[0] != "#":
            lines.append(line)
        elif line.strip() and not lines:
            comments.append(line)
    return lines, comments


def _read_printed(path: Path, lines: list[str], config: ColumnSettings) -> Table | None:
    if config == ColumnSettings() and (echo := read_echo(path, lines)) is not None:
        return Table(echo.header, echo.lines, ",", told=echo.told)
    if config.delimiter == "auto" and _GROUPS.fullmatch(lines[0].strip()):
        words = lines[0].strip().replace(";", ",").split(",")
        if all(map(_is_number, words)):
            told = "lines of t;x,y,z;w,x,y,z"
            return Table(TUM_WXYZ, lines, ";", has_groups=True, told=told)
    return None


def _read_plain(
    path: Path, lines: list[str], comments: Sequence[str], config: ColumnSettings
) -> Table:
    first = _find_separator(lines, config.delimiter)
    if config.names:
        return Table(config.names, lines, first, told=_tell(first))
    words = split(lines[0], first)
    if all(map(_is_number, words)):
        header = (
            TUM if len(words) == len(TUM) else _read_comment(comments, words, first)
        )
        if header is not None:
            return Table(header, lines, first, told=_tell(first))
    return Table(_read_header(path, words), lines[1:], first, told=_tell(first))


def _read_titled(
    path: Path, lines: Sequence[str], config: ColumnSettings
) -> Table | None:
    # Titles may stand above the header, and a line of units below it.
    if config.names:
        return None
    given = config.delimiter
    for separator in (*_FOUND, None) if given == "auto" else (_NAMED[given],):
        rows = [split(line, separator) for line in lines[:_N_TITLES]]
        found = find_header(rows)
        if found is None:
            continue
        at, data = found
        if at == 0 and data == 1:
            return None  # nothing but a header
        header, told = rows[at], [_tell(separator)]
        units = rows[at + 1]
        if at + 1 < data and is_units(units):
            header = [
                f"{name} [{unit.strip('[]() ')}]" if unit else name
                for name, unit in zip(header, units, strict=False)
            ]
            told.append("units from the line below the header")
        if at:
            told.append(f"{at} title line(s) above the header left out")
        names = _read_header(path, header)
        said = ", ".join(filter(None, told))
        return Table(names, list(lines[data:]), separator, told=said)
    return None


def split(line: str, separator: str | None) -> list[str]:
    """Return the words, unquoted and stripped."""
    if '"' in line and separator is not None:
        try:
            rows = csv.reader(
                [line.strip()], delimiter=separator, skipinitialspace=True
            )
            return [word.strip() for word in next(rows, [])]
        except csv.Error:
            return []
    return [word.strip().strip('"') for word in line.strip().split(separator)]


def _find_separator(lines: Sequence[str], delimiter: Delimiter) -> str | None:
    if delimiter != "auto":
        return _NAMED[delimiter]
    head, *rows = lines[:_N_LOOKED_AT]
    counts = {separator: len(split(head, separator)) for separator in _FOUND}
    alike = {
        separator: n
        for separator, n in counts.items()
        if n > 1 and (not rows or any(len(split(row, separator)) == n for row in rows))
    }
    if alike:
        return max(alike, key=lambda separator: alike[separator])
    is_comma = counts[","] > 1 or len(split(head, None)) == 1
    return "," if is_comma else None


def _read_comment(
    comments: Sequence[str], words: Sequence[str], separator: str | None
) -> tuple[str, ...] | None:
    if not comments or separator is None:
        return None
    names = split(comments[-1].lstrip().lstrip("#"), separator)
    is_header = len(names) == len(words) and not any(map(_is_number, names))
    return tuple(names) if is_header else None


def _read_header(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    if any(map(_is_number, names)) or len(names) < 2:
        raise ConfigError(
            f"{path}: expected a header line that names the columns (or 8 numbers a "
            f"line, a TUM trajectory), got {shown(tuple(names), 60)}; add the header, "
            "name the columns with leader.columns.names, or say what stands between "
            "them with leader.columns.delimiter"
        )
    twice = sorted(name for name, n in Counter(names).items() if n > 1 and name)
    if twice:
        raise ConfigError(f"{path}: expected each column once, got {twice} twice")
    return tuple(names)


def _tell(separator: str | None) -> str:
    names = {";": "semicolons", "\t": "tabs", "|": "bars"}
    return f"columns between {names[separator]}" if separator in names else ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
