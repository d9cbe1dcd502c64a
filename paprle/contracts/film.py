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

    Attributes:
        t_asked: Times of the requests, shape (n,), [s].
        asked: Requested positions, shape (n,), [rad] or [m].
        t_measured: Times of the measurements, shape (m,), [s].
        measured: Measured positions, shape (m,), [rad] or [m].
    """

    name: str
    t_asked: Vec
    asked: Vec
    t_measured: Vec
    measured: Vec


class Film(ABC):
    """A recording.

    Attributes:
        length: Duration, [s].
        cameras: Properties of the images from ``see``.
        curves: Curves of the joints.
    """

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
