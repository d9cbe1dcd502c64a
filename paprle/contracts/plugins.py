"""Contracts of plug-ins, each a folder, module or entry point with ``PLUGIN``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from paprle.contracts.device import Device, Dialogue
from paprle.contracts.errors import DeviceError
from paprle.contracts.feedback_law import FeedbackInput, FeedbackLaw, Stiffness
from paprle.contracts.images import CameraInfo, FoundCamera, Frame, RobotPose
from paprle.contracts.operator.requests import Hands, Wishes
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.searches.arm_search import ArmSearch
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
        factory: ``Leader(config, clock)``, ``Follower(config, robot, clock)``,
            ``FeedbackLaw(config)``, ``Observer(config, robot, clock)``,
            ``Advisor(config, robot, cameras, clock)``, ``Camera(config, clock)`` or
            ``Link(config, name, is_leader)``.
        packages: Lazily loaded, checked by a dry run.
        servos: ``ServoSearch()`` of a leader, if any.
        has_parts: Further keys of a follower's settings are limbs with own envs
            (``PartSettings``).
    """

    summary: str
    config: str
    factory: str
    verified: Verified = "none"
    install: str = ""
    packages: tuple[str, ...] = ()
    servos: str = ""
    has_parts: bool = False


class Leader(Device):
    """A device in the operator's hand, called from one thread."""

    is_at_page: bool = False
    keeps_poses: bool = False

    def __init__(self, config: Any, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    def meet(self, robot: RobotInfo) -> None:
        """Receive the robot it will drive, before ``info``."""

    def hear(self, hands: Hands) -> None:
        """Receive changed targets of the page."""

    @property
    @abstractmethod
    def info(self) -> LeaderInfo:
        """Properties of the leader, known before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Connect; raise DeviceError if device or data are unreadable."""

    @abstractmethod
    def latest(self) -> LeaderSample | None:
        """Return the newest sample without blocking, if any."""

    def apply(self, feedback: Feedback) -> None:
        """Render torques, rumble or cues without blocking."""

    @property
    def is_at_rest(self) -> bool:
        """Whether the device is unused and polled every 20 ms only; any thread."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Release the device, torque off; idempotent, never raises."""


class Follower(Device):
    """A robot, called from the gate process only.

    Each period calls ``read``, then ``write``, which advances simulated time.
    """

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        self.config = config
        self.robot = robot
        self.clock = clock

    @classmethod
    def search(cls) -> ArmSearch | None:
        """Return the search for connected arms, if any."""
        return None

    @property
    def objects(self) -> tuple[str, ...]:
        """Objects whose poses ``FollowerState.objects`` may hold."""
        config = self.config
        return config.objects if isinstance(config, FollowerSettings) else ()

    @property
    def goes_on_unattended(self) -> bool:
        """Whether a real robot continues its last command."""
        return False

    @abstractmethod
    def open(self) -> FollowerInfo:
        """Connect without motion; raise DeviceError on failure."""

    @abstractmethod
    def read(self) -> FollowerState:
        """Return the newest measured state without blocking."""

    @abstractmethod
    def write(self, q_cmd: Vec) -> None:
        """Send one command as ``RobotInfo.joint_names``, (n,)."""

    @abstractmethod
    def close(self, policy: ClosePolicy = "hold") -> None:
        """Release the robot, powered or not; idempotent, never raises."""


class Link(Device):
    """Carrier of datagrams between two hosts, called from one thread.

    They may be lost, doubled, late, reordered or forged; seals are checked above.
    """

    def __init__(self, config: Any, name: str, *, is_leader: bool) -> None:
        self.config = config
        self.name = name
        self.is_leader = is_leader

    @abstractmethod
    def open(self) -> None:
        """Join the network; raise DeviceError on failure."""

    @abstractmethod
    def send(self, data: bytes) -> bool:
        """Send to a ``Datagram``'s address or the peer; False without room."""

    @abstractmethod
    def receive(self) -> list[bytes]:
        """Return new datagrams without blocking."""

    @abstractmethod
    def close(self) -> None:
        """Leave the network; idempotent, never raises."""


class Observer(Device):
    """Output of a session's state, in its own process."""

    has_controls: ClassVar[bool] = False

    def __init__(self, config: Any, robot: RobotInfo, clock: Clock) -> None:
        self.config, self.robot, self.clock = config, robot, clock

    @property
    def wishes(self) -> Wishes:
        """Requests of its users; counters never fall."""
        return Wishes()

    def resume(self, wishes: Wishes) -> None:
        """Restore the requests of a lost process, before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Start; a DeviceError stops the session's start."""

    def set_proximity_source(self, find_near: FindNear) -> None:
        """Receive the proximity function, at first slow, before ``open``."""

    def set_scene(self, bodies: Sequence[SceneBody]) -> None:
        """Receive the bodies around the robot, before ``open``."""

    @abstractmethod
    def observe(self, view: SessionView) -> None:
        """Show, send or store the newest view."""

    def show(
        self, frames: Mapping[str, Frame], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Receive new images, by camera."""

    def lose(self, cameras: Collection[str]) -> None:
        """Receive the cameras whose newest image expired."""

    @abstractmethod
    def close(self) -> None:
        """Stop; idempotent, never raises."""


class Advisor(Device):
    """Slow, optional source of suggestions, in its own process.

    Advice is used within its user's limits.
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
        """Type of its record (``make_advice_dtype``), known before ``open``."""

    @abstractmethod
    def open(self) -> None:
        """Load its SDK; raise DeviceError or MissingDependency if it cannot."""

    @abstractmethod
    def advise(self, view: SessionView, frames: Mapping[str, Frame]) -> Record | None:
        """Return a record of type ``advice``, or None; may take 100 ms and more.

        ``based_on_ns`` is its data's stamp; ``valid`` False withdraws earlier advice.
        """

    def make_advice(self, based_on_ns: int, *, valid: bool = True) -> Record:
        """Return a record whose own fields are zeros."""
        record: Record = np.zeros((), dtype=self.advice)
        record["stamp_ns"], record["based_on_ns"] = self.clock(), based_on_ns
        record["valid"] = valid
        return record


class Camera(Device):
    """Source of images, in its own process; ``open`` and ``grab`` may block.

    It is reopened after a ``DeviceError``.
    """

    def __init__(self, config: Any, clock: Clock) -> None:
        self.config = config
        self.clock = clock

    @classmethod
    def find(cls) -> Iterable[FoundCamera]:
        """Return the connected cameras of this kind, unopened."""
        return ()

    @classmethod
    def look_at(cls, address: str) -> FoundCamera:
        """Return the camera at a network address, or raise DeviceError."""
        raise DeviceError(f"expected a kind of camera with addresses, got '{address}'")

    @property
    @abstractmethod
    def info(self) -> CameraInfo:
        """Properties of its images, known before ``open``."""

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Source of the stamps, once open."""
        return "arrival"

    def watch(
        self,
        robot: RobotInfo,
        world: Mapping[str, Any],
        look: Callable[[], RobotPose | None],
    ) -> None:
        """Receive the robot and a source of its pose, to draw it."""

    def open(self) -> None:
        """Connect; raise DeviceError on failure or images unlike ``info``."""

    def close(self) -> None:
        """Release the camera; idempotent, never raises."""

    @abstractmethod
    def grab(self, timeout: float) -> Frame | None:
        """Return the next image; None after ``timeout``, [s]; or raise DeviceError."""


__all__ = [
    "Advice",
    "Advisor",
    "ArmSearch",
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
