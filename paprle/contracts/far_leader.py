"""Leaders on another host."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from paprle.contracts.plugins import Leader
from paprle.contracts.session_view import SessionView

FAR = "far"
"""The event that tells what an operator's host measured (``take_told``)."""


class FarLeader(Leader):
    """A leader whose device is on another host."""

    view_rate = 0.0
    """Rate at which its host observes the session (``observe``), [Hz]; 0: never."""

    has_forces = False
    """Its operator feels what holds the robot (``SessionView.holds``)."""

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether its host was heard since the last query."""

    def observe(self, view: SessionView) -> None:
        """Receive the session's view without blocking."""

    def take_told(self) -> Mapping[str, Any] | None:
        """Return new measurements of the operator's host, if any.

        ``rows`` hold a stamp of this host [ns], limb index, distances hand to robot,
        hand to picture and picture to robot, the last two also as predicted, [mm],
        motion to motion [ms], and those two extrapolated by velocity [mm]; None:
        unknown. ``missing`` counts lost rows, ``streams`` sent and lost by name.
        """
        return None


def tells_life(leader: Leader) -> bool:
    """Return whether the leader's host is alive; call it once a look."""
    return not isinstance(leader, FarLeader) or leader.is_alive
