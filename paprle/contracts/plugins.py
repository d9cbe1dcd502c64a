"""The contracts a plug-in fills, and how it announces itself.

A plug-in is a folder ``leaders/<name>`` or a module ``feedback/<name>.py``, the same of
another kind (``paprle.contracts.kinds`` has them all), or an entry point of the group
``paprle.leaders`` and so on. It holds one ``PLUGIN = PluginSpec(...)``; everything else
is loaded only when the device is asked for. ``paprle.testing`` has a suite for each
contract.

The values that contracts pass to and fro can be imported from here, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paprle.contracts.device import Device, Dialogue
from paprle.contracts.errors import ConfigError
from paprle.contracts.feedback_law import FeedbackInput, FeedbackLaw, Stiffness
from paprle.contracts.film import Film
from paprle.contracts.images import CameraInfo, FoundCamera, Frame, RobotPose
from paprle.contracts.operator_requests import Hands, Wishes
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import Advice, Record, SessionView, make_advice_dtype
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.types import (
    ClosePolicy,
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

Verified = Literal["none", "emulator", "simulator", "hardware"]
"""Means by which a plug-in was verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """Description of a plug-in: its parts as ``module:attribute``, not yet imported.

    Attributes:
        summary: One line for ``paprle list``.
        config: Its frozen config dataclass.
        factory: Its class: ``Leader(config, clock)``, ``Follower(config, robot,
            clock)``, ``FeedbackLaw(config)``, ``Observer(config, robot, clock)``,
            ``Advisor(config, robot, cameras, clock)``, ``Camera(config, clock)`` or
            ``Link(config, name, is_leader)``.
        verified: What it was verified with.
        install: Command that installs what it needs beyond the core; may be empty.
        packages: Import names of the packages without which it does not open and which
            its class loads only then; a dry run names those that are not installed.
    """

    summary: str
    config: str
    factory: str
    verified: Verified = "none"
    install: str = ""
    packages: tuple[str, ...] = ()


