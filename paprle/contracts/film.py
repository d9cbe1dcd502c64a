"""Recordings for a viewer."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo, Vec

_MARK = re.compile(r"<!--moment (\S+) (\d{1,9}(?:\.\d{1,3})?)-->")
"""Place of a link in a report; a viewer that serves the report puts it there."""

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


class Report(NamedTuple):
    """A page beside recordings; ``film`` is its only one, −1: of several."""

    name: str
    film: int = -1


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

    def list_reports(self) -> Sequence[Report]:
        """Return the reports that are there now."""
        return ()

    def read_report(self, name: str, link: Callable[[int, float], str]) -> str:  # noqa: ARG002
        """Return the HTML of a report.

        Args:
            name: As listed.
            link: Returns the HTML of a link to a film and a time, [s].

        Raises:
            KeyError: If there is none of that name.
        """
        raise KeyError(name)

    @abstractmethod
    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:
        """Return an early image of recording k, if any."""


def mark_moment(recording: str, t: float) -> str:
    """Return the mark of a time [s] of a recording, named by its file."""
    name = quote(recording, safe="").replace("-", "%2D")  # "--" would end it
    return f"<!--moment {name} {t:.1f}-->"


def link_moments(page: str, link: Callable[[str, float], str]) -> str:
    """Return a page whose marks are replaced.

    Args:
        page: HTML of a report.
        link: Returns the HTML for a recording's name and a time [s]; may be empty.
    """
    return _MARK.sub(lambda found: link(unquote(found[1]), float(found[2])), page)
