"""Joint messages as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.messages import (
    BOOL,
    CONTROLLER_STATE,
    FLOAT,
    FLOATS,
    GRIPPER_COMMAND,
    JOINT_STATE,
    JOINT_TRAJECTORY,
    JOY,
    POSE_STAMPED,
    Codec,
    MessageError,
)

Vec = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joints:
    """``sensor_msgs/JointState``, shape (n,), NaN if missing.

    Attributes:
        q: [rad] or [m].
        stamp_ns: Sender's time, [ns]; 0: none.
    """

    names: tuple[str, ...]
    q: Vec
    dq: Vec
    tau: Vec
    stamp_ns: int = 0


@dataclass(frozen=True, slots=True)
class Trajectory:
    """``trajectory_msgs/JointTrajectory``.

    Attributes:
        times: From start, shape (k,), [s], increasing.
        q: Shape (k, n), [rad] or [m].
        dq: Shape (k, n), or None.
        stamp_ns: Start, reader's time, [ns]; 0: on arrival.
    """

    names: tuple[str, ...]
    times: Vec
    q: Vec
    dq: Vec | None
    stamp_ns: int = 0


@dataclass(frozen=True, slots=True)
class ControllerState:
    """Trajectory controller's ``reference`` q, shape (n,)."""

    names: tuple[str, ...]
    q: Vec


@dataclass(frozen=True, slots=True)
class Pose:
    """``geometry_msgs/PoseStamped``: p [m], shape (3,), quat_xyzw, shape (4,)."""

    p: Vec
    quat_xyzw: Vec
    frame_id: str = ""
    stamp_ns: int = 0


@dataclass(frozen=True, slots=True)
class Joy:
    """``sensor_msgs/Joy``: axes −1 … 1, shape (a,), and buttons."""

    axes: Vec
    buttons: tuple[bool, ...]


def encode_joints(codec: Codec, joints: Joints) -> bytes:
    """Return a JointState without NaN velocities and efforts."""
    message = codec.make(
        JOINT_STATE,
        header=codec.make_header(joints.stamp_ns),
        name=list(joints.names),
        position=_pack(joints.q),
        velocity=_drop_missing(joints.dq),
        effort=_drop_missing(joints.tau),
    )
    return codec.encode(message, JOINT_STATE)


def decode_joints(codec: Codec, data: bytes) -> Joints:
    """Return a JointState's joints.

    Raises:
        MessageError: Invalid, or not one position a name.
    """
    message = codec.decode(data, JOINT_STATE)
    names, q = tuple(message.name), np.array(message.position, dtype=np.float64)
    if len(q) != len(names) or len(set(names)) != len(names):
        raise MessageError(
            f"{JOINT_STATE}: expected one position for each of {len(names)} different "
            f"names, got {len(q)}"
        )
    n = len(names)
    dq, tau = _extend(message.velocity, n), _extend(message.effort, n)
    return Joints(names, q, dq, tau, _stamp_of(message))


def decode_trajectory(codec: Codec, data: bytes) -> Trajectory:
    """Return a JointTrajectory's points.

    Raises:
        MessageError: Invalid, empty, or points with gaps.
    """
    message = codec.decode(data, JOINT_TRAJECTORY)
    names, n = tuple(message.joint_names), len(message.joint_names)
    times = np.array([_seconds(point.time_from_start) for point in message.points])
    lengths = {len(point.positions) for point in message.points}
    if lengths != {n} or not (np.diff(times) > 0).all():
        raise MessageError(
            f"{JOINT_TRAJECTORY}: expected points at increasing times, of {n} positions"
        )
    q = np.array([point.positions for point in message.points], dtype=np.float64)
    dq = None
    if all(len(point.velocities) == n for point in message.points):
        dq = np.array([point.velocities for point in message.points], dtype=np.float64)
    return Trajectory(names, times, q, dq, _stamp_of(message))


def encode_controller(codec: Codec, state: ControllerState) -> bytes:
    """Return a JointTrajectoryControllerState."""
    point = codec.make("trajectory_msgs/msg/JointTrajectoryPoint", positions=state.q)
    message = codec.make(
        CONTROLLER_STATE, joint_names=list(state.names), reference=point
    )
    return codec.encode(message, CONTROLLER_STATE)


