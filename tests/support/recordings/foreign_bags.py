"""Bags as others write them: ROS 1 and 2, SQLite, MCAP with JSON or Protobuf."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    timestamp_pb2,
)
from mcap.writer import Writer
from PIL import Image
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

BEGIN_NS = 1_700_000_000_000_000_000
NS = 1_000_000_000
JOINTS = ("shoulder", "elbow", "wrist")
SIZE = (48, 64)


def make_picture(k, size=SIZE):
    """Return a picture with eight bars, light for the ones of its number's bits."""
    image = np.full((*size, 3), 40, np.uint8)
    width = size[1] // 8
    for bit in range(8):
        if k >> bit & 1:
            image[:, bit * width : (bit + 1) * width] = 215
    return image


def read_number(image):
    """Return the number of a picture, coded with losses or not."""
    width = image.shape[1] // 8
    means = [image[:, bit * width : (bit + 1) * width].mean() for bit in range(8)]
    return sum((mean > 128) << bit for bit, mean in enumerate(means))


def move(t):
    """Return joints at a time, (3,)."""
    return np.array([np.sin(t), 0.5 * np.cos(0.7 * t), 0.1 * t])


@dataclass
class Motion:
    """States, commands and pictures of a camera, to be written."""

    length: float = 4.0
    rate: float = 100.0
    fps: float = 20.0
    delay: float = 0.03  # of reception after the exposure

    def list_messages(self):
        """Return (received, stamp, topic, number or joints), by reception."""
        told = []
        for k in range(int(self.length * self.rate)):
            t = k / self.rate
            told.append((t + 0.001, t, "/joint_states", move(t)))
            if k % 5 == 0:
                told.append((t + 0.002, t, "/joint_commands", move(t + 0.05)))
        for k in range(int(self.length * self.fps)):
            t = k / self.fps
            told.append((t + self.delay, t, "/camera/image_raw", k))
        return sorted(told, key=lambda one: one[0])


class RosMessages:
    """Messages of ROS 1 or 2."""

    def __init__(self, is_ros1=False):
        store = Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE
        self.store, self.is_ros1 = get_typestore(store), is_ros1
        self.types = self.store.types

    def make(self, topic, stamp, value):
        """Return the type and a message."""
        header = self._make_header(stamp)
        if topic == "/joint_states" or topic.endswith("states"):
            kind = "sensor_msgs/msg/JointState"
            names = list(JOINTS)
            zeros = np.zeros(len(value))
            return kind, self.types[kind](header, names, value, zeros, zeros)
        if topic.endswith("commands"):
            kind = "std_msgs/msg/Float64MultiArray"
            layout = self.types["std_msgs/msg/MultiArrayLayout"]([], 0)
            return kind, self.types[kind](layout, np.array(value))
        image = make_picture(value)
        if topic.endswith("compressed"):
            kind = "sensor_msgs/msg/CompressedImage"
            data = io.BytesIO()
            Image.fromarray(image).save(data, "JPEG", quality=95)
            flat = np.frombuffer(data.getvalue(), np.uint8)
            return kind, self.types[kind](header, "jpeg", flat)
        kind = "sensor_msgs/msg/Image"
        height, width = image.shape[:2]
        flat = np.ascontiguousarray(image[:, :, ::-1]).ravel()
        return kind, self.types[kind](header, height, width, "bgr8", 0, 3 * width, flat)

    def serialize(self, kind, message):
        if self.is_ros1:
            return self.store.serialize_ros1(message, kind)
        return self.store.serialize_cdr(message, kind)

    def _make_header(self, stamp):
        ns = BEGIN_NS + round(stamp * NS)
        time = self.types["builtin_interfaces/msg/Time"](ns // NS, ns % NS)
        header = self.types["std_msgs/msg/Header"]
        return (
            header(seq=0, stamp=time, frame_id="") if self.is_ros1 else header(time, "")
        )


def write_rosbag(path, motion=None, form="mcap", messages=None, told=None):
    """Write a bag: a folder of ``mcap`` or ``sqlite3``, or a ROS 1 ``bag``."""
    motion = motion or Motion()
    messages = messages or RosMessages(form == "bag")
    told = motion.list_messages() if told is None else told
    if form == "bag":
        writer = Writer1(path)
    else:
        plugin = StoragePlugin.MCAP if form == "mcap" else StoragePlugin.SQLITE3
        writer = Writer2(path, version=9, storage_plugin=plugin)
    with writer:
        connections = {}
        for received, stamp, topic, value in told:
            kind, message = messages.make(topic, stamp, value)
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, kind, typestore=messages.store
                )
            writer.write(
                connections[topic],
                BEGIN_NS + round(received * NS),
                messages.serialize(kind, message),
            )
    return path


