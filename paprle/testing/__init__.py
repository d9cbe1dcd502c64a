"""Contract suites that plug-ins inherit, inside this project and outside of it.

A suite is a class of tests with hooks to fill::

    from paprle.testing import LeaderContract

    class TestMyLeader(LeaderContract):
        def make_leader(self, clock):
            return MyLeader(MyConfig(port=self.emulator.port), clock)

Needs pytest; nothing at run time imports this package.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "paprle.testing.feedback",
    "paprle.testing.followers",
    "paprle.testing.leaders",
    "paprle.testing.samples",
)

from paprle.testing.clock import ManualClock  # noqa: E402 - after the registration
from paprle.testing.feedback import (  # noqa: E402
    FeedbackLawContract,
    make_feedback_input,
)
from paprle.testing.followers import FollowerContract  # noqa: E402
from paprle.testing.leaders import AutomaticLeaderContract, LeaderContract  # noqa: E402
from paprle.testing.samples import check_sample, make_feedback  # noqa: E402

__all__ = [
    "AutomaticLeaderContract",
    "FeedbackLawContract",
    "FollowerContract",
    "LeaderContract",
    "ManualClock",
    "check_sample",
    "make_feedback",
    "make_feedback_input",
]
