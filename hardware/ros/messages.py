"""ROS messages of all distributions by ``rosbags``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from paprle.hardware.ros.extra_types import EXTRA_TYPES

Distro = Literal["humble", "jazzy", "kilted", "noetic"]

_STORES: Mapping[str, Stores] = {
    "humble": Stores.ROS2_HUMBLE,
    "jazzy": Stores.ROS2_JAZZY,
    "kilted": Stores.ROS2_KILTED,
    "noetic": Stores.ROS1_NOETIC,
}
DISTROS = tuple(_STORES)
_ENCAPSULATION = 4  # spec: OMG DDS-XTypes 1.3, 7.6.3.1.2: 4 bytes before the CDR body
_LITTLE_ENDIAN, _BIG_ENDIAN = b"\x00\x01", b"\x00\x00"  # spec: the same, plain CDR

JOINT_STATE = "sensor_msgs/msg/JointState"
JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
FLOATS = "std_msgs/msg/Float64MultiArray"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
JOY = "sensor_msgs/msg/Joy"
BOOL = "std_msgs/msg/Bool"
FLOAT = "std_msgs/msg/Float64"
CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
GRIPPER_COMMAND = "control_msgs/msg/GripperCommand"
GRIPPER_ACTION = "control_msgs/action/GripperCommand"
KINOVA_ANGLES = "kinova_msgs/msg/JointAngles"
KINOVA_FINGERS = "kinova_msgs/msg/FingerPosition"
KINOVA_JOINTS_ACTION = "kinova_msgs/action/ArmJointAngles"
KINOVA_FINGERS_ACTION = "kinova_msgs/action/SetFingersPosition"
BYTES = "std_msgs/msg/UInt8MultiArray"


class MessageError(ValueError):
    """Invalid bytes, or unknown type."""


class Codec:
    """Messages of one distribution."""

    def __init__(self, distro: str) -> None:
        if distro not in _STORES:
            known = ", ".join(DISTROS)
            raise MessageError(f"ros distro: expected one of {known}, got '{distro}'")
        self.distro = distro
        self.is_ros1 = distro == "noetic"
        self.store: Typestore = get_typestore(_STORES[distro])
        for typename, text in EXTRA_TYPES.items():
            if typename not in self.store.fielddefs:
                self.register(typename, text)
        self._zeros: dict[str, dict[str, Callable[[], Any]]] = {}

    def register(self, typename: str, text: str) -> None:
        """Add a type from its ``.msg`` text."""
        self.store.register(get_types_from_msg(text, typename))

    def make(self, typename: str, **fields: Any) -> Any:
        """Return a message; missing fields are zero.

        Raises:
            MessageError: Unknown type or field.
        """
        defaults = self._zeros.get(typename)
        if defaults is None:
            defaults = self._zeros[typename] = self._find_zeros(typename)
        if not fields.keys() <= defaults.keys():
            raise MessageError(
                f"{typename}: expected fields {', '.join(defaults)}, "
                f"got {', '.join(sorted(fields.keys() - defaults.keys()))}"
            )
        values = {
            name: fields[name] if name in fields else make_zero()
            for name, make_zero in defaults.items()
        }
        return self.store.types[typename](**values)

    def encode(self, message: Any, typename: str) -> bytes:
        """Return a message's bytes."""
        if self.is_ros1:
            return bytes(self.store.serialize_ros1(message, typename))
        return bytes(self.store.serialize_cdr(message, typename, little_endian=True))

    def decode(self, data: bytes, typename: str) -> Any:
        """Return the message, without Fast DDS's surplus bytes.

        Raises:
            MessageError: Invalid bytes.
        """
        try:
            definition = self.store.get_msgdef(typename)
            if self.is_ros1:
                parse, body = definition.deserialize_ros1, data
            elif data[:2] == _LITTLE_ENDIAN:
                parse, body = definition.deserialize_cdr_le, data[_ENCAPSULATION:]
            elif data[:2] == _BIG_ENDIAN:
                parse, body = definition.deserialize_cdr_be, data[_ENCAPSULATION:]
            else:
                head = data[:_ENCAPSULATION].hex()
                raise MessageError(f"{typename}: expected plain CDR, got 0x{head}")
            message, _ = parse(memoryview(body), 0, definition.cls, self.store)
        except _BROKEN as err:
            if isinstance(err, MessageError):
                raise
            raise MessageError(f"{typename}: {err}") from err
        return message

    def hash_type(self, typename: str) -> str:
        """Return a type's hash: md5 in ROS 1, ``RIHS01_…`` in ROS 2."""
        if self.is_ros1:
            return str(self.store.generate_msgdef(typename, ros_version=1)[1])
        return str(self.store.hash_rihs01(typename))

    def describe(self, typename: str) -> str:
        """Return a type's definition, with its fields' types."""
        version = 1 if self.is_ros1 else 2
        return str(self.store.generate_msgdef(typename, ros_version=version)[0])

    def make_header(self, stamp_ns: int = 0, frame_id: str = "") -> Any:
        """Return a ``std_msgs/Header``; stamp 0: now, in reader's time."""
        stamp = self.make(
            "builtin_interfaces/msg/Time",
            sec=stamp_ns // 10**9,
            nanosec=stamp_ns % 10**9,
        )
        return self.make("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)

    def _find_zeros(self, typename: str) -> dict[str, Callable[[], Any]]:
        if typename not in self.store.fielddefs:
            raise MessageError(
                f"ros type: expected one that {self.distro} or control_msgs has, got "
                f"'{typename}'; register its text"
            )
        fields = self.store.fielddefs[typename][1]
        return {name: self._find_zero(desc) for name, desc in fields}

    def _find_zero(self, desc: Any) -> Callable[[], Any]:
        kind, detail = desc
        if kind == Nodetype.NAME:
            return partial(self.make, detail)
        if kind == Nodetype.BASE:
            return {"string": str, "bool": bool}.get(detail[0], int)
        item, n = detail
        n = n if kind == Nodetype.ARRAY else 0
        if item[0] == Nodetype.NAME or item[1][0] == "string":
            make_item = self._find_zero(item)
            return lambda: [make_item() for _ in range(n)]
        return partial(np.zeros, n, _DTYPES.get(item[1][0], item[1][0]))


_BROKEN = (SerdeError, struct.error, ValueError, IndexError, OverflowError, MemoryError)
_DTYPES = {"char": "uint8", "byte": "uint8"}


@lru_cache(maxsize=len(_STORES))
def load_codec(distro: str) -> Codec:
    """Return a distribution's codec, cached."""
    return Codec(distro)