def find_mcap(folder: Path) -> Path:
    """Return the file in the folder of a bag."""
    (path,) = folder.glob("*.mcap")
    return path


def write_json_mcap(path, motion=None, *, use_chunking=True):
    """Write an MCAP with JSON channels, as Foxglove's libraries do."""
    motion = motion or Motion()
    with path.open("wb") as file:
        writer = Writer(file, use_chunking=use_chunking)
        writer.start(profile="", library="somebody")
        schema = writer.register_schema("Joints", "jsonschema", b'{"type": "object"}')
        channels = {
            topic: writer.register_channel(topic, "json", schema)
            for topic in ("/joint_states", "/joint_commands")
        }
        for received, stamp, topic, value in motion.list_messages():
            if topic not in channels:
                continue
            ns = BEGIN_NS + round(stamp * NS)
            message = {
                "timestamp": {"sec": ns // NS, "nsec": ns % NS},
                "names": list(JOINTS),
                "q": [float(x) for x in value],
            }
            log_ns = BEGIN_NS + round(received * NS)
            data = json.dumps(message).encode()
            writer.add_message(channels[topic], log_ns, data, log_ns)
        writer.finish()
    return path


def write_protobuf_mcap(path, motion=None, *, codec="h264"):
    """Write an MCAP with Protobuf: joints, and Foxglove's CompressedVideo or -Image."""
    motion = motion or Motion()
    proto = descriptor_pb2.FileDescriptorProto(
        name="robot.proto",
        package="lab",
        syntax="proto3",
        dependency=["google/protobuf/timestamp.proto"],
    )
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, own in (
        ("Joints", (("q", kinds.TYPE_DOUBLE, kinds.LABEL_REPEATED),)),
        (
            "Video",
            (
                ("data", kinds.TYPE_BYTES, kinds.LABEL_OPTIONAL),
                ("format", kinds.TYPE_STRING, kinds.LABEL_OPTIONAL),
            ),
        ),
    ):
        one = proto.message_type.add(name=name)
        one.field.add(
            name="timestamp",
            number=1,
            type=kinds.TYPE_MESSAGE,
            label=kinds.LABEL_OPTIONAL,
            type_name=".google.protobuf.Timestamp",
        )
        for number, (key, kind, label) in enumerate(own, 2):
            one.field.add(name=key, number=number, type=kind, label=label)
    pool = descriptor_pool.DescriptorPool()
    stamp_proto = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(stamp_proto)
    pool.Add(stamp_proto)
    pool.Add(proto)
    schema_data = descriptor_pb2.FileDescriptorSet(
        file=[stamp_proto, proto]
    ).SerializeToString()
    types = {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"lab.{name}"))
        for name in ("Joints", "Video")
    }
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height = SIZE[::-1]
    encoder.pix_fmt = "yuv420p"
    encoder.max_b_frames, encoder.gop_size = 0, 10
    encoder.time_base = Fraction(1, round(motion.fps))
    encoder.options = {"crf": "10", "tune": "zerolatency"}
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="somebody")
        channels = {}
        for received, stamp, topic, value in motion.list_messages():
            name = "Video" if topic.startswith("/camera") else "Joints"
            if topic not in channels:
                schema = writer.register_schema(f"lab.{name}", "protobuf", schema_data)
                channels[topic] = writer.register_channel(topic, "protobuf", schema)
            ns = BEGIN_NS + round(stamp * NS)
            message = types[name]()
            message.timestamp.seconds, message.timestamp.nanos = ns // NS, ns % NS
            if name == "Joints":
                message.q.extend(float(x) for x in value)
            else:
                frame = av.VideoFrame.from_ndarray(make_picture(value), format="rgb24")
                frame.pts = value
                packets = encoder.encode(frame)
                message.data = b"".join(bytes(packet) for packet in packets)
                message.format = codec
            log_ns = BEGIN_NS + round(received * NS)
            writer.add_message(
                channels[topic], log_ns, message.SerializeToString(), log_ns
            )
        writer.finish()
    return path
