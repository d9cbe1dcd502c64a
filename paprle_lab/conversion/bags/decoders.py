"""Decoders of messages by their encoding and schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from paprle.recording.others.ros_types import RosTypes

Decode = Callable[[bytes], Any]
_ROS = {"cdr": False, "ros1": True}  # spec: mcap.dev, well-known message encodings
_DESCRIBED = {
    ("cdr", "ros2msg"): "mcap_ros2",
    ("protobuf", "protobuf"): "mcap_protobuf",
}
_NEEDED = {"mcap_ros2": "mcap-ros2-support", "mcap_protobuf": "mcap-protobuf-support"}


def name_type(name: str) -> str:
    """Return a type of ROS 1, such as ``std_msgs/Bool``, as ROS 2 writes it."""
    package, slash, rest = name.partition("/")
    return f"{package}/msg/{rest}" if slash and "/" not in rest else name


class Decoders:
    """Decoders of one file's messages.

    Standard types of ROS are read by rosbags, other types of ROS 2 and Protobuf by the
    definitions in the file.
    """

    def __init__(self) -> None:
        self._ros: dict[bool, RosTypes] = {}

    def find(self, encoding: str, schema: Any) -> Decode | str:
        """Return the decoder of an MCAP channel, or the reason why there is none."""
        name = "" if schema is None else str(schema.name)
        if encoding == "json":
            return json.loads
        if encoding in _ROS:
            standard = self._find_standard(name_type(name), is_ros1=_ROS[encoding])
            if standard is not None:
                return standard
        form = "none" if schema is None else str(schema.encoding)
        package = _DESCRIBED.get((encoding, form))
        if package is None:
            return (
                f"the type {name[:80]} (encoding {encoding[:20]}, schema {form[:20]})"
            )
        return _find_described(package, encoding, schema)

    def find_ros(self, kind: str, definition: Any, *, is_ros1: bool) -> Decode | str:
        """Return the decoder of a bag's type, or the reason why there is none."""
        standard = self._find_standard(kind, is_ros1=is_ros1)
        if standard is not None:
            return standard
        is_text = getattr(definition.format, "name", "") == "MSG"
        if is_ros1 or not is_text or not definition.data:
            return f"the type {kind} is no standard one"
        schema = SimpleNamespace(
            id=0, name=kind, encoding="ros2msg", data=definition.data.encode()
        )
        return _find_described("mcap_ros2", "cdr", schema)

    def _find_standard(self, kind: str, *, is_ros1: bool) -> Decode | None:
        if is_ros1 not in self._ros:
            self._ros[is_ros1] = RosTypes(is_ros1=is_ros1)
        types = self._ros[is_ros1]
        return partial(types.decode, kind) if types.knows(kind) else None


def _find_described(package: str, encoding: str, schema: Any) -> Decode | str:
    """Return a decoder made of the definition in the file."""
    if find_spec(package) is None:
        return f"the type {schema.name} needs: pip install '{_NEEDED[package]}'"
    factory = import_module(f"{package}.decoder").DecoderFactory()
    try:
        decode: Decode | None = factory.decoder_for(encoding, schema)
    except Exception as err:  # noqa: BLE001 - of a stranger's definition
        return f"the type {schema.name[:80]}: {type(err).__name__}: {err}"[:200]
    return f"the type {schema.name[:80]}" if decode is None else decode
