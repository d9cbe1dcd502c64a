"""Recordings for a viewer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo, Vec

MarkKind = Literal["event", "note", "state", "held"]


class Signal(NamedTuple):
    """One recorded quantity; a ``chart`` has one unit."""

    chart: str
    name: str
    unit: str


class Mark(NamedTuple):
    """A moment on the time line, ``t`` [s] since the begin."""

    t: float
    kind: MarkKind
    text: str


class Film(ABC):
    """An opened recording; times are since its begin, [s]."""

    name: str
    length: float
    robot: RobotInfo | None = None
    cameras: Mapping[str, CameraInfo] = MappingProxyType({})
    signals: Sequence[Signal] = ()
    marks: Sequence[Mark] = ()
    notes: Sequence[str] = ()

    @abstractmethod
    def read_signal(self, k: int) -> tuple[Vec, Vec]:
        """Return times [s], increasing, and values of signal k, (n,)."""

    @abstractmethod
    def see(self, camera: str, t: float) -> Frame | None:
        """Return a camera's newest image at a time, if any."""

    @abstractmethod
    def close(self) -> None:
        """Close its files; may be called twice."""

    def look(self, t: float) -> SessionView:
        """Return the view at a time, if it has a robot."""
        raise NotImplementedError

    def find_near(self) -> FindNear:
        """Return the search for near bodies, if it has a robot."""
        raise NotImplementedError

    def list_bodies(self) -> Sequence[SceneBody]:
        """Return the bodies around the robot."""
        return ()


class Entry(NamedTuple):
    """A recording in a list, ``seconds`` long; NaN and "": unknown."""

    name: str
    seconds: float = float("nan")
    task: str = ""
    outcome: str = ""
    score: str = ""
    notes: tuple[str, ...] = ()


def ignore_share(_: float) -> None:
    """Ignore a share."""


class RecordingList(ABC):
    """Recordings of one place, in order."""

    title: str
    entries: Sequence[Entry]

    @abstractmethod
    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:
        """Open recording k; ``report`` gets the share read, 0 … 1.

        Raises:
            RecordingError: If it cannot be read.
            MissingDependency: If a package is missing.
        """

    @abstractmethod
    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:
        """Return an early image of recording k, if any."""
