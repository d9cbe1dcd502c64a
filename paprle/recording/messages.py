"""The ROS 2 message types of a recording, their schema texts and their codec.

Standard types come from ROS 2 Humble's definitions, our own stand below as text. No
ROS is needed to write or to read them; any public tool that knows CDR opens them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

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

OWN_TYPES = {
    LEADER_STATUS: """\
# What the leader sample used by one session tick says beside its poses and joints.
std_msgs/Header header  # capture time of the sample, monotonic clock
uint64 seq              # of the sample
bool has_sample         # false: the leader has said nothing so far
bool engaged            # the operator holds the dead-man
bool valid              # the device tracks
bool start
bool end
bool is_exhausted       # end of file
int64 sample_age_ns     # at the tick
float64[] opening       # by leader limb, 0 closed, 1 open; NaN: none
int64[] limb_ns         # capture time by leader limb, monotonic clock
uint32[6] actions       # counters of its own buttons: engage, stop, next, discard,
                        # clear, quit
""",
    SESSION_TICK: """\
# One tick of the session.
int32 INIT=0
int32 HOMING=1
int32 WAITING=2
int32 ALIGNING=3
int32 ENGAGED=4
int32 CLUTCHED=5
int32 RESETTING=6
int32 STOPPED=7
int32 CLOSING=8
std_msgs/Header header  # monotonic clock
uint64 k                # number of the tick
int32 state
int32 episode           # counted by the session
int32[] driver          # by limb: the leader's limb that drives it; -1: none
float64[] err_pos       # of the IK by limb [m]
float64[] err_rot       # of the IK by limb [rad]
int64 compute_ns        # time the tick took
int64 late_ns           # lateness of its wake-up
uint64 n_overruns       # so far
int64 posted_ns         # when the set-point was posted, monotonic clock
""",
    GATE_STATUS: """\
# One tick of the gate, the only writer to the robot.
int32 DISARMED=0
int32 READY=1
int32 ENGAGED=2
int32 HOLD=3
int32 STOPPED=4
std_msgs/Header header  # when q_cmd was written, monotonic clock
uint64 k                # number of the gate tick
int32 state
uint64 reasons          # bits of the reasons that acted in this tick
uint64 latched          # bits of the latest HOLD or STOPPED
uint32[32] counts       # cumulative, by reason
uint64 setpoint_seq     # newest set-point used
int64 setpoint_ns       # its stamp, monotonic clock
float64 sim_time        # [s]; NaN: none
float64[] q_des         # what the gate was asked for [rad] or [m]
float64 speed_scale     # share of V that was allowed
float64 clearance       # smallest known [m]; +inf: none known
int64 compute_ns        # time the gate tick took
int64 late_ns           # lateness of its wake-up
uint64 n_overruns       # so far
string stop_reason      # the robot's own stop or fault, padded with blanks
""",
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
    """Return the store of all types of a recording, made once."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    for typename, text in OWN_TYPES.items():
        store.register(get_types_from_msg(text, typename))
    return store


def make_message(typename: str, **fields: Any) -> Any:
    """Return a message of that type; all its fields have to be given."""
    return load_typestore().types[typename](**fields)


def make_header(frame_id: str = "") -> Any:
    """Return a ``std_msgs/Header`` with stamp zero."""
    stamp = make_message("builtin_interfaces/msg/Time", sec=0, nanosec=0)
    return make_message("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)


def encode(message: Any, typename: str) -> bytes:
    """Return the message as little-endian CDR with its encapsulation header."""
    data = load_typestore().serialize_cdr(message, typename, little_endian=True)
    return bytes(data)


def decode(data: bytes, typename: str) -> Any:
    """Return the message of CDR bytes.

    Raises:
        SerdeError: If the bytes are not such a message (of ``rosbags.serde``).
    """
    return load_typestore().deserialize_cdr(data, typename)


def make_schema(typename: str) -> bytes:
    """Return the ``ros2msg`` schema: the type, then its dependencies under ``===``."""
    text, _ = load_typestore().generate_msgdef(typename, ros_version=2)
    if typename in OWN_TYPES:
        separator = "=" * 80
        _, _, dependencies = text.partition(separator)
        text = OWN_TYPES[typename] + separator + dependencies
    return str(text).encode()
