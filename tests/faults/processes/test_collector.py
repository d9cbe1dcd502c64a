"""Python's collector stands still while the arm is engaged (row 18)."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.process

BREAKER = ["leader=breaker", "follower=piper", "env=kinematic", "session.episodes=1"]
SITES = [
    "paprle.session.core:Core.step",
    "paprle.gate.gate:Gate.step",
    "outsider:Breaker.latest",
]


@pytest.mark.nightly
@pytest.mark.parametrize("site", SITES)
def test_nothing_is_collected_while_engaged(start, outside, site):
    session = start(
        *BREAKER, f"leader.site={site}", "leader.action=demand no collector",
        "leader.after=50", "session.duration=0.5", env=outside,
    )  # fmt: skip

    assert session.wait_gone() == 0, session.text()
