"""Bags written by libraries that are not ours: rosbags, and mcap-ros2-support."""

from __future__ import annotations

import numpy as np
from mcap_ros2.writer import Writer as Ros2Writer
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

STORES = {
    True: get_typestore(Stores.ROS1_NOETIC),
    False: get_typestore(Stores.ROS2_JAZZY),
}
START_NS = 1_700_000_000 * 10**9  # bags have wall time
POSE = "geometry_msgs/msg/PoseStamped"
STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
JOY = "sensor_msgs/msg/Joy"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
STORES[True].register(
    get_types_from_msg("geometry_msgs/TransformStamped[] transforms\n", TRANSFORMS)
)


class Messages:
    """Messages of either ROS, made by rosbags' own classes."""

    def __init__(self, *, is_ros1):
        self.store, self.is_ros1 = STORES[is_ros1], is_ros1

    def make(self, kind, *args):
        return self.store.types[kind](*args)

    def header(self, t, *, is_stamped=True, frame="base"):
        stamp_ns = START_NS + round(t * 1e9) if is_stamped else 0
        seq = (0,) if self.is_ros1 else ()
        stamp = self.make("builtin_interfaces/msg/Time", *divmod(stamp_ns, 10**9))
        return self.make("std_msgs/msg/Header", *seq, stamp, frame)

    def pose(self, t, p, quat_xyzw=(0.0, 0.0, 0.0, 1.0), *, skew=0.0, frame="base"):
        point = self.make("geometry_msgs/msg/Point", *map(float, p))
        turn = self.make("geometry_msgs/msg/Quaternion", *map(float, quat_xyzw))
        pose = self.make("geometry_msgs/msg/Pose", point, turn)
        return POSE, self.make(POSE, self.header(t + skew, frame=frame), pose)

    def state(self, t, names, q, **header):
        none = np.zeros(0)
        q = np.array(q, dtype=np.float64)
        return STATE, self.make(STATE, self.header(t, **header), names, q, none, none)

    def trajectory(self, t, names, points):
        """Points are (time from start, positions); stamp zero, as commands have it."""
        none = np.zeros(0)
        kind = "trajectory_msgs/msg/JointTrajectoryPoint"
        made = [
            self.make(kind, np.array(q, dtype=np.float64), none, none, none,
                      self.make("builtin_interfaces/msg/Duration",
                                *divmod(round(after * 1e9), 10**9)))
            for after, q in points
        ]  # fmt: skip
        header = self.header(t, is_stamped=False)
        return TRAJECTORY, self.make(TRAJECTORY, header, names, made)

    def transform(self, t, parent, child, p, quat_xyzw=(0.0, 0.0, 0.0, 1.0)):
        shift = self.make("geometry_msgs/msg/Vector3", *map(float, p))
        turn = self.make("geometry_msgs/msg/Quaternion", *map(float, quat_xyzw))
        pose = self.make("geometry_msgs/msg/Transform", shift, turn)
        kind, header = (
            "geometry_msgs/msg/TransformStamped",
            self.header(t, frame=parent),
        )
        return TRANSFORMS, self.make(TRANSFORMS, [self.make(kind, header, child, pose)])

    def joy(self, t, axes, buttons, *, skew=0.0):
        axes, buttons = np.array(axes, np.float32), np.array(buttons, np.int32)
        return JOY, self.make(JOY, self.header(t + skew), axes, buttons)


def write_bag(path, said, storage="mcap"):
    """Write {topic: [(t, make)]}, with make(messages, t); returns the bag's path."""
    messages = Messages(is_ros1=storage == "bag")
    store = messages.store
    if storage == "bag":
        writer = Writer1(path.with_suffix(".bag"))
    else:
        plugin = StoragePlugin[{"mcap": "MCAP", "db3": "SQLITE3"}[storage]]
        writer = Writer2(path, version=9, storage_plugin=plugin)
    rows = sorted(
        ((t, topic, make) for topic, series in said.items() for t, make in series),
        key=lambda row: row[0],
    )
    with writer:
        connections = {}
        for t, topic, make in rows:
            kind, message = make(messages, t)
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            encode = store.serialize_ros1 if storage == "bag" else store.serialize_cdr
            stamp = START_NS + round(t * 1e9)
            writer.write(connections[topic], stamp, encode(message, kind))
    return path.with_suffix(".bag") if storage == "bag" else path


def write_poses_with_mcap_ros2(path, topic, rows):
    """Write PoseStamped by mcap-ros2-support, from (t, x, y, z)."""
    text, _ = STORES[False].generate_msgdef(POSE, ros_version=2)
    with path.open("wb") as file:
        writer = Ros2Writer(file)
        schema = writer.register_msgdef(POSE, text)
        for t, *p in rows:
            stamp_ns = START_NS + round(t * 1e9)
            sec, nanosec = divmod(stamp_ns, 10**9)
            turn = {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}
            point = dict(zip("xyz", map(float, p), strict=True))
            header = {"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": "base"}
            writer.write_message(
                topic,
                schema,
                {"header": header, "pose": {"position": point, "orientation": turn}},
                log_time=stamp_ns,
                publish_time=stamp_ns,
            )
        writer.finish()
    return path
