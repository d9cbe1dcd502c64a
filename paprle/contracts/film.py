"""A recording shown like a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo, Vec


class Curve(NamedTuple):
    """Requested and measured positions of a joint, thinned for a plot.

    Times have shapes (n,) and (m,), [s], as have positions, [rad] or [m].
    """

    name: str
    t_asked: Vec
    asked: Vec
    t_measured: Vec
    measured: Vec


class Film(ABC):
    """A recording."""

    name: str
    length: float
    robot: RobotInfo
    cameras: Mapping[str, CameraInfo]
    curves: Sequence[Curve]

    @abstractmethod
    def look(self, t: float) -> SessionView:
        """Return the newest view at a time, [s]."""

    @abstractmethod
    def see(self, t: float) -> Mapping[str, Frame | None]:
        """Return the newest image of each camera at a time, [s]; None: too old."""
