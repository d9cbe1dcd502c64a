"""Messages of VisionProTeleop's gRPC stream, for any protobuf.

Source: avp_stream 2.51, ``grpc_msg/handtracking_pb2.py``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "handtracking.HandTrackingService"
METHOD = "StreamHandUpdates"
PORT = 12345  # spec: avp_stream, streamer.py
_PACKAGE = "handtracking"
_FLOAT, _MESSAGE = 2, 11  # spec: descriptor.proto, FieldDescriptorProto.Type
_ONE, _MANY = 1, 3  # spec: descriptor.proto, FieldDescriptorProto.Label
_FIELDS = {
    "Matrix4x4": [(f"m{r}{c}", _ONE, "") for r in range(4) for c in range(4)],
    "Skeleton": [("jointMatrices", _MANY, "Matrix4x4")],
    "Hand": [("wristMatrix", _ONE, "Matrix4x4"), ("skeleton", _ONE, "Skeleton")],
    "HandUpdate": [
        ("left_hand", _ONE, "Hand"),
        ("right_hand", _ONE, "Hand"),
        ("Head", _ONE, "Matrix4x4"),
    ],
}


def _make_update_type() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="handtracking.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for number, (field, label, kind) in enumerate(fields, 1):
            added = message.field.add(name=field, number=number, label=label)
            added.type = _MESSAGE if kind else _FLOAT
            if kind:
                added.type_name = f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName(f"{_PACKAGE}.HandUpdate")
    return message_factory.GetMessageClass(found)


HandUpdate = _make_update_type()
"""One message: both hands and the head."""
