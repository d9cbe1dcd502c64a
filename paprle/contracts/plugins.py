"""The contracts a plug-in fills, and how it announces itself.

A plug-in is a folder ``leaders/<name>``, ``followers/<name>``, ``observers/<name>`` or
``links/<name>``, or a module of ``feedback`` (or an entry point of the group
``paprle.leaders`` and so on) whose
``__init__.py`` holds one ``PLUGIN = PluginSpec(...)``. Everything else is loaded only
when the device is asked for. ``paprle.testing`` has a suite for each contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import (
    Feedback,
    FollowerInfo,
    FollowerState,
    LeaderInfo,
    LeaderSample,
    RobotInfo,
    Vec,
)

Clock = Callable[[], int]
"""Returns monotonic time in [ns]; ``time.monotonic_ns`` or a ``ManualClock``."""

State = TypeVar("State")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """Where a plug-in's parts are, as ``module:attribute``; nothing is imported yet.

    Attributes:
        summary: One line for ``paprle list``.
        config: Its frozen config dataclass.
        factory: Its class: ``Leader(config, clock)``, ``Follower(config, robot,
            clock)``, ``FeedbackLaw(config)``, ``Observer(config, robot, clock)`` or
            ``Link(config, name, is_leader)``.
        verified: What it was verified with: ``none``, ``emulator``, ``simulator`` or
            ``hardware``.
        install: Command that installs what it needs beyond the core; may be empty.
    """

    summary: str
    config: str
    factory: str
    verified: str = "none"
    install: str = ""


class Leader(ABC):
    """A device in the operator's hand.

    It is constructed from its validated config and a clock, and does nothing until
    ``open``. All methods are called from one thread of the leader process.
    """

    def __init__(self, config: Any, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    @property
    @abstractmethod
    def info(self) -> LeaderInfo:
        """What it is; known from the config alone, before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Connect, and raise once with everything that is wrong.

        Raises:
            DeviceError: If the device cannot be reached or its data cannot be read.
        """

    @abstractmethod
    def latest(self) -> LeaderSample | None:
        """Return the newest sample without ever blocking; None before the first."""

    def apply(self, feedback: Feedback) -> None:  # noqa: B027 - a declared no-op
        """Take note of the state; render torques, rumble or cues; never block."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the device, torque off; may be called twice, never raises."""


class Follower(ABC):
    """A robot in its world.

    It is constructed from its validated config, the robot and a clock, and does
    nothing until ``open``. All methods are called from the gate process alone, in the
    order read, write, once each period. A simulated follower advances its own time by
    one period in each ``write``.
    """

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        self.config = config
        self.robot = robot
        self.clock = clock

    @property
    def goes_on_unattended(self) -> bool:
        """Whether a real robot goes on with its last command when nobody speaks to it.

        Known from the config alone, so that leave for it is asked before ``open`` gives
        the robot power; it is the opposite of ``FollowerInfo.has_unattended_stop``.
        """
        return False

    @abstractmethod
    def open(self) -> FollowerInfo:
        """Connect without moving anything.

        Raises:
            DeviceError: If the robot cannot be reached, or is not the robot expected.
        """

    @abstractmethod
    def read(self) -> FollowerState:
        """Return the newest measured state without blocking."""

    @abstractmethod
    def write(self, q_cmd: Vec) -> None:
        """Send one command, shape (n,), order of ``RobotInfo.joint_names``."""

    @abstractmethod
    def close(self, policy: str) -> None:
        """Leave the robot: ``hold``, or ``off``; may be called twice, never raises."""


