"""ROS messages of the standard types."""

from __future__ import annotations

from typing import Any

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

TRANSFORMS = "tf2_msgs/msg/TFMessage"


class RosTypes:
    """Decoder of ROS messages; a file's own definitions are never used.

    rosbags executes code that it generates of a definition, which may be a stranger's.
    """

    def __init__(self, *, is_ros1: bool) -> None:
        self._is_ros1 = is_ros1
        self._store = get_typestore(
            Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE
        )
        if TRANSFORMS not in self._store.fielddefs:  # rosbags brings it for ROS 2 alone
            text = "geometry_msgs/TransformStamped[] transforms\n"
            self._store.register(get_types_from_msg(text, TRANSFORMS))

    def knows(self, kind: str) -> bool:
        """Return whether a type, such as ``sensor_msgs/msg/Joy``, is a standard one."""
        return kind in self._store.fielddefs

    def decode(self, kind: str, data: bytes) -> Any:
        """Return a message, without Fast DDS's trailing bytes.

        Raises:
            Exception: Of any kind, if the bytes are no such message.
        """
        definition = self._store.get_msgdef(kind)
        if self._is_ros1:
            parse, body = definition.deserialize_ros1, data
        else:
            is_little = data[:2] == b"\x00\x01"  # spec: OMG DDS-XTypes 1.3, 7.6.3.1.2
            little, big = definition.deserialize_cdr_le, definition.deserialize_cdr_be
            parse, body = (little if is_little else big), data[4:]
        return parse(memoryview(body), 0, definition.cls, self._store)[0]
