"""The robot goes to where a leader of poses is before it is led from there."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from lock_step import H_NS, PIPER

from paprle.contracts.types import LeaderInfo

ABSOLUTE = LeaderInfo(limbs=("hand",), is_human=False, is_absolute=True)


def test_an_absolute_leader_is_approached_slowly_before_it_leads(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    limb = PIPER.limbs["arm"]
    T_0 = limb.fk(limb.home)
    session.T_hand = pin.SE3(T_0.rotation, T_0.translation + [0.0, 0.1, -0.05])
    session.start = True
    session.until("ALIGNING")
    speeds = []
    while session.state == "ALIGNING":
        session.step()
        speeds.append((np.abs(session.status["dq_cmd"]) / PIPER.dq_max).max())

    assert session.state == "ENGAGED"
    assert max(speeds) <= 0.25
    reached = limb.fk(limb.take(session.q_cmd)).translation
    assert reached == pytest.approx(session.T_hand.translation, abs=2e-3)


def test_an_automatic_leader_that_waits_leads_from_where_it_is(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    limb = PIPER.limbs["arm"]
    T_0 = limb.fk(limb.home)
    session.T_hand = pin.SE3(T_0.rotation, T_0.translation + [0.0, 0.02, 0.0])
    session.start = True
    session.until("ENGAGED")

    reached = limb.fk(limb.take(session.q_cmd)).translation
    assert reached == pytest.approx(session.T_hand.translation, abs=2e-3)


def test_an_automatic_leader_that_does_not_wait_is_met_as_it_moves(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    limb = PIPER.limbs["arm"]
    T_0 = limb.fk(limb.home)
    session.start = True
    speeds = []
    for k in range(1600):
        y = 0.1 + 0.05 * np.sin(2.5 * k * H_NS * 1e-9)
        session.T_hand = pin.SE3(T_0.rotation, T_0.translation + [0.0, y, -0.05])
        session.step()
        speeds.append((np.abs(session.status["dq_cmd"]) / PIPER.dq_max).max())

    met = session.states.index("ENGAGED")
    assert met * H_NS < 3e9
    assert max(speeds[:met]) <= 0.25
    assert max(speeds[met : met + 80]) <= 0.3, "what is left is made up slowly, too"
    reached = limb.fk(limb.take(session.q_cmd)).translation
    assert reached == pytest.approx(session.T_hand.translation, abs=5e-3)