class Link(ABC):
    """Carries datagrams between the leader's host and the follower's.

    They may be lost, doubled, late or out of order, and anybody may have sent them:
    what they hold is sealed above. All methods are called from one thread.
    """

    def __init__(self, config: Any, name: str, *, is_leader: bool) -> None:
        """Make one end.

        Args:
            config: ``LinkSettings``.
            name: The robot's.
            is_leader: Which end it is.
        """
        self.config = config
        self.name = name
        self.is_leader = is_leader

    @abstractmethod
    def open(self) -> None:
        """Join the network.

        Raises:
            DeviceError: If it cannot.
        """

    @abstractmethod
    def send(self, data: bytes, *, must_arrive: bool = False) -> bool:
        """Send a datagram without waiting; False when there is no room for it."""

    @abstractmethod
    def receive(self) -> list[bytes]:
        """Return what has arrived since the last call; never blocks."""

    @abstractmethod
    def close(self) -> None:
        """Leave the network; may be called twice, never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackInput:
    """Everything a feedback law may look at, for one leader limb, at one instant.

    The follower is carried back to the leader: in the leader's own joints where joint
    drives joint, and as displacements of the leader's eef where its pose drives. What
    has no counterpart, or was not measured, is NaN and never zero. Displacements are
    linear first, in the axes of the leader's eef, in the follower's metres.

    Attributes:
        q: The leader's joints, arm and then gripper, shape (m,), [rad].
        dq: Their velocities, shape (m,), [rad/s].
        n_arm: How many of them are the arm's.
        q_gate: What the gate sent, shape (m,), [rad].
        q_follower: Where the follower is, shape (m,), [rad].
        q_model: Where it would be if nothing touched it: the gate's command behind the
            follower's identified lag, shape (m,), [rad].
        tau_follower: Its measured efforts, shape (m,), [N·m].
        gain_squared: Σ gain² over the follower's joints that a joint drives: so much of
            their stiffness is felt, shape (m,).
        dx_gate: From where the leader asks its eef to be to what the gate sent, (6,).
        dx_follower: From what the gate sent to where the follower is, (6,).
        dx_model: From where it would be if nothing touched it to where it is, (6,).
        scale: Of translations, follower over leader.
        J: Body Jacobian of the leader's eef, or of the robot's that stands for it
            (``retarget.through``), shape (6, n_arm); None without a URDF.
        gravity: Torques that hold the leader's own weight, shape (m,), [N·m].
        gravity_gradient: Their derivative by q, shape (m, m), [N·m/rad]; given at load
            alone, where stability is judged.
        damping: The leader's own damping as measured, or a guess, (m,), [N·m·s/rad].
        viscous: Its viscous friction, NaN where not measured, (m,), [N·m·s/rad].
        coulomb: Its dry friction, shape (m,), [N·m].
        q_base: Where the leader rests, shape (m,), [rad].
        q_min: Lowest positions that neither side forbids, shape (m,), [rad].
        q_max: Highest ones, shape (m,).
        clearance: Smallest clearance the gate saw, [m]; +inf when it knows of none.
        is_near: The gate keeps the follower clear of something.
        is_free: What the joint drives moves as the model says, and the gate holds
            nothing back: the same for all joints of an arm, and a gripper's own, (m,).
        dt: Time since the last call, [s].
    """

    q: Vec
    dq: Vec
    n_arm: int
    q_gate: Vec
    q_follower: Vec
    q_model: Vec
    tau_follower: Vec
    gain_squared: Vec
    dx_gate: Vec
    dx_follower: Vec
    dx_model: Vec
    scale: float
    J: Vec | None
    gravity: Vec
    gravity_gradient: Vec | None = None
    damping: Vec
    viscous: Vec
    coulomb: Vec
    q_base: Vec
    q_min: Vec
    q_max: Vec
    clearance: float
    is_near: bool
    is_free: npt.NDArray[np.bool_]
    dt: float


class Stiffness(NamedTuple):
    """How steeply a law's torque falls with the leader's position, at worst.

    Attributes:
        local: Against references that stand still, shape (m, m), [N·m/rad].
        delayed: Against the measured or modelled follower, whose lag is a delay of the
            spring as well, shape (m, m), [N·m/rad].
    """

    local: Vec
    delayed: Vec


class FeedbackLaw(ABC, Generic[State]):
    """A pure law from what both sides do to what the operator feels.

    It is constructed from its validated config, which extends ``LawSettings``. No I/O,
    no thread, no clock: its memory is the state that it returns.

    Attributes:
        needs_follower: It renders the follower, so it is silent unless the leader
            drives, and its energy is watched. Others render the leader itself.
        velocity_lag: Time constant with which it filters the velocity that it damps,
            [s].
    """

    needs_follower: ClassVar[bool] = True
    velocity_lag: float = 0.0

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def initial(self) -> State:
        """Return the state before the first call."""

    @abstractmethod
    def compute(self, inputs: FeedbackInput, state: State) -> tuple[Vec, State]:
        """Return leader torques, shape (m,), [N·m], finite, and the next state."""

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return its stiffness in a posture; no less than −∂tau/∂q may ever be.

        The core adds up those of all laws over the leader's workspace and refuses what
        the leader's damping cannot hold (F2). Of the inputs, ``q``, ``n_arm``,
        ``gain_squared``, ``scale``, ``J`` and ``gravity_gradient`` say something here,
        and NaN elsewhere says that it is never given.
        """
        zero = np.zeros((inputs.q.size, inputs.q.size))
        return Stiffness(zero, zero)

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return what it adds to the leader's damping, shape (m,), [N·m·s/rad].

        Negative where it cancels friction. What is added is counted as late as the loop
        is, and behind ``velocity_lag``.
        """
        return np.zeros(inputs.q.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """What a session did last, for those who tell others of it.

    Stamps are those of the session's monotonic clock, [ns]. Joint vectors have the
    order of ``RobotInfo.joint_names``, shape (n,), [rad] or [m].

    Attributes:
        stamp_ns: Of the session's tick.
        episode: Number of the episode, counted by the session.
        is_engaged: The leader drives.
        captured_ns: When the leader's sample was taken; 0: it has said nothing.
        posted_ns: When the set-point left for the gate.
        computed_ns: How long the tick computed, retargeting and IK, [ns].
        targets: T_base_eef asked for, by limb, as xyz + quat_xyzw, shape (7,); NaN
            where the leader gives joints.
        q_des: Asked for.
        written_ns: When the gate wrote its command.
        q_cmd: The command.
        dq_cmd: Its velocity.
        measured_ns: When the robot was measured.
        q: Measured positions.
        dq: Measured velocities.
        tau: Measured efforts; NaN: none.
    """

    stamp_ns: int
    episode: int
    is_engaged: bool
    captured_ns: int
    posted_ns: int
    computed_ns: int
    targets: Mapping[str, Vec]
    q_des: Vec
    written_ns: int
    q_cmd: Vec
    dq_cmd: Vec
    measured_ns: int
    q: Vec
    dq: Vec
    tau: Vec


class Observer(ABC):
    """Tells others what a session does.

    It lives in a process of its own, which is given what is newest ``observers.rate``
    times a second, so that neither its speed nor its end matters to the robot.
    """

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        self.config = config
        self.robot = robot
        self.clock = clock

    @abstractmethod
    def open(self) -> None:
        """Begin.

        Raises:
            DeviceError: If it cannot; the session then does not start.
        """

    @abstractmethod
    def observe(self, view: SessionView) -> None:
        """Tell this."""

    @abstractmethod
    def close(self) -> None:
        """End; may be called twice, never raises."""
