"""The three contracts a plug-in fills, and how it announces itself.

A plug-in is a folder ``leaders/<name>`` or ``followers/<name>`` (or an entry point of
the groups ``paprle.leaders``, ``paprle.followers``, ``paprle.feedback``) whose
``__init__.py`` holds one ``PLUGIN = PluginSpec(...)``. Everything else is loaded only
when the device is asked for. ``paprle.testing`` has a suite for each contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paprle.types import (
    Feedback,
    FollowerInfo,
    FollowerState,
    JointState,
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
            clock)`` or ``FeedbackLaw(config)``.
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
        """Take note of the session's state and render its torques, without blocking."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackInput:
    """Everything a feedback law may look at, for one limb, at one instant.

    Attributes:
        leader: The leader's own joints.
        follower: The follower's joints of this limb.
        q_gate: What the gate sent, shape (n,), [rad].
        J_leader: Body Jacobian of the leader's eef, shape (6, m), linear first.
        clearance: Smallest clearance the gate saw, [m]; +inf when it knows of none.
        dt: Time since the last call, [s].
    """

    leader: JointState
    follower: JointState
    q_gate: Vec
    J_leader: Vec | None
    clearance: float
    dt: float


class FeedbackLaw(ABC, Generic[State]):
    """A pure law from what both sides do to what the operator feels.

    No I/O, no thread, no clock: its memory is the state that it returns.
    """

    @abstractmethod
    def initial(self) -> State:
        """Return the state before the first call."""

    @abstractmethod
    def compute(self, inputs: FeedbackInput, state: State) -> tuple[Vec, State]:
        """Return leader torques, shape (m,), [N·m], and the next state."""
