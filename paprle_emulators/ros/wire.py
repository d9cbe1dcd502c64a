"""ROS messages of a robot: commands read, states written.

Fields are those of the ``.msg`` files (trajectory_msgs, sensor_msgs, std_msgs,
control_msgs, kinova_msgs). Trajectories, at 200 Hz, bypass the ``Codec`` of rosbags.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from paprle_emulators.ros.cursor import Cursor

Vec = npt.NDArray[np.float64]

JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
FLOATS = "std_msgs/msg/Float64MultiArray"
JOINT_STATE = "sensor_msgs/msg/JointState"
BOOL = "std_msgs/msg/Bool"
CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
COMMANDS = {
    "trajectory": JOINT_TRAJECTORY,
    "positions": FLOATS,
    "joint_state": JOINT_STATE,
}
"""Type of a command topic by the word in the robot's YAML."""
GOALS = {
    "gripper_action": ("control_msgs/msg/GripperCommandActionGoal", "command"),
    "kinova_joints": ("kinova_msgs/msg/ArmJointAnglesActionGoal", "angles"),
    "kinova_fingers": ("kinova_msgs/msg/SetFingersPositionActionGoal", "fingers"),
}
"""Type of a goal in ROS 1, and the field of the goal that holds the positions."""

_TURN_TICKS = 6800.0 / math.radians(80.0)  # spec: kinova-ros: fingers 0 … 6800 are 80°


class Refused(ValueError):
    """A controller refuses the command."""


class Codec(Protocol):
    """Messages of one ROS distribution."""

    is_ros1: bool

    def make(self, typename: str, **fields: Any) -> Any:
        """Return a message; missing fields are empty."""

    def encode(self, message: Any, typename: str) -> bytes:
        """Return the bytes of a message."""

    def decode(self, data: bytes, typename: str) -> Any:
        """Return the message, or raise ``ValueError``."""

    def make_header(self, stamp_ns: int = 0, frame_id: str = "") -> Any:
        """Return a ``std_msgs/Header``."""


@dataclass(frozen=True, slots=True)
class Joints:
    """State of joints (n,); missing velocities are NaN."""

    names: tuple[str, ...]
    q: Vec
    dq: Vec
    tau: Vec
    stamp_ns: int = 0


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Points of a trajectory.

    Attributes:
        times: Increasing, shape (k,), [s].
        q: Shape (k, n).
        dq: Shape (k, n), or None.
        stamp_ns: Start, [ns]; 0: on arrival.
    """

    names: tuple[str, ...]
    times: Vec
    q: Vec
    dq: Vec | None
    stamp_ns: int = 0


def read_trajectory(codec: Codec, data: bytes) -> Trajectory:
    """Return a trajectory.

    Raises:
        Refused: If invalid, without points, or with gaps.
    """
    try:
        cursor = Cursor(data, is_ros1=codec.is_ros1)
        stamp_ns = cursor.read_header()
        names = tuple(cursor.read_text() for _ in range(cursor.read_count()))
        points = [_read_point(cursor) for _ in range(cursor.read_count())]
    except (ValueError, struct.error) as err:
        raise Refused(f"expected a JointTrajectory: {err}") from err
    times = np.array([t_ns for _, _, t_ns in points]) * 1e-9
    lengths = {len(q) for q, _, _ in points}
    if lengths != {len(names)} or (np.diff(times) <= 0).any():
        raise Refused(f"expected points at increasing times, of {len(names)} positions")
    has_speeds = all(len(dq) == len(names) for _, dq, _ in points)
    dq = np.stack([dq for _, dq, _ in points]) if has_speeds else None
    return Trajectory(names, times, np.stack([q for q, _, _ in points]), dq, stamp_ns)


def _read_point(cursor: Cursor) -> tuple[Vec, Vec, int]:
    """Return positions, velocities and time [ns]."""
    q, dq, _accelerations, _effort = (cursor.read_doubles() for _ in range(4))
    return q, dq, cursor.read_time()


def read_positions(codec: Codec, data: bytes) -> Vec:
    """Return the numbers of a Float64MultiArray."""
    return np.array(_decode(codec, data, FLOATS).data, dtype=np.float64)


def read_joint_state(codec: Codec, data: bytes) -> tuple[tuple[str, ...], Vec]:
    """Return a JointState's names and positions.

    Raises:
        Refused: If a joint has not one position.
    """
    message = _decode(codec, data, JOINT_STATE)
    names, q = tuple(message.name), np.array(message.position, dtype=np.float64)
    if len(q) != len(names) or len(set(names)) != len(names):
        raise Refused(f"expected a position for each of {len(names)} different joints")
    return names, q


def read_goal(codec: Codec, data: bytes, kind: str, n: int) -> Vec:
    """Return a ROS 1 goal's n positions, [rad] or [m].

    Raises:
        Refused: If not finite.
    """
    typename, part = GOALS[kind]
    values = getattr(_decode(codec, data, typename).goal, part)
    if kind == "gripper_action":
        q = np.array([values.position], dtype=np.float64)
    elif kind == "kinova_joints":
        q = np.radians([getattr(values, f"joint{k}") for k in range(1, n + 1)])
    else:
        ticks = [getattr(values, f"finger{k}") for k in range(1, n + 1)]
        q = np.array(ticks, dtype=np.float64) / _TURN_TICKS
    if not np.isfinite(q).all():
        raise Refused(f"expected finite positions, got {q}")
    return q


def write_joint_state(codec: Codec, joints: Joints) -> bytes:
    """Return a JointState without NaN arrays."""
    speeds, efforts = (
        np.zeros(0) if np.isnan(values).any() else np.ascontiguousarray(values)
        for values in (joints.dq, joints.tau)
    )
    message = codec.make(
        JOINT_STATE,
        header=codec.make_header(joints.stamp_ns),
        name=list(joints.names),
        position=np.ascontiguousarray(joints.q),
        velocity=speeds,
        effort=efforts,
    )
    return codec.encode(message, JOINT_STATE)


def write_controller_state(codec: Codec, names: tuple[str, ...], q: Vec) -> bytes:
    """Return a JointTrajectoryControllerState."""
    point = codec.make("trajectory_msgs/msg/JointTrajectoryPoint", positions=q)
    message = codec.make(CONTROLLER_STATE, joint_names=list(names), reference=point)
    return codec.encode(message, CONTROLLER_STATE)


def write_bool(codec: Codec, value: bool) -> bytes:
    """Return a Bool."""
    return codec.encode(codec.make(BOOL, data=value), BOOL)


def _decode(codec: Codec, data: bytes, typename: str) -> Any:
    try:
        return codec.decode(data, typename)
    except ValueError as err:
        raise Refused(str(err)) from err
