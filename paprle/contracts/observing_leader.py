"""Leaders that look at the session which they lead, and at its cameras."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView


class Sight(NamedTuple):
    """Newest view and images of a session, for a leader that looks.

    Attributes:
        view: The newest view of the session.
        frames: The newest image of each camera that has one, by name; a camera without
            a new image for two of its periods has none.
    """

    view: SessionView
    frames: Mapping[str, Frame]


class Window(NamedTuple):
    """Access of a leader to the session and its cameras.

    Attributes:
        look: Returns the newest sight; None before the session has begun.
        cameras: Properties of the images of each camera.
        objects: Names of the objects whose poses the follower reports.
        is_waited_for: Time stands still while ``latest`` computes (virtual clock).
    """

    look: Callable[[], Sight | None]
    cameras: Mapping[str, CameraInfo]
    objects: tuple[str, ...]
    is_waited_for: bool


class SeeingLeader(Leader):
    """A leader that is shown the session; its config extends ``SightSettings``."""

    @abstractmethod
    def watch(self, window: Window) -> None:
        """Take what shows it the session; before ``open``."""
