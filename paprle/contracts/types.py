"""Frozen values that travel between the rooms; no behaviour, no I/O.

Units are SI. A joint vector has the order of the ``joint_names`` it travels with: for a
robot all its actuated joints, continuous ones included, one number each. ``T_a_b`` is
the pose of frame b in frame a. Arrays are float64, and read-only in these values.
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

from paprle.contracts import actions, robot_info, states
from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.kit.sampling import Sampling
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
    """Return a float64 copy that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """Joints of a device at one instant.

    Attributes:
        joint_names: Names, in the order of the arrays.
        q: Positions, shape (n,), [rad] or [m].
        dq: Velocities, shape (n,), [rad/s] or [m/s]; None when not measured.
        tau: Efforts, shape (n,), [N·m] or [N]; None when not measured, never zeros.
    """

    joint_names: tuple[str, ...]
    q: Vec
    dq: Vec | None = None
    tau: Vec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbCommand:
    """Command of a leader for one limb: joints, a pose or axes, and gripper opening.

    Attributes:
        q: Joint positions, shape (n,), in the order of ``LeaderInfo.joint_names`` of
            this limb, [rad]; None when the leader gives a pose.
        T_leader_base_leader_eef: Pose of the leader's eef in the leader's base, REP-103
            axes, [m]; None when the leader gives joints.
        opening: Gripper opening, 0 closed … 1 open; None when the leader has none.
        ahead: The poses that will follow, as far as they are known (a chunk of a
            policy): times from the sample's stamp on [s], rising, and poses as in
            ``LeaderInfo.path``, shape (``LeaderInfo.n_ahead`` or fewer, 8).
        axes: Deflections in [-1, 1], 0 at rest, shape (m,), in the order of
            ``LeaderInfo.axes`` of this limb, each the mean since the sample before;
            None when the leader gives something else.
        mode: How many modes of its axes the operator has gone on since the leader was
            opened, less those gone back: a counter, whatever number of modes there is.
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
        stamp_ns: Capture time on the monotonic clock of this host, [ns].
        seq: Strictly increasing per opened leader.
        limbs: Commands by leader limb name.
        engaged: The operator holds the dead-man (or the clutch is closed).
        valid: The device tracks; a pose of an invalid sample is never used.
        start: The operator's start signal (a level).
        end: The operator's end-of-episode signal (a level).
        is_exhausted: The leader will never again have anything to say (end of file).
        leader_state: The device's own joints, where it has some.
        limp_joints: Those of them that render no torque whatever is asked.
        actions: How often each was asked for by the device's own buttons.
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
    """One limb of a leader that is an arm itself, so that its pose can be computed.

    Attributes:
        urdf_path: The leader's own URDF, one arm.
        base_link: Link in which its pose is expressed.
        eef_link: Link that the operator holds.
        joint_names: Arm joints, in the order of ``LimbCommand.q``.
        gripper: Its gripper's joint in that URDF; None when it has none.
        R_base: From the axes of base_link to the operator's, REP-103, shape (3, 3):
            how it is mounted.
        reset_q: Where its arm joints rest, shape (n_arm,), [rad]; None: not known.
        tau_max: Largest torque of its motors at ``device_joints``, shape (m,), [N·m];
            None: as its URDF says, which may be that of a larger arm.
    """

    urdf_path: Path
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    gripper: GripperInfo | None
    R_base: Vec
    reset_q: Vec | None = None
    tau_max: Vec | None = None

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
        """All its joints: those of the arm, then the gripper's."""
        hand = () if self.gripper is None else (self.gripper.joint,)
        return (*self.joint_names, *hand)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderInfo:
    """Properties of a leader, known from its config before it is opened.

    Attributes:
        limbs: Leader limb names, in order.
        emits: ``joints``, ``pose`` or ``axes``, for all limbs.
        joint_names: Joint names by limb, for leaders that emit joints.
        axes: Names of the axes by limb, ``N_AXES`` at most, for leaders that emit axes.
        axis_speeds: Speeds at full deflection.
        is_absolute: Poses are meant in the follower's limb base frame as they are.
        relative: Limbs of which this does not hold all the same, where limbs differ.
        is_human: A person holds it, so re-engaging needs a deliberate press (S3).
        is_measured: Poses or joints carry a sensor's noise, so that bit-identical ones
            for seconds mean that the device is stuck. Encoders at rest do not.
        has_gripper: Samples carry ``opening``.
        is_far: Its device is on another host: a sample that is not valid may mean that
            the link failed.
        has_deadman: ``engaged`` is a dead-man or clutch that a person holds: it counts
            once it was seen released. Else ``engaged`` says that the device is in use.
        has_trigger: ``opening`` is a trigger's, which rests open: it counts once it was
            seen there.
        has_buttons: Samples carry ``actions``: a stop can be cleared with the device.
        renders: How it renders ``Feedback``; vibration is ``rumble``, too.
        rate: Nominal rate of new samples, [Hz].
        sampling: In which order they count, and how old they may be.
        look_ahead: How far ``latest`` uses data from the future of its stamp, [s].
        arms: Limbs that are arms with joints of their own, by leader limb. Their
            ``LeaderSample.leader_state`` holds, limb by limb, arm joints and then the
            gripper's joint; so do the torques of ``Feedback.tau``.
        engage_hint: What a person does with the device itself to start, and to go on
            after a silence ("open all grippers, …"); empty: a key is all there is.
        parts: The leaders it is made of, by name, where several are seen as one
            (``paprle.contracts.kit.leader_group``).
        robot: The robot whose own joints it plays, where that is known: then equal
            names of joints mean the same joints.
        motion: The joint positions it will play, where they are known beforehand, by
            limb, shape (rows, n), [rad]; held against the robot's limits.
        path: The poses it will play from the start of an episode, where they are known
            beforehand (a file, an episode of a dataset), by limb: times [s], rising,
            and T_leader_base_leader_eef as (x, y, z, qx, qy, qz, qw), shape (rows, 8).
            Where poses are absolute the robot starts in the posture that follows most
            of it.
        n_ahead: Most rows of ``LimbCommand.ahead``; 0: samples know nothing of what
            follows.
        reposture: What happens where a limb is stuck and another posture reaches its
            target: ``ask`` the operator, or change over, ``auto``.
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
        """Whether a limb gives joint positions, and not poses."""
        return limb in self.joint_names

    def emits_axes(self, limb: str) -> bool:
        """Whether a limb gives deflections of axes."""
        return limb in self.axes

    def emits_places(self, limb: str) -> bool:
        """Whether a limb's poses are meant in the follower's base as they are."""
        return self.is_absolute and limb not in self.relative

    def emits_poses(self, limb: str) -> bool:
        """Whether a limb gives poses, of its own or by its joints."""
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
    """Cues from the follower, each 0 … 1; zeros unless the leader drives it.

    Attributes:
        contact: How far the follower is held away from its command.
        limit: How near limits of position and speed are, or how far they hold back.
        clearance: 1 while the gate keeps clear of something, 0 where nothing is near.
    """

    contact: float = 0.0
    limit: float = 0.0
    clearance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """State and feedback that the session sends to a leader; the newest one wins.

    Attributes:
        stamp_ns: Time of posting on the monotonic clock, [ns].
        state: The session's state.
        episode: Number of the episode, counted from 0.
        is_engaged: The leader's motion drives the follower at this moment.
        drives: Which of its limbs do, as ``LeaderInfo.limbs``; None: all, if engaged.
        tau: Torques by leader limb: joints of its URDF, then the gripper's, [N·m].
        cues: Cues from the follower, for leaders that show or sound them.
        rumble: One amplitude from the cues, 0 … 1, which does not flicker; so are
            ``touch``, of contact alone, and ``warning``, of limits and clearance.
        n_keeps: How often the operator asked to keep the robot's pose.
        n_plays: How often they asked to play what was kept, or to end that.
        n_cues: How often a suggestion went beyond its threshold.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerState:
    """Measurements of the follower at one instant.

    Attributes:
        stamp_ns: When it was measured, monotonic, [ns].
        q: Positions, shape (n,), order of ``RobotInfo.joint_names``, [rad] or [m].
        dq: Velocities, shape (n,), [rad/s] or [m/s].
        tau: Efforts, shape (n,), [N·m] or [N]; None when not measured, never zeros.
        sim_time: Simulated time, [s]; None for real robots.
        objects: T_world_object as rows xyz + quat_xyzw, in the order of
            ``Follower.objects``, shape (o, 7); NaN where one is not there; None without
            objects.
        stop_reason: The robot's own protective stop or fault; empty when there is none.
        q_held: Where the robot holds by itself when commands have stopped coming,
            shape (n,); None: at the last command.
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
        joint_names: Actuated joints, the same as ``RobotInfo.joint_names``.
        rate: How often it wants to be written to, [Hz].
        state_rate: How often it measures, if less often, [Hz].
        lag: Identified delay between q_cmd and q, [s].
        has_effort: It measures joint efforts.
        has_unattended_stop: It stops by itself when no commands come (K3).
        power_off: ``falls`` or ``brakes``: what the arm does when its power goes.
        simulated: True for kinematic and simulated followers.
        scene: Description for viewers, for example the path of a model file.
        bodies: Bodies in its world, for viewers.
    """

    joint_names: tuple[str, ...]
    rate: float
    state_rate: float = math.inf
    lag: float = 0.0
    has_effort: bool = False
    has_unattended_stop: bool = False
    power_off: PowerOff = "falls"
    simulated: bool = False
    scene: Mapping[str, str] = field(default_factory=dict)
    bodies: tuple[SceneBody, ...] = ()
