"""The mapping of topics or arrays to columns and cameras, a YAML file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError

Clock = Literal["header", "reception"]
_OF_TOPICS = {"clock", "max_gap"}

_FASTEST = 1000  # [Hz] chosen: no robot is quicker
_LONGEST_SIDE = 8192  # [px] chosen: no camera of a robot has more
_MAX_GAP = 1.0  # [s] chosen: a pause; a camera that restarts takes longer


@dataclass(frozen=True)
class Part:
    """Numbers of one field of a topic, or of an array, within a column.

    Attributes:
        source: Topic, or path of the array.
        field: Path of the field in a topic's messages.
        names: Joints to choose where messages name them, else names of the numbers.
        scale: Factor of the numbers, as 57.29578 from rad to degrees.
    """

    source: str
    field: tuple[str, ...]
    names: tuple[str, ...]
    unit: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class MappedColumn:
    """A column of the data set.

    Attributes:
        is_held: Its value is that of the last message; else it is interpolated.
        next_of: Column whose next row it is; empty: it has parts.
    """

    name: str
    parts: tuple[Part, ...] = ()
    is_held: bool = False
    next_of: str = ""


@dataclass(frozen=True)
class MappedCamera:
    """A camera of the data set; ``size``: height and width, [px]."""

    name: str
    source: str
    size: tuple[int, int]


@dataclass(frozen=True)
class SetMapping:
    """The mapping of files to a data set.

    Attributes:
        fps: Rows, [Hz].
        clock: ``header``: stamps of the senders; ``reception``: those of the recorder.
        task: Of all files; ``tasks``: of single ones, by name.
        max_gap: Longest silence of a topic within an episode, [s].
    """

    fps: int
    columns: tuple[MappedColumn, ...]
    cameras: tuple[MappedCamera, ...] = ()
    robot_type: str = ""
    clock: Clock = "header"
    task: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)
    max_gap: float = _MAX_GAP

    @property
    def sources(self) -> list[str]:
        """Topics or arrays that are read."""
        parts = [part.source for column in self.columns for part in column.parts]
        return list(dict.fromkeys([*parts, *[one.source for one in self.cameras]]))


def read_mapping(path: Path, *, is_table: bool = False) -> SetMapping:
    """Read a mapping of topics, or of a table's arrays.

    Returns:
        The mapping.

    Raises:
        ConfigError: With the key of what is wrong.
    """
    problems = list[str]()
    values = read_yaml(path, str(path), problems)
    if problems or values is None:
        raise ConfigError(
            "; ".join(problems) or f"{path}: expected a mapping, got none"
        )
    reader = _Reader(path, values, is_table=is_table)
    known = {"fps", "robot_type", "task", "tasks", "columns", "cameras"}
    reader.refuse_others("", values, known | (set() if is_table else _OF_TOPICS))
    columns = reader.take("columns", dict, {})
    cameras = reader.take("cameras", dict, {})
    tasks = reader.take("tasks", dict, {})
    if not columns:
        raise reader.error("columns", "at least one column", "none")
    mapping = SetMapping(
        fps=int(reader.take_number("fps", 1, _FASTEST, None)),
        columns=tuple(reader.read_column(str(k), v) for k, v in columns.items()),
        cameras=tuple(reader.read_camera(str(k), v) for k, v in cameras.items()),
        robot_type=str(reader.take("robot_type", str, "")),
        clock="reception" if reader.take_clock() else "header",
        task=str(reader.take("task", str, "")),
        tasks={str(name): str(text) for name, text in tasks.items()},
        max_gap=reader.take_number("max_gap", 0.05, 60.0, _MAX_GAP),
    )
    reader.check_next(mapping.columns)
    return mapping


class _Reader:
    def __init__(
        self, path: Path, values: Mapping[str, Any], *, is_table: bool
    ) -> None:
        self._path, self._values = path, values
        self._key = "array" if is_table else "topic"

    def error(self, key: str, expected: str, got: object) -> ConfigError:
        return ConfigError(
            f"{self._path}: {key}: expected {expected}, got {str(got)[:80]}"
        )

    def refuse_others(
        self, at: str, values: Mapping[Any, Any], known: set[str]
    ) -> None:
        others = [str(key) for key in values if key not in known]
        if others:
            key = f"{at}.{others[0]}" if at else others[0]
            raise self.error(key, f"one of {', '.join(sorted(known))}", others[0])

    def take(self, key: str, kind: type, default: Any) -> Any:
        value = self._values.get(key, default)
        value = default if value is None else value
        if not isinstance(value, kind):
            raise self.error(key, f"a {kind.__name__}", repr(value))
        return value

    def take_number(
        self, key: str, low: float, high: float, default: float | None
    ) -> float:
        return self._check_number(key, self._values.get(key, default), low, high)

    def take_clock(self) -> bool:
        clock = self.take("clock", str, "header")
        if clock not in {"header", "reception"}:
            raise self.error("clock", "header or reception", clock)
        return bool(clock == "reception")

    def read_column(self, name: str, value: Any) -> MappedColumn:
        at = f"columns.{name}"
        self._check_name(at, name)
        if isinstance(value, dict) and "next_of" in value:
            self.refuse_others(at, value, {"next_of"})
            return MappedColumn(name, next_of=str(value["next_of"]))
        parts = value if isinstance(value, list) else [value]
        if not parts:
            raise self.error(at, f"a {self._key}", "none")
        read = tuple(self._read_part(f"{at}[{k}]", one) for k, one in enumerate(parts))
        names = [label for part in read for label in part.names]
        twice = [label for label in names if names.count(label) > 1]
        if twice:
            raise self.error(at, "names that differ", f"'{twice[0]}' twice")
        return MappedColumn(name, read, is_held=not name.startswith("observation."))

    def read_camera(self, name: str, value: Any) -> MappedCamera:
        at = f"cameras.{name}"
        self._check_name(at, name)
        if not isinstance(value, dict):
            raise self.error(at, f"a {self._key} and a size", value)
        self.refuse_others(at, value, {self._key, "size"})
        size = value.get("size")
        if (
            not isinstance(size, list)
            or len(size) != 2
            or not all(isinstance(x, int) and 0 < x <= _LONGEST_SIDE for x in size)
        ):
            raise self.error(f"{at}.size", "[height, width] in pixels", size)
        return MappedCamera(
            name, self._take_text(at, value, self._key), (size[0], size[1])
        )

    def check_next(self, columns: Sequence[MappedColumn]) -> None:
        plain = {column.name for column in columns if column.parts}
        for column in columns:
            if column.next_of and column.next_of not in plain:
                raise self.error(
                    f"columns.{column.name}.next_of",
                    f"one of {', '.join(sorted(plain)) or 'none'}",
                    column.next_of,
                )

    def _read_part(self, at: str, value: Any) -> Part:
        if not isinstance(value, dict):
            raise self.error(at, f"a {self._key} and names", value)
        has_field = self._key == "topic"
        known = {self._key, "names", "unit", "scale"} | (
            {"field"} if has_field else set()
        )
        self.refuse_others(at, value, known)
        names = value.get("names")
        if not isinstance(names, list) or not names:
            raise self.error(f"{at}.names", "a list of names", names)
        for name in names:
            if not isinstance(name, str | int):
                raise self.error(f"{at}.names", "names", name)
        place = self._take_text(at, value, "field") if has_field else ""
        scale = value.get("scale", 1.0)
        return Part(
            self._take_text(at, value, self._key),
            tuple(filter(None, place.split("."))),
            tuple(str(name) for name in names),
            str(value.get("unit") or ""),
            self._check_number(f"{at}.scale", scale, -1e6, 1e6),
        )

    def _take_text(self, at: str, values: Mapping[str, Any], key: str) -> str:
        text = values.get(key)
        if not isinstance(text, str) or not text:
            raise self.error(f"{at}.{key}", "text", text)
        return text

    def _check_number(self, key: str, value: Any, low: float, high: float) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not low <= value <= high:
            raise self.error(key, f"a number of {low:g} … {high:g}", repr(value))
        return float(value)

    def _check_name(self, at: str, name: str) -> None:
        is_plain = all(c.isalnum() or c in "_.-" for c in name)
        if not is_plain or name.startswith(".") or ".." in name or "/" in name:
            raise self.error(at, "a name of letters, digits, '_', '.' and '-'", name)
