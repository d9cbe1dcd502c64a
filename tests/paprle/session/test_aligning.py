"""The robot goes to where a leader of poses is before it is led from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
from lock_step import H_NS, PIPER

from paprle.contracts.types import LeaderInfo

ABSOLUTE = LeaderInfo(limbs=("hand",), is_human=False, is_absolute=True)
LIMB = PIPER.limbs["arm"]


def place(session, y, z):
    """Put the leader so far from home, [m]."""
    T = LIMB.fk(LIMB.home)
    session.T_hand = pin.SE3(T.rotation, T.translation + [0.0, y, z])


def lead(session, y):
    """Swing about y [m] for 8 s, waiting for nobody; return the shares of V."""
    shares = []
    for k in range(1600):
        place(session, y + 0.05 * np.sin(2.5 * k * H_NS * 1e-9), -0.05)
        session.step()
        shares.append((np.abs(session.status["dq_cmd"]) / PIPER.dq_max).max())
    return shares


def measure_distance(session):
    """Return how far the command is from the leader, [m]."""
    reached = LIMB.fk(LIMB.take(session.q_cmd)).translation
    return np.abs(reached - session.T_hand.translation).max()


def test_an_absolute_leader_is_approached_slowly_before_it_leads(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    place(session, 0.1, -0.05)
    session.start = True
    session.until("ALIGNING")
    shares = []
    while session.state == "ALIGNING":
        session.step()
        shares.append((np.abs(session.status["dq_cmd"]) / PIPER.dq_max).max())

    assert session.state == "ENGAGED"
    assert max(shares) <= 0.25
    assert measure_distance(session) < 2e-3


def test_an_automatic_leader_that_waits_leads_from_where_it_is(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    place(session, 0.02, 0.0)
    session.start = True
    session.until("ENGAGED")

    assert measure_distance(session) < 2e-3


def test_an_automatic_leader_that_does_not_wait_is_met_as_it_moves(lock_step):
    session = lock_step(ABSOLUTE, mode="absolute")
    session.start = True
    shares = lead(session, 0.1)

    met = session.states.index("ENGAGED")
    assert met * H_NS < 3e9
    assert max(shares[:met]) <= 0.25
    assert max(shares[met : met + 80]) <= 0.3, "what is left is made up slowly, too"
    assert measure_distance(session) < 5e-3


def test_a_person_who_moves_on_is_not_met(lock_step):
    session = lock_step(
        replace(ABSOLUTE, is_human=True), mode="absolute", start_bound=2.0
    )
    session.start = True
    lead(session, 0.1)

    assert "ALIGNING" in session.states
    assert "ENGAGED" not in session.states
