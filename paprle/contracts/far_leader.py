"""What a leader on another host may do besides."""

from __future__ import annotations

from abc import abstractmethod

from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView


class FarLeader(Leader):
    """A leader whose device is on another host, so that its process may outlive it."""

    view_rate = 0.0
    """How often its host is shown the session (``observe``), [Hz]; 0: never."""

    has_forces = False
    """Its operator feels what holds the robot (``SessionView.holds``)."""

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether its host has been heard of since this was asked last."""

    def observe(self, view: SessionView) -> None:
        """Take what the session did, for its operator; never block."""


def tells_life(leader: Leader) -> bool:
    """Whether whoever captures lives, as far as this host knows; asked once a look."""
    return not isinstance(leader, FarLeader) or leader.is_alive
