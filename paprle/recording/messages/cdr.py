"""CDR messages with constant strings and lengths, as NumPy records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rosbags.interfaces import Nodetype

from paprle.recording.messages.types import encode, load_typestore

_ENCAPSULATION = 4  # spec: OMG DDS-XTypes 1.3, 7.6.3.1.2: 4 bytes before the CDR body
_POSE = "geometry_msgs/msg/Pose"  # seven float64 without gaps: one leaf

_PRIMITIVES = {
    "bool": "?",
    "int8": "i1",
    "uint8": "u1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "float32": "<f4",
    "float64": "<f8",
}


@dataclass(frozen=True)
class FixedMessage:
    """Message type with constant strings and lengths."""

    typename: str
    template: bytes
    dtype: np.dtype[np.void]

    def make_rows(self, n: int) -> npt.NDArray[np.void]:
        """Return n writable copies of the example."""
        return np.frombuffer(bytearray(self.template * n), dtype=self.dtype)


def make_fixed(typename: str, example: Any) -> FixedMessage:
    """Return the fixed message of an example."""
    walk = _Walk()
    walk.visit_message(typename, example, "")
    template = encode(example, typename)
    dtype = np.dtype(
        {
            "names": [name for name, _, _ in walk.leaves],
            "formats": [form for _, form, _ in walk.leaves],
            "offsets": [_ENCAPSULATION + at for _, _, at in walk.leaves],
            "itemsize": len(template),
        }
    )
    return FixedMessage(typename=typename, template=template, dtype=dtype)


class _Walk:
    def __init__(self) -> None:
        self.at = 0
        self.leaves: list[tuple[str, Any, int]] = []

    def visit_message(self, typename: str, message: Any, prefix: str) -> None:
        for name, desc in load_typestore().fielddefs[typename][1]:
            self._visit(desc, getattr(message, name), prefix + name)

    def _visit(self, desc: Any, value: Any, name: str) -> None:
        kind, detail = desc
        if kind == Nodetype.NAME and detail == _POSE:
            self._leaf(name, "<f8", 7)
        elif kind == Nodetype.NAME:
            self.visit_message(detail, value, name + ".")
        elif kind == Nodetype.BASE:
            self._visit_base(detail[0], value, name)
        else:
            if kind == Nodetype.SEQUENCE:
                self._align(4)
                self.at += 4
            self._visit_items(detail[0], value, name)

    def _visit_base(self, primitive: str, value: Any, name: str) -> None:
        if primitive != "string":
            self._leaf(name, _PRIMITIVES[primitive], None)
            return
        length = len(value.encode())
        self._align(4)
        self.at += 4
        self.leaves.append((name, f"S{length}", self.at))
        self.at += length + 1

    def _visit_items(self, item: Any, value: Any, name: str) -> None:
        kind, detail = item
        if kind == Nodetype.BASE and detail[0] != "string":
            if len(value):
                self._leaf(name, _PRIMITIVES[detail[0]], len(value))
            return
        for i, element in enumerate(value):
            self._visit(item, element, f"{name}.{i}")

    def _leaf(self, name: str, form: str, n: int | None) -> None:
        size = np.dtype(form).itemsize
        self._align(size)
        self.leaves.append((name, form if n is None else (form, (n,)), self.at))
        self.at += size * (1 if n is None else n)

    def _align(self, size: int) -> None:
        self.at += -self.at % size
