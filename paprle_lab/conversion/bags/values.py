"""Fields of a message of any decoder: ROS, JSON, Protobuf."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Path = tuple[str, ...]

MOST_NUMBERS = 256  # chosen: of a field; longer arrays are scans and images
_LABELS = ("name", "names", "joint_names")  # spec: sensor_msgs, trajectory_msgs
_STAMPS: tuple[Path, ...] = (
    ("header", "stamp"),  # spec: std_msgs/Header
    ("timestamp",),  # spec: Foxglove's schemas
    ("stamp",),
)
_SECONDS = ("sec", "seconds")
_NANOSECONDS = ("nanosec", "nsec", "nanos")
_TIME = {*_SECONDS, *_NANOSECONDS}


def list_fields(message: Any) -> list[tuple[str, Any]]:
    """Return names and values of a message's fields; none of a plain value."""
    if isinstance(message, Mapping):
        return [(str(name), value) for name, value in message.items()]
    if dataclasses.is_dataclass(message):
        names = [field.name for field in dataclasses.fields(message)]
    elif hasattr(message, "DESCRIPTOR"):
        names = [field.name for field in message.DESCRIPTOR.fields]
    else:
        names = list(getattr(message, "__slots__", ()) or vars_of(message))
    return [
        (name, getattr(message, name)) for name in names if not name.startswith("__")
    ]


def vars_of(message: Any) -> Mapping[str, Any]:
    """Return the attributes of a message without a description."""
    is_plain = message is None or isinstance(
        message, bool | int | float | str | bytes | np.generic | np.ndarray | Sequence
    )
    return {} if is_plain else getattr(message, "__dict__", {})


def find(message: Any, path: Path) -> Any:
    """Return a field; None if it is not there."""
    for name in path:
        if isinstance(message, Mapping):
            message = message.get(name)
        elif name.isdecimal() and hasattr(message, "__len__"):
            message = message[int(name)] if int(name) < len(message) else None
        else:
            message = getattr(message, name, None)
        if message is None:
            return None
    return message


def list_numbers(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the numbers of a field with their paths, times and headers left out."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        yield path, value
    elif isinstance(value, str | bytes | memoryview) or value is None:
        return
    elif isinstance(value, np.ndarray) or (
        hasattr(value, "__len__") and not isinstance(value, Mapping)
    ):
        if len(value) <= MOST_NUMBERS:
            for k, one in enumerate(value):
                yield from list_numbers(one, (*path, str(k)))
    else:
        fields = list_fields(value)
        if {name for name, _ in fields} <= _TIME:
            return
        for name, one in fields:
            if name != "header" and (name,) not in _STAMPS:
                yield from list_numbers(one, (*path, name))


def find_labels(message: Any, n: int) -> list[str]:
    """Return n names of joints that a message gives beside its numbers, or none."""
    for name in _LABELS:
        labels = find(message, (name,))
        is_list = hasattr(labels, "__len__") and not isinstance(labels, str | bytes)
        if is_list and len(labels) == n and all(isinstance(x, str) for x in labels):
            return list(labels)
    return []


def find_stamp(message: Any) -> int | None:
    """Return the sender's stamp, [ns]; None without one."""
    for path in _STAMPS:
        stamp = find(message, path)
        seconds = next(
            (s for s in (find(stamp, (k,)) for k in _SECONDS) if s is not None), None
        )
        if stamp is None or not isinstance(seconds, int | np.integer):
            continue
        rest = next(
            (n for n in (find(stamp, (k,)) for k in _NANOSECONDS) if n is not None), 0
        )
        if seconds or rest:
            return int(seconds) * 1_000_000_000 + int(rest)
    return None
