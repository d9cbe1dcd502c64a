"""Motion in ROS bags: ``ros2 bag`` (MCAP, SQLite) and ROS 1 ``.bag``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.static_frames import FrameError, SourceFrame, StaticFrames
from paprle.contracts.types import Vec
from paprle.recording.others.bag_joints import (
    Joints,
    Stamps,
    WantedJoints,
    merge_states,
)
from paprle.recording.others.ros_types import TRANSFORMS, RosTypes

JOINT_STATE = "sensor_msgs/msg/JointState"
JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
JOY = "sensor_msgs/msg/Joy"
JOINT_TYPES = (JOINT_STATE, JOINT_TRAJECTORY)

MAX_MESSAGES = 10_000_000  # chosen: a day at 100 Hz; more is no motion
_OWN_LIBRARY = b"paprle"  # what the MCAP header of an episode of ours says
_ONE_CLOCK_NS = 1_000_000_000  # spec: safety.md A1: farther off is another clock
_APART_NS = 20_000_000  # [ns] chosen: a lag is told to a few ms; a network takes fewer
_SAMPLED = 1000  # chosen: messages whose median tells a clock
_MCAP_MAGIC = b"\x89MCAP0\r\n"  # spec: mcap.dev, file format


def is_bag(path: Path) -> bool:
    """Return whether this is a bag, no episode of ours."""
    if path.is_dir():
        return (path / "metadata.yaml").is_file()
    if path.suffix != ".mcap":
        return path.suffix in {".bag", ".db3"}
    with path.open("rb") as file:
        head = file.read(256)
    # magic, opcode, length, then the lengths and texts of profile and library
    return head.startswith(_MCAP_MAGIC) and _OWN_LIBRARY not in head[8:]


class Bag:
    """Open bag; a context manager.

    Attributes:
        is_by_reception: Stamps are the recorder's, not the senders'.
    """

    def __init__(self, path: Path) -> None:
        """Open ``.mcap``, ``.db3``, ``.bag``, or the folder of ``ros2 bag``.

        Raises:
            RecordingError: If it cannot be read.
        """
        self.path = path
        self.is_by_reception = False
        is_ros1 = path.suffix == ".bag"
        self._types = RosTypes(is_ros1=is_ros1)
        self._reader: Any = None
        try:
            self._reader = Reader1(path) if is_ros1 else Reader2(path)
            self._reader.open()
            self.topics: Mapping[str, str] = {
                connection.topic: str(connection.msgtype)
                for connection in self._reader.connections
            }
        except Exception as err:
            raise RecordingError(
                f"{path}: expected a whole bag, got {type(err).__name__}: {err}; one "
                "that was cut off: mcap recover, or ros2 bag reindex"
            ) from err

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @property
    def length(self) -> float:
        """Time between first and last message, [s]."""
        return float(self._reader.duration) * 1e-9

    @cached_property
    def listing(self) -> str:
        """Topics and types as text."""
        listed = [f"{topic} [{kind}]" for topic, kind in sorted(self.topics.items())]
        return ", ".join(listed)[:1000] or "nothing"

    def find(self, *kinds: str) -> list[str]:
        """Return the topics of these types."""
        return [topic for topic, kind in self.topics.items() if kind in kinds]

    def agree_on_clock(self, topics: Iterable[str]) -> str:
        """Use reception stamps if clocks differ; return a warning."""
        offsets = {topic: self._find_offset(topic) for topic in topics}
        low, high = min(offsets.values()), max(offsets.values())
        if high - low <= _APART_NS:
            return ""
        self.is_by_reception = True
        return (
            f"clocks of {', '.join(sorted(offsets))} are {1e-6 * (high - low):.0f} ms "
            "apart: times are those of reception"
        )

    def _find_offset(self, topic: str) -> int:
        kinds = (*JOINT_TYPES, POSE_STAMPED, JOY)
        read = list(islice(self._read(topic, *kinds), _SAMPLED))
        received = np.array([stamp for stamp, _ in read], dtype=np.int64)
        apart = self._find_stamps(read) - received
        return int(np.median(apart)) if len(apart) else 0

    @cached_property
    def statics(self) -> StaticFrames:
        """Static transforms of all topics named ``tf_static``."""
        statics = StaticFrames()
        for topic in self.find(TRANSFORMS):
            if topic.rpartition("/")[2] == "tf_static":
                for _, message in self._read(topic, TRANSFORMS):
                    for one in message.transforms:
                        t, r = one.transform.translation, one.transform.rotation
                        row = np.array([t.x, t.y, t.z, r.x, r.y, r.z, r.w])
                        statics.add(one.header.frame_id, one.child_frame_id, row)
        return statics

    def find_frame(self, topic: str) -> str:
        """Return the ``frame_id`` of a topic's first pose."""
        first = next(self._read(topic, POSE_STAMPED), None)
        return "" if first is None else str(first[1].header.frame_id)

    def read_poses(
        self, topic: str, frame: SourceFrame | None = None
    ) -> tuple[Stamps, Vec]:
        """Return stamps (n,) [ns] and poses (n, 7), in ``frame`` if given.

        Raises:
            RecordingError: If no static transform joins the frames.
        """
        read = list(self._read(topic, POSE_STAMPED))
        rows = np.zeros((len(read), 7))
        for row, (_, message) in zip(rows, read, strict=True):
            p, r = message.pose.position, message.pose.orientation
            row[:] = p.x, p.y, p.z, r.x, r.y, r.z, r.w
        if frame is not None:
            names = np.array([str(message.header.frame_id) for _, message in read])
            for name in dict.fromkeys(names.tolist()):
                is_in = names == name
                try:
                    T = frame.find(name, int(is_in.sum()))
                except FrameError as err:
                    raise RecordingError(f"{self.path}: {topic}: {err}") from err
                rows[is_in] = _transform(T, rows[is_in])
        return self._find_stamps(read), rows

    def read_joints(self, topic: str, wanted: WantedJoints) -> Joints:
        """Return the joints of a JointState or JointTrajectory topic.

        A trajectory's points are valid until the next message.

        Raises:
            RecordingError: If joints are missing or ambiguous, or contradict.
        """
        read = list(self._read(topic, *JOINT_TYPES))
        told = [
            (int(begin_ns), *_read_points(message))
            for begin_ns, (_, message) in zip(
                self._find_stamps(read), read, strict=True
            )
        ]
        if self.topics[topic] == JOINT_TRAJECTORY:
            return _join_trajectories(self.path, topic, told, wanted)
        states = [(t, names, rows[0][1]) for t, names, rows in told if rows]
        joints = merge_states(self.path, topic, states, wanted)
        n_bad = len(told) - len(states)
        return replace(joints, n_left_out=joints.n_left_out + n_bad)

    def read_joy(self, topic: str) -> tuple[Stamps, list[Vec], list[list[bool]]]:
        """Return stamps [ns], axes and buttons of a Joy topic."""
        read = list(self._read(topic, JOY))
        axes = [np.array(message.axes, dtype=np.float64) for _, message in read]
        buttons = [[bool(down) for down in message.buttons] for _, message in read]
        return self._find_stamps(read), axes, buttons

    def read_messages(self, topic: str) -> Iterator[tuple[int, Any]]:
        """Return receive times [ns] and messages of any known type.

        Raises:
            RecordingError: If its type is not known, or a message is invalid.
        """
        kind = self.topics[topic]
        if not self._types.knows(kind):
            raise RecordingError(f"{self.path}: {topic}: the type {kind} is not known")
        return self._read(topic, kind)

    def _read(self, topic: str, *kinds: str) -> Iterator[tuple[int, Any]]:
        kind = self.topics.get(topic)
        if kind not in kinds:
            raise RecordingError(
                f"{self.path}: expected {' or '.join(kinds)} on {topic}, got "
                f"{kind or 'no such topic'}; in it: {self.listing}"
            )
        connections = [c for c in self._reader.connections if c.topic == topic]
        try:
            messages = self._reader.messages(connections=connections)
            for n, (_, received_ns, data) in enumerate(messages):
                if n == MAX_MESSAGES:
                    raise RecordingError(f"{topic}: more than {n} messages")
                yield int(received_ns), self._types.decode(kind, data)
        except RecordingError:
            raise
        except Exception as err:
            raise RecordingError(
                f"{self.path}: {topic}: expected messages of {kind}, got "
                f"{type(err).__name__}: {err}"
            ) from err

    def _find_stamps(self, read: list[tuple[int, Any]]) -> Stamps:
        received = np.array([stamp for stamp, _ in read], dtype=np.int64)
        if self.is_by_reception:
            return received
        headers = [message.header.stamp for _, message in read]
        sent = np.array([s.sec * 10**9 + s.nanosec for s in headers], dtype=np.int64)
        is_one_clock = bool((np.abs(sent - received) < _ONE_CLOCK_NS).all())
        return sent if is_one_clock else received


