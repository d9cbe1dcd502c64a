"""Leaders on another host, and the methods that they add."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView

FAR = "far"
"""The event that tells what an operator's host measured (``take_told``)."""


class FarLeader(Leader):
    """A leader whose device is on another host, so that its process may outlive it."""

    view_rate = 0.0
    """Rate at which its host observes the session (``observe``), [Hz]; 0: never."""

    has_forces = False
    """Its operator feels what holds the robot (``SessionView.holds``)."""

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether its host has been heard of since this was asked last."""

    def observe(self, view: SessionView) -> None:
        """Take what the session did, for its operator; never block."""

    def take_told(self) -> Mapping[str, Any] | None:
        """Return what its operator's host measured since the last call, if anything.

        ``rows`` hold a stamp of this host [ns], the place of a limb, hand to robot,
        hand to picture and picture to robot as confirmed, the last two as predicted,
        each [mm], motion to motion [ms], and the same two of a picture that goes on by
        its velocity [mm]; None: not known. ``missing`` is how many rows never came so
        far, ``streams`` by name what was sent and lost.
        """
        return None


def tells_life(leader: Leader) -> bool:
    """Whether whoever captures lives, as far as this host knows; asked once a look."""
    return not isinstance(leader, FarLeader) or leader.is_alive
