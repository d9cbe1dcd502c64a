"""Leaders that receive the session's view and images."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView


class Sight(NamedTuple):
    """Newest view and images, two camera periods old at most."""

    view: SessionView
    frames: Mapping[str, Frame]


class Window(NamedTuple):
    """Access to the session and its cameras.

    With ``is_waited_for``, time stops while ``latest`` computes (virtual clock).
    """

    look: Callable[[], Sight | None]
    cameras: Mapping[str, CameraInfo]
    objects: tuple[str, ...]
    is_waited_for: bool


class SeeingLeader(Leader):
    """A leader that sees the session; its config is a ``SightSettings``."""

    @abstractmethod
    def watch(self, window: Window) -> None:
        """Receive the access to the session, before ``open``."""
