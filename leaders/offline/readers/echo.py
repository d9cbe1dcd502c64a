"""Output of ``ros2 topic echo --csv`` and ``rostopic echo -p`` as a table.

ROS 2 prints ``sec, nanosec, frame_id`` without a header; ROS 1 names fields, stamps in
ns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from paprle.contracts.errors import ConfigError
from paprle.leaders.offline.columns import TUM
from paprle.leaders.offline.titles import is_number

_ROS1 = "%time"
_STAMP, _FRAME = "field.header.stamp", "field.header.frame_id"
_POSE = tuple(
    f"field.pose.{part}.{axis}"
    for part, axes in (("position", "xyz"), ("orientation", "xyzw"))
    for axis in axes
)
_INT = re.compile(r"\d+")
_N_POSE = 7


class Echo(NamedTuple):
    """Messages as a table with commas; stamps in [s]."""

    header: tuple[str, ...]
    lines: list[str]
    told: str


def read_echo(path: object, lines: Sequence[str]) -> Echo | None:
    """Return poses or joints by header stamps, or None.

    Raises:
        ConfigError: For several frames, or another type.
    """
    if lines[0].lstrip().startswith(_ROS1):
        return _read_ros1(path, lines)
    first = _split(lines[0])
    is_stamped = len(first) > 3 and all(map(_INT.fullmatch, first[:2]))
    return _read_ros2(path, lines, first) if is_stamped else None


def _read_ros2(path: object, lines: Sequence[str], first: Sequence[str]) -> Echo | None:
    n = sum(not is_number(word) for word in first[3:])
    numbers = first[3 + n :]
    if is_number(first[2]) or not all(map(is_number, numbers)):
        return None
    what = "ros2 topic echo --csv"
    if n <= 1 and len(numbers) == _N_POSE:  # a transform names its child's frame
        return _tell(path, what, TUM, [_pose(line, 3 + n) for line in lines], lines)
    if n and len(numbers) in {n, 2 * n, 3 * n}:
        names = first[3 : 3 + n]
        header = ("t", *(f"{name} [rad]" for name in names))
        rows = [_joints(line, names) for line in lines]
        return _tell(path, what, header, rows, lines)
    return None


def _read_ros1(path: object, lines: Sequence[str]) -> Echo:
    names = _split(lines[0])
    rows = [_split(line) for line in lines[1:]]
    stamp = names.index(_STAMP) if _STAMP in names else 0
    if all(row[stamp : stamp + 1] == ["0"] for row in rows):
        stamp = 0
    of_names = [
        i for i, name in enumerate(names) if re.fullmatch(r"field\.name\d+", name)
    ]
    header: tuple[str, ...]
    if set(_POSE) <= set(names):
        header, used = TUM, [names.index(name) for name in _POSE]
    elif of_names and rows:
        used = [
            names.index(f"field.position{names[i].removeprefix('field.name')}")
            for i in of_names
        ]
        header = ("t", *(f"{rows[0][i]} [rad]" for i in of_names))
    else:
        raise ConfigError(
            f"{path}: expected PoseStamped or JointState of rostopic echo -p, got "
            f"{', '.join(names)[:200]}; print one of these topics, or name the columns "
            "(leader.columns) and leader.units.time=ns"
        )
    frame = names.index(_FRAME) if _FRAME in names else None
    said = [
        None
        if len(row) != len(names) or not _INT.fullmatch(row[stamp])
        else (
            row[frame] if frame is not None else "",
            ",".join([_seconds(int(row[stamp])), *(row[i] for i in used)]),
        )
        for row in rows
    ]
    return _tell(path, "rostopic echo -p", header, said, lines[1:])


def _pose(line: str, begin: int) -> tuple[str, str] | None:
    words = _split(line)
    if len(words) != begin + _N_POSE or not all(map(_INT.fullmatch, words[:2])):
        return None
    return "/".join(words[2:begin]), ",".join([_stamp(words), *words[begin:]])


def _joints(line: str, names: Sequence[str]) -> tuple[str, str] | None:
    words = _split(line)
    n = len(names)
    if words[3 : 3 + n] != list(names) or not all(map(_INT.fullmatch, words[:2])):
        return None
    return "", ",".join([_stamp(words), *words[3 + n : 3 + 2 * n]])


def _tell(
    path: object,
    what: str,
    header: tuple[str, ...],
    rows: Sequence[tuple[str, str] | None],
    lines: Sequence[str],
) -> Echo:
    frames = sorted({row[0] for row in rows if row is not None and row[0]})
    if len(frames) > 1:
        raise ConfigError(
            f"{path}: expected poses in one frame, got {', '.join(frames)}; record "
            "each into a file of its own"
        )
    texts = [
        line if row is None else row[1] for row, line in zip(rows, lines, strict=True)
    ]
    of = f" in frame '{frames[0]}'" if frames else ""
    return Echo(header, texts, f"printed by {what}{of}")


def _stamp(words: Sequence[str]) -> str:
    return _seconds(int(words[0]) * 10**9 + int(words[1]))


def _seconds(stamp_ns: int) -> str:
    return f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d}"


def _split(line: str) -> list[str]:
    return [word.strip() for word in line.strip().split(",")]