def _transform(T: pin.SE3, rows: Vec) -> Vec:
    x, y, z, w = rows[:, 3:].T
    a, b, c, d = pin.Quaternion(T.rotation).coeffs()  # x, y, z, w
    turned = np.column_stack(
        [
            d * x + a * w + b * z - c * y,
            d * y + b * w + c * x - a * z,
            d * z + c * w + a * y - b * x,
            d * w - a * x - b * y - c * z,
        ]
    )
    return np.hstack([rows[:, :3] @ T.rotation.T + T.translation, turned])


def _read_points(message: Any) -> tuple[tuple[str, ...], list[tuple[int, Vec]]]:
    if hasattr(message, "points"):
        names = tuple(message.joint_names)
        points = [(point.time_from_start, point.positions) for point in message.points]
        rows = [(t.sec * 10**9 + t.nanosec, np.array(q, float)) for t, q in points]
    else:
        names = tuple(message.name)
        rows = [(0, np.array(message.position, float))]
    is_whole = len(set(names)) == len(names) and all(
        len(q) == len(names) for _, q in rows
    )
    return names, rows if names and is_whole else []


def _join_trajectories(
    path: Path,
    topic: str,
    told: list[tuple[int, tuple[str, ...], list[tuple[int, Vec]]]],
    wanted: WantedJoints,
) -> Joints:
    names = wanted.names or next((given for _, given, _ in told), ())
    kept: list[tuple[int, list[tuple[int, Vec]]]] = []
    for begin_ns, given, points in told:
        if points and set(names) <= set(given):
            order = [given.index(name) for name in names]
            kept.append((begin_ns, [(t, q[order]) for t, q in points]))
    if not kept:
        seen = sorted({name for _, given, _ in told for name in given})
        raise RecordingError(
            f"{path}: expected joints {', '.join(names) or 'by name'} on {topic}, got "
            f"{', '.join(seen) or 'none'}; name those that are meant in leader.joints"
        )
    rows = list(_replace_points(kept))
    return Joints(
        stamps_ns=np.array([stamp for stamp, _ in rows], dtype=np.int64),
        names=names,
        q=np.array([q for _, q in rows]),
        n_left_out=len(told) - len(kept),
    )


def _replace_points(
    messages: list[tuple[int, list[tuple[int, Vec]]]],
) -> Iterator[tuple[int, Vec]]:
    ends = [begin + points[0][0] for begin, points in messages[1:]]
    for (begin, points), end in zip(messages, [*ends, None], strict=True):
        for i, (after, q) in enumerate(points):
            if i == 0 or end is None or begin + after < end:
                yield begin + after, q