class Leader(Device):
    """A device in the operator's hand.

    It is constructed from its validated config and a clock, and does nothing until
    ``open``. All methods are called from one thread of the leader process.

    Attributes:
        is_at_page: It is moved at the session's page, which it is told of by ``hear``.
        keeps_poses: It answers to the actions ``keep`` and ``play``.
    """

    is_at_page: bool = False
    keeps_poses: bool = False

    def __init__(self, config: Any, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    def meet(self, robot: RobotInfo) -> None:
        """Take note of the robot it will drive, where there is one; before ``info``."""

    def hear(self, hands: Hands) -> None:
        """Take what somebody wants at the page, each time that it changes."""

    @property
    @abstractmethod
    def info(self) -> LeaderInfo:
        """Properties of the leader, known from the config alone, before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Connect, and raise once with everything that is wrong.

        Raises:
            DeviceError: If the device cannot be reached or its data cannot be read.
        """

    @abstractmethod
    def latest(self) -> LeaderSample | None:
        """Return the newest sample without ever blocking; None before the first."""

    def apply(self, feedback: Feedback) -> None:
        """Take note of the state; render torques, rumble or cues; never block."""

    @property
    def is_at_rest(self) -> bool:
        """Whether nobody uses the device, so that it may be asked only every 20 ms.

        Any thread. It is True at most while the session waits, and False from the
        moment that the device is moved or a signal is being given.
        """
        return False

    @abstractmethod
    def close(self) -> None:
        """Let go of the device, torque off; may be called twice, never raises."""


class Follower(Device):
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
    def objects(self) -> tuple[str, ...]:
        """Names of the objects whose poses ``FollowerState.objects`` may hold.

        Its config says them (``FollowerSettings.objects``), so that every process of a
        session knows them without loading the follower.
        """
        config = self.config
        return config.objects if isinstance(config, FollowerSettings) else ()

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
    def close(self, policy: ClosePolicy = "hold") -> None:
        """Leave the robot with power or without; may be called twice, never raises."""


class Link(Device):
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
    def send(self, data: bytes) -> bool:
        """Send a datagram without waiting; False when there is no room for it.

        Args:
            data: It; a ``Datagram`` with an address goes there, any other to the peer.
        """

    @abstractmethod
    def receive(self) -> list[bytes]:
        """Return what has arrived since the last call; never blocks.

        A carrier on which anybody may send returns each as a ``Datagram`` with the
        sender's address. It learns nothing from it: seals are opened above, and
        answers say themselves where they go.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave the network; may be called twice, never raises."""


class Observer(Device):
    """Tells others what a session does.

    It lives in a process of its own, which is given what is newest ``observers.rate``
    times a second, so that neither its speed nor its end matters to the robot.

    Attributes:
        has_controls: Somebody may act with it, which ``wishes`` tells.
    """

    has_controls: ClassVar[bool] = False

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        self.config, self.robot, self.clock = config, robot, clock

    @property
    def wishes(self) -> Wishes:
        """Requests of its users so far; counters never fall."""
        return Wishes()

    def resume(self, wishes: Wishes) -> None:
        """Go on from what it asked for before its process was lost; before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Begin.

        Raises:
            DeviceError: If it cannot; the session then does not start.
        """

    def set_proximity_source(self, find_near: FindNear) -> None:
        """Take the function that finds bodies near each other; before ``open``.

        The function computes in the calling process; its first call takes a while.
        """

    def set_scene(self, bodies: Sequence[SceneBody]) -> None:
        """Take what stands and lies around the robot; before ``open``."""

    def play(self, film: Film) -> None:
        """Show a film in place of a session; before ``open``.

        Raises:
            MissingDependency: If a package is missing that this needs.
            ConfigError: If it cannot.
        """
        raise ConfigError(f"{type(self).__name__}: expected a session, got {film.name}")

    @abstractmethod
    def observe(self, view: SessionView) -> None:
        """Show, send or keep the newest view of the session."""

    def show(
        self, frames: Mapping[str, Frame], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Take images that are new, by camera; who does not fill this is given none."""

    def lose(self, cameras: Collection[str]) -> None:
        """Take note that these have no newest image any more, until ``show``."""

    @abstractmethod
    def close(self) -> None:
        """End; may be called twice, never raises."""


class Advisor(Device):
    """Suggests: slow, in a process of its own, and never trusted.

    What it says is used while it is fresh, as a goal or a velocity within limits of
    whoever uses it; without it nothing stops and nothing jumps. It is constructed from
    its validated config, which extends ``AdvisorSettings``, the robot, the cameras of
    the session and a clock, without its SDK: that is ``open``'s to load.
    """

    def __init__(
        self,
        config: Any,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        self.config = config
        self.robot = robot
        self.cameras = cameras
        self.clock = clock

    @property
    @abstractmethod
    def advice(self) -> np.dtype[np.void]:
        """Type of its record (``make_advice_dtype``); known before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Load what it needs.

        Raises:
            DeviceError: If it cannot advise.
            MissingDependency: If a package is missing; says what installs it.
        """

    @abstractmethod
    def advise(self, view: SessionView, frames: Mapping[str, Frame]) -> Record | None:
        """Return one record of type ``advice``; None when it has no advice.

        Args:
            view: The newest view of the session.
            frames: The newest image of each camera that has one, by name.

        Returns:
            Advice: ``stamp_ns`` is its time, ``based_on_ns`` the stamp of the data that
            it rests on; ``valid`` is False to withdraw the advice before. The call may
            take 100 ms and more: slow advice is only old.
        """

    def make_advice(self, based_on_ns: int, *, valid: bool = True) -> Record:
        """Return a record of its type, filled in but for its own fields, zeros."""
        record: Record = np.zeros((), dtype=self.advice)
        record["stamp_ns"], record["based_on_ns"] = self.clock(), based_on_ns
        record["valid"] = valid
        return record


class Camera(Device):
    """Gives images, in a process of its own; ``open`` and ``grab`` may block.

    Its config extends ``CameraSettings`` where its images are to be recorded. All is
    called from one thread; after a ``DeviceError`` it is closed, and opened again. One
    that connects to nothing is ``info`` and ``grab`` alone.
    """

    def __init__(self, config: Any, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    @classmethod
    def find(cls) -> Iterable[FoundCamera]:
        """Return the cameras of this kind that are there, opening none."""
        return ()

    @property
    @abstractmethod
    def info(self) -> CameraInfo:
        """Properties of its images, known from the config alone, before ``open``."""

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Source of its stamps once open: device, mapped to our clock, or arrival."""
        return "arrival"

    def watch(
        self,
        robot: RobotInfo,
        world: Mapping[str, Any],
        look: Callable[[], RobotPose | None],
    ) -> None:
        """Take the robot, its env's config and a source of its pose, to draw it."""

    def open(self) -> None:
        """Connect.

        Raises:
            DeviceError: If it cannot be reached, or gives other images than ``info``.
        """

    def close(self) -> None:
        """Let go of it; may be called twice, never raises."""

    @abstractmethod
    def grab(self, timeout: float) -> Frame | None:
        """Return the next image; None when none came within the time-out, [s].

        Raises:
            DeviceError: If there will be none until it is opened again.
        """


__all__ = [
    "Advice",
    "Advisor",
    "Camera",
    "CameraInfo",
    "Clock",
    "Device",
    "Dialogue",
    "FeedbackInput",
    "FeedbackLaw",
    "Follower",
    "FoundCamera",
    "Frame",
    "Hands",
    "Leader",
    "Link",
    "Observer",
    "PluginSpec",
    "Record",
    "RobotPose",
    "SessionView",
    "Stiffness",
    "Verified",
    "Wishes",
    "make_advice_dtype",
]
