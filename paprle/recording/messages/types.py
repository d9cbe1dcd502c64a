"""ROS 2 Humble message types and codec, without ROS."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from paprle.contracts.gate_status import GATE_NOTES, GateStatus
from paprle.contracts.types import GateState, SessionState
from paprle.ipc.records import (
    SAMPLE,
    STATUS,
    TICK,
    SampleHead,
    TickHead,
    make_dtype,
)

JOINT_STATE = "sensor_msgs/msg/JointState"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
STRING = "std_msgs/msg/String"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
COMPRESSED_VIDEO = "foxglove_msgs/msg/CompressedVideo"
LEADER_STATUS = "paprle_msgs/msg/LeaderStatus"
SESSION_TICK = "paprle_msgs/msg/SessionTick"
GATE_STATUS = "paprle_msgs/msg/GateStatus"

SCHEMA_ENCODING = "ros2msg"
MESSAGE_ENCODING = "cdr"

_GATE_NOTES: Mapping[str, str] = {
    **GATE_NOTES,
    "counts": "cumulative, by reason",
    "q_des": "what the gate was asked for [rad] or [m]",
    "compute_ns": "time the gate tick took",
    "late_ns": "lateness of its wake-up",
    "n_overruns": "so far",
    "stop_reason": "the robot's own stop or fault, padded with blanks",
    "held": "why limbs and grippers are kept back, padded with blanks",
}
_GATE_FIRST = dict.fromkeys(
    ("k", "state", "reasons", "latched", "counts")
    + ("setpoint_seq", "setpoint_ns", "sim_time", "q_des")
)
"""Fields that stand first, in the order of recordings; the others follow."""

OWN_FIELDS: Mapping[str, Mapping[str, str]] = {
    LEADER_STATUS: {
        "seq": "of the sample",
        "has_sample": "false: the leader has said nothing so far",
        "engaged": "the operator holds the dead-man",
        "valid": "the device tracks",
        "start": "",
        "end": "",
        "is_exhausted": "end of file",
        "sample_age_ns": "at the tick",
        "opening": "by leader limb, 0 closed, 1 open; NaN: none",
        "limb_ns": "capture time by leader limb, monotonic clock",
        "actions": "counters of its own buttons: engage, stop, next, discard,\n"
        "clear, quit",
    },
    SESSION_TICK: {
        "k": "number of the tick",
        "state": "",
        "episode": "counted by the session",
        "driver": "by limb: the leader's limb that drives it; -1: none",
        "err_pos": "of the IK by limb [m]",
        "err_rot": "of the IK by limb [rad]",
        "compute_ns": "time the tick took",
        "late_ns": "lateness of its wake-up",
        "n_overruns": "so far",
        "posted_ns": "when the set-point was posted, monotonic clock",
        "is_far": "by limb: 1: its target was shortened to retarget.max_travel",
        "status_age_ns": "of the gate's status that the tick saw",
    },
    GATE_STATUS: {name: _GATE_NOTES[name] for name in {**_GATE_FIRST, **_GATE_NOTES}},
}
"""Fields of wire records that our own messages have, and what they mean."""

_NOTE_COLUMN = 24  # where the notes of a definition stand


def _define(
    typename: str,
    summary: str,
    stamp: str,
    records: tuple[np.dtype[np.void], ...],
    states: Iterable[IntEnum] = (),
) -> str:
    lines = [f"# {summary}", *(f"int32 {state.name}={state.value}" for state in states)]
    fields = {k: v for record in records for k, v in (record.fields or {}).items()}
    notes = {"std_msgs/Header header": stamp}
    for name, note in OWN_FIELDS[typename].items():
        form = fields[name][0]
        kind = "string" if form.base.kind == "S" else form.base.name
        many = f"[{form.shape[0] or ''}]" if form.shape else ""
        notes[f"{kind}{many} {name}"] = note
    for declaration, note in notes.items():
        for line in note.split("\n"):
            first = declaration if note.startswith(line) else ""
            lines.append(f"{first:{_NOTE_COLUMN}}# {line}" if line else first)
    return "\n".join(lines) + "\n"


_NO_SIZES: Mapping[str, int] = defaultdict(int)
_SAMPLE = make_dtype(SampleHead, SAMPLE, _NO_SIZES)
_TICK = make_dtype(TickHead, TICK, _NO_SIZES)
_STATUS = make_dtype(GateStatus, STATUS, _NO_SIZES)

OWN_TYPES = {
    LEADER_STATUS: _define(
        LEADER_STATUS,
        "What the leader sample used by one session tick says beside its poses and "
        "joints.",
        "capture time of the sample, monotonic clock",
        (_TICK, _SAMPLE),
    ),
    SESSION_TICK: _define(
        SESSION_TICK,
        "One tick of the session.",
        "monotonic clock",
        (_TICK,),
        SessionState,
    ),
    GATE_STATUS: _define(
        GATE_STATUS,
        "One tick of the gate, the only writer to the robot.",
        "when q_cmd was written, monotonic clock",
        (_STATUS,),
        GateState,
    ),
    # spec: docs.foxglove.dev, CompressedVideo: the names and their order
    COMPRESSED_VIDEO: """\
# One picture of a video stream; x to the right, y down, z ahead.
builtin_interfaces/Time timestamp  # when it was exposed, monotonic clock
string frame_id
uint8[] data                       # h264: Annex B, with SPS and PPS at each IDR
string format
""",
}


@lru_cache(maxsize=1)
def load_typestore() -> Typestore:
    """Return the cached store of all types."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    for typename, text in OWN_TYPES.items():
        store.register(get_types_from_msg(text, typename))
    return store


def make_message(typename: str, **fields: Any) -> Any:
    """Return a message; all fields are required."""
    return load_typestore().types[typename](**fields)


def make_header(frame_id: str = "") -> Any:
    """Return a ``std_msgs/Header`` with stamp zero."""
    stamp = make_message("builtin_interfaces/msg/Time", sec=0, nanosec=0)
    return make_message("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)


def encode(message: Any, typename: str) -> bytes:
    """Return little-endian CDR with its encapsulation header."""
    data = load_typestore().serialize_cdr(message, typename, little_endian=True)
    return bytes(data)


def decode(data: bytes, typename: str) -> Any:
    """Return the message of CDR bytes.

    Raises:
        SerdeError: If the bytes are not such a message (of ``rosbags.serde``).
    """
    return load_typestore().deserialize_cdr(data, typename)


def make_schema(typename: str) -> bytes:
    """Return the ``ros2msg`` schema: the type, then its dependencies."""
    text, _ = load_typestore().generate_msgdef(typename, ros_version=2)
    if typename in OWN_TYPES:
        separator = "=" * 80
        _, _, dependencies = text.partition(separator)
        text = OWN_TYPES[typename] + separator + dependencies
    return str(text).encode()
