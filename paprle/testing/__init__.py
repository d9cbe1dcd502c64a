"""Contract suites that plug-ins inherit; needs pytest.

::

    class TestMyLeader(LeaderContract):
        def make_leader(self, clock):
            return MyLeader(MyConfig(port=self.emulator.port), clock)
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "paprle.testing.cameras",
    "paprle.testing.faults",
    "paprle.testing.feedback",
    "paprle.testing.followers",
    "paprle.testing.leaders",
    "paprle.testing.links",
    "paprle.testing.observers",
    "paprle.testing.samples",
    "paprle.testing.stepped",
)

from paprle.testing.cameras import CameraContract  # noqa: E402 - after registering
from paprle.testing.clock import ManualClock  # noqa: E402
from paprle.testing.faults import LeaderFaultsContract  # noqa: E402
from paprle.testing.feedback import (  # noqa: E402
    FeedbackLawContract,
    make_feedback_input,
)
from paprle.testing.followers import FollowerContract  # noqa: E402
from paprle.testing.leaders import AutomaticLeaderContract, LeaderContract  # noqa: E402
from paprle.testing.links import LinkContract  # noqa: E402
from paprle.testing.observers import AdvisorContract, ObserverContract  # noqa: E402
from paprle.testing.robots import make_robot_info  # noqa: E402
from paprle.testing.samples import check_sample, make_feedback  # noqa: E402
from paprle.testing.stepped import EmulatedHand, SteppedSession  # noqa: E402
from paprle.testing.views import make_session_view  # noqa: E402

__all__ = [
    "AdvisorContract",
    "AutomaticLeaderContract",
    "CameraContract",
    "EmulatedHand",
    "FeedbackLawContract",
    "FollowerContract",
    "LeaderContract",
    "LeaderFaultsContract",
    "LinkContract",
    "ManualClock",
    "ObserverContract",
    "SteppedSession",
    "check_sample",
    "make_feedback",
    "make_feedback_input",
    "make_robot_info",
    "make_session_view",
]
