"""DDS types whose bytes pass unchanged, since cyclonedds's codec is slow."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import (
    array,
    bounded_str,
    byte,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    sequence,
    uint8,
    uint16,
    uint32,
    uint64,
)
from rosbags.interfaces import Nodetype

from paprle.hardware.ros.messages import Codec

_PRIMITIVES: Mapping[str, Any] = {
    "bool": bool,
    "byte": byte,
    "char": uint8,  # spec: ROS 2 maps its char to uint8
    "int8": int8,
    "uint8": uint8,
    "int16": int16,
    "uint16": uint16,
    "int32": int32,
    "uint32": uint32,
    "int64": int64,
    "uint64": uint64,
    "float32": float32,
    "float64": float64,
}
_ROS_TYPE = re.compile(r"(\w+)/(\w+)/(\w+)")


def _serialize(message: Any, **_: Any) -> bytes:
    return bytes(message.raw)


def _deserialize(cls: Any, /, data: bytes, **_: Any) -> Any:
    message = cls.__new__(cls)
    message.raw = data
    return message


def mangle_type(typename: str) -> str:
    """Return a type's DDS name: ``sensor_msgs.msg.dds_.JointState_``.

    Raises:
        ValueError: Invalid name.
    """
    match = _ROS_TYPE.fullmatch(typename)
    if match is None:
        raise ValueError(f"ros type: expected package/msg/Name, got '{typename}'")
    return f"{match[1]}.{match[2]}.dds_.{match[3]}_"


class TypeMaker:
    """Cache of one codec's DDS types."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._inner: dict[str, Any] = {}
        self._outer: dict[str, Any] = {}

    def make(self, typename: str) -> Any:
        """Return a type's class; its ``raw`` holds the bytes."""
        if typename not in self._outer:
            cls = self._declare(typename)
            cls.serialize, cls.deserialize = _serialize, classmethod(_deserialize)
            self._outer[typename] = cls
        return self._outer[typename]

    def _find(self, typename: str) -> Any:
        if typename not in self._inner:
            self._inner[typename] = self._declare(typename)
        return self._inner[typename]

    def _declare(self, typename: str) -> Any:
        fields = self._codec.store.fielddefs[typename][1]
        hints = {name: self._describe(desc) for name, desc in fields}
        mangled = mangle_type(typename)

        def fill(namespace: dict[str, Any]) -> None:
            namespace["__annotations__"] = hints
            namespace["__module__"] = __name__

        name = mangled.rpartition(".")[2]
        cls = types.new_class(name, (IdlStruct,), {"typename": mangled}, fill)
        return final(dataclass(cls))

    def _describe(self, desc: Any) -> Any:
        kind, detail = desc
        if kind == Nodetype.NAME:
            return self._find(detail)
        if kind == Nodetype.BASE:
            name, bound = detail
            if name == "string":
                return bounded_str[bound] if bound else str
            return _PRIMITIVES[name]
        item, n = detail
        if kind == Nodetype.ARRAY:
            return array[self._describe(item), n]
        return (
            sequence[self._describe(item), n] if n else sequence[self._describe(item)]
        )