def decode_controller(codec: Codec, data: bytes) -> ControllerState:
    """Return a decoded JointTrajectoryControllerState.

    Raises:
        MessageError: Invalid, or not one position a joint.
    """
    message = codec.decode(data, CONTROLLER_STATE)
    names = tuple(message.joint_names)
    q = np.array(message.reference.positions, dtype=np.float64)
    if len(q) != len(names):
        raise MessageError(
            f"{CONTROLLER_STATE}: expected one position for each of {len(names)} "
            f"joints, got {len(q)}"
        )
    return ControllerState(names, q)


def encode_floats(codec: Codec, values: Vec) -> bytes:
    """Return a Float64MultiArray without dimensions."""
    return codec.encode(codec.make(FLOATS, data=_pack(values)), FLOATS)


def decode_floats(codec: Codec, data: bytes) -> Vec:
    """Return a Float64MultiArray's numbers."""
    return np.array(codec.decode(data, FLOATS).data, dtype=np.float64)


def encode_gripper(codec: Codec, position: float, max_effort: float = 0.0) -> bytes:
    """Return a GripperCommand; position controllers ignore the effort."""
    message = codec.make(GRIPPER_COMMAND, position=position, max_effort=max_effort)
    return codec.encode(message, GRIPPER_COMMAND)


def decode_gripper(codec: Codec, data: bytes) -> tuple[float, float]:
    """Return a GripperCommand's position and effort."""
    message = codec.decode(data, GRIPPER_COMMAND)
    return float(message.position), float(message.max_effort)


def encode_bool(codec: Codec, value: bool) -> bytes:
    """Return a Bool."""
    return codec.encode(codec.make(BOOL, data=value), BOOL)


def decode_bool(codec: Codec, data: bytes) -> bool:
    """Return a Bool's value."""
    return bool(codec.decode(data, BOOL).data)


def encode_float(codec: Codec, value: float) -> bytes:
    """Return a Float64."""
    return codec.encode(codec.make(FLOAT, data=value), FLOAT)


def decode_float(codec: Codec, data: bytes) -> float:
    """Return a Float64's value."""
    return float(codec.decode(data, FLOAT).data)


def encode_pose(codec: Codec, pose: Pose) -> bytes:
    """Return a PoseStamped."""
    position = dict(zip("xyz", map(float, pose.p), strict=True))
    orientation = dict(zip("xyzw", map(float, pose.quat_xyzw), strict=True))
    message = codec.make(
        POSE_STAMPED,
        header=codec.make_header(pose.stamp_ns, pose.frame_id),
        pose=codec.make(
            "geometry_msgs/msg/Pose",
            position=codec.make("geometry_msgs/msg/Point", **position),
            orientation=codec.make("geometry_msgs/msg/Quaternion", **orientation),
        ),
    )
    return codec.encode(message, POSE_STAMPED)


def decode_pose(codec: Codec, data: bytes) -> Pose:
    """Return a PoseStamped's pose."""
    message = codec.decode(data, POSE_STAMPED)
    p, r = message.pose.position, message.pose.orientation
    return Pose(
        p=np.array([p.x, p.y, p.z]),
        quat_xyzw=np.array([r.x, r.y, r.z, r.w]),
        frame_id=message.header.frame_id,
        stamp_ns=_stamp_of(message),
    )


def encode_joy(codec: Codec, joy: Joy) -> bytes:
    """Return a Joy."""
    message = codec.make(
        JOY,
        header=codec.make_header(),
        axes=np.asarray(joy.axes, dtype=np.float32),
        buttons=np.asarray(joy.buttons, dtype=np.int32),
    )
    return codec.encode(message, JOY)


def decode_joy(codec: Codec, data: bytes) -> Joy:
    """Return a Joy's axes and buttons."""
    message = codec.decode(data, JOY)
    axes = np.array(message.axes, dtype=np.float64)
    return Joy(axes, tuple(bool(button) for button in message.buttons))


def _pack(values: Vec) -> Vec:
    return np.ascontiguousarray(values, dtype=np.float64)


def _drop_missing(values: Vec) -> Vec:
    return np.empty(0) if np.isnan(values).all() else _pack(values)


def _extend(values: Any, n: int) -> Vec:
    extended = np.full(n, np.nan)
    m = min(n, len(values))
    extended[:m] = values[:m]
    return extended


def _stamp_of(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def _seconds(duration: Any) -> float:
    return float(int(duration.sec) + int(duration.nanosec) * 1e-9)
