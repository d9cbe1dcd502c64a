"""Frozen values in SI units; joint vectors are ordered as their ``joint_names``.

``T_a_b`` is the pose of frame b in frame a. Arrays are read-only float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts import robot_info, states
from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.operator import actions
from paprle.contracts.scene_body import SceneBody

Actions = actions.Actions
GateState = states.GateState
GripperInfo = robot_info.GripperInfo
LimbInfo = robot_info.LimbInfo
RobotInfo = robot_info.RobotInfo
SessionState = states.SessionState
Vec = npt.NDArray[np.float64]

Emits = Literal["joints", "pose", "axes"]
"""Kind of a limb's samples."""
Renders = Literal["none", "rumble", "sound", "torque"]
"""Kind of feedback that a leader renders."""
Reposture = Literal["ask", "auto"]
"""Decision that a stuck limb takes another posture."""
PowerOff = Literal["falls", "brakes"]
"""Behaviour of an arm without power."""
ClosePolicy = Literal["hold", "off"]
"""State in which a follower is left: with power, or without."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def readonly(values: npt.ArrayLike) -> Vec:
    """Return a read-only float64 copy."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """Joints of a device at one instant, arrays of (n,).

    Attributes:
        q: [rad] or [m].
        dq: [rad/s] or [m/s]; None: not measured.
        tau: [N·m] or [N]; None: not measured, never zeros.
    """

    joint_names: tuple[str, ...]
    q: Vec
    dq: Vec | None = None
    tau: Vec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbCommand:
    """Joints, pose or axes of one limb, and gripper opening.

    Attributes:
        q: As ``LeaderInfo.joint_names``, (n,), [rad].
        T_leader_base_leader_eef: REP-103 axes, [m].
        opening: 0 closed … 1 open.
        ahead: As ``LeaderInfo.path``, times from the stamp on, (``LeaderInfo.n_ahead``
            or fewer, 8).
        axes: Mean deflections since the last sample, −1 … 1.
    """

    q: Vec | None = None
    T_leader_base_leader_eef: pin.SE3 | None = None
    opening: float | None = None
    ahead: Vec | None = None
    axes: Vec | None = None
    mode: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderSample:
    """One snapshot of the operator.

    Attributes:
        stamp_ns: Of capture, monotonic on this host, [ns].
        seq: Strictly increasing per opened leader.
        engaged: Dead-man held or clutch closed.
        valid: Poses of invalid samples are never used.
    """

    stamp_ns: int
    seq: int
    limbs: Mapping[str, LimbCommand]
    engaged: bool = True
    valid: bool = True
    start: bool = False
    end: bool = False
    is_exhausted: bool = False
    leader_state: JointState | None = None
    limp_joints: tuple[str, ...] = ()
    actions: Actions = Actions()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderArm:
    """A limb of a leader that is an arm itself.

    Attributes:
        R_base: base_link to the operator's REP-103 axes, (3, 3).
        reset_q: Rest, (n_arm,), [rad]; None: unknown.
        tau_max: Of ``device_joints``, [N·m]; None: as the URDF.
        carries_itself: Its driver carries and damps it, beside ``Feedback.tau``.
        law_scale: On laws' default stiffnesses, which suit arms of 0.2 m.
    """

    urdf_path: Path
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    gripper: GripperInfo | None
    R_base: Vec
    reset_q: Vec | None = None
    tau_max: Vec | None = None
    carries_itself: bool = False
    law_scale: float = 1.0

    def __eq__(self, other: object) -> bool:
        # one field after the other: NumPy gives no truth of arrays that are compared
        if not isinstance(other, LeaderArm):
            return NotImplemented
        names = (f.name for f in fields(self))
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    def __hash__(self) -> int:
        return hash((self.urdf_path, self.base_link, self.eef_link, self.joint_names))

    @property
    def device_joints(self) -> tuple[str, ...]:
        """Joints of the arm, then of the gripper."""
        hand = () if self.gripper is None else (self.gripper.joint,)
        return (*self.joint_names, *hand)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderInfo:
    """Properties of a leader, known before it is opened.

    Attributes:
        axes: By limb, ``N_AXES`` at most.
        is_absolute: Poses hold in the follower's limb base frame.
        relative: Limbs excepted from that.
        is_human: Re-engaging needs a deliberate press (S3).
        is_measured: Samples have sensor noise; identical ones mean a stuck device.
        has_deadman: ``engaged`` counts once seen released; else the device is in use.
        has_trigger: ``opening`` counts once seen open.
        is_far: Invalid samples may mean a failed link.
        is_stamped_on_arrival: No clock is exchanged with the sender: stamps leave out
            a constant delay of the transport.
        renders: Vibration counts as ``rumble``.
        rate: Nominal, [Hz].
        look_ahead: ``latest`` uses data so long after its stamp, [s].
        arms: Their joints, then the gripper's, limb by limb, are those of
            ``LeaderSample.leader_state`` and ``Feedback.tau``.
        motion: Joints known beforehand, by limb, (rows, n), [rad].
        path: Poses known beforehand, by limb: rising times from the episode's start [s]
            and T_leader_base_leader_eef, xyz + quat_xyzw, (rows, 8). Absolute ones
            select the start posture.
    """

    limbs: tuple[str, ...]
    emits: Emits = "pose"
    joint_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    axis_speeds: AxisSpeeds = AxisSpeeds()
    is_absolute: bool = False
    relative: frozenset[str] = frozenset()
    is_human: bool = True
    is_measured: bool = False
    has_gripper: bool = False
    has_deadman: bool = False
    has_trigger: bool = False
    has_buttons: bool = False
    is_far: bool = False
    is_stamped_on_arrival: bool = False
    renders: Renders = "none"
    rate: float = 200.0
    sampling: Sampling = Sampling()
    look_ahead: float = 0.0
    arms: Mapping[str, LeaderArm] = field(default_factory=dict)
    engage_hint: str = ""
    parts: Mapping[str, LeaderInfo] = field(default_factory=dict)
    robot: str = ""
    motion: Mapping[str, Vec] = field(default_factory=dict, compare=False)
    path: Mapping[str, Vec] = field(default_factory=dict, compare=False)
    n_ahead: int = 0
    reposture: Reposture = "ask"

    def emits_joints(self, limb: str) -> bool:
        """Return whether a limb gives joints."""
        return limb in self.joint_names

    def emits_axes(self, limb: str) -> bool:
        """Return whether a limb gives axes."""
        return limb in self.axes

    def emits_places(self, limb: str) -> bool:
        """Return whether a limb's poses hold in the follower's base."""
        return self.is_absolute and limb not in self.relative

    def emits_poses(self, limb: str) -> bool:
        """Return whether a limb gives poses, directly or by joints."""
        return limb in self.arms or not (limb in self.joint_names or limb in self.axes)

    @property
    def device_joints(self) -> tuple[str, ...]:
        """Names of ``LeaderSample.leader_state``, as ``limb/joint``."""
        return tuple(
            f"{limb}/{joint}"
            for limb in self.limbs
            if limb in self.arms
            for joint in self.arms[limb].device_joints
        )


class Cues(NamedTuple):
    """Cues from the follower, 0 … 1; zeros unless the leader drives it.

    Attributes:
        contact: Deviation from the command.
        limit: Nearness to limits of position and speed.
        clearance: 1 while the gate keeps clear of a body.
    """

    contact: float = 0.0
    limit: float = 0.0
    clearance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Newest state and feedback that the session sends to a leader.

    Attributes:
        stamp_ns: Of posting, monotonic, [ns].
        drives: By limb; None: all, if engaged.
        tau: By leader limb: joints, then the gripper's, [N·m].
        rumble: Flicker-free amplitude of all cues, 0 … 1.
        touch: Of contact.
        warning: Of limits and clearance.
        standing: Reason that the robot stands although it is asked to move.
        is_recorded: An episode is being recorded; False from another host.
    """

    stamp_ns: int
    state: SessionState
    episode: int
    is_engaged: bool
    drives: tuple[bool, ...] | None = None
    tau: Mapping[str, Vec] = field(default_factory=dict)
    cues: Cues = Cues()
    rumble: float = 0.0
    touch: float = 0.0
    warning: float = 0.0
    n_keeps: int = 0
    n_plays: int = 0
    n_cues: int = 0
    standing: str = ""
    is_recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerState:
    """Measurements of the follower at one instant, vectors of (n,).

    Attributes:
        stamp_ns: Monotonic, [ns].
        q: As ``RobotInfo.joint_names``, [rad] or [m].
        dq: [rad/s] or [m/s].
        tau: [N·m] or [N]; None: not measured, never zeros; NaN of arms without it.
        sim_time: [s].
        objects: T_world_object, xyz + quat_xyzw, rows as ``Follower.objects``, (o, 7);
            NaN: absent.
        q_held: Held without new commands; None: last command.
    """

    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec | None = None
    sim_time: float | None = None
    objects: Vec | None = None
    stop_reason: str = ""
    q_held: Vec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerInfo:
    """Properties of an opened follower.

    Attributes:
        rate: Of commands, [Hz].
        state_rate: Of measurements, if lower, [Hz].
        lag: Identified, q_cmd to q, [s].
        sag: Distance from a command by weight, [rad].
        tool_speed: Eef speed beyond which it stops by itself, [m/s].
        has_unattended_stop: It stops by itself without commands (K3).
    """

    joint_names: tuple[str, ...]
    rate: float
    state_rate: float = math.inf
    lag: float = 0.0
    sag: float = 0.0
    tool_speed: float = math.inf
    has_effort: bool = False
    has_unattended_stop: bool = False
    power_off: PowerOff = "falls"
    simulated: bool = False
    scene: Mapping[str, str] = field(default_factory=dict)
    bodies: tuple[SceneBody, ...] = ()
