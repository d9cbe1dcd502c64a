"""Leaders that look at the session which they lead, and at its cameras."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView


class Sight(NamedTuple):
    """What a leader that looks is shown.

    Attributes:
        view: What the session did last.
        frames: The newest image of each camera that has one, by name; two periods of a
            camera without another one, and it has none.
    """

    view: SessionView
    frames: Mapping[str, Frame]


class Window(NamedTuple):
    """What a leader looks through.

    Attributes:
        look: Returns what is newest; None before the session has begun.
        cameras: What the images of each camera are.
        objects: Names of the objects whose poses the follower tells.
        is_waited_for: Time stands still while ``latest`` thinks (virtual clock).
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
