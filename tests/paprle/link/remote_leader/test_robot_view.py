"""What comes back from a session that is at the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sessions_view import make_view

from paprle.contracts.gate_status import GATE_NUMBERS, GateStatus
from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import SessionState
from paprle.link.remote_leader.robot_view import pack_view, unpack_view
from paprle.testing.samples import make_feedback

POSE = np.array([0.1, -0.2, 0.3, 0.0, 0.6, 0.0, 0.8])
WAY = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0])


def send(**held):
    one = HeldHand(**{"limb": 1, "share": 0.75, "pose": POSE, "way": WAY, **held})
    return pack_view(make_view(holds=(one,)), None, 5)


def test_the_hold_of_a_hand_arrives_beside_all_else():
    got = unpack_view(send())

    [held] = got.holds
    assert (held.limb, held.share) == (1, 0.75)
    assert held.pose == pytest.approx(POSE)
    assert held.way == pytest.approx(WAY)
    assert got.q == pytest.approx([0.25, -1.5])
    assert got.captured_ns == 5


@pytest.mark.parametrize(
    "held",
    [
        {"limb": -1},
        {"share": np.nan},
        {"share": 1.5},
        {"pose": 1e9 * POSE},
        {"pose": np.zeros(7)},
        {"pose": np.full(7, np.inf)},
        {"way": 100.0 * WAY},
    ],
    ids=str,
)
def test_an_invalid_hold_makes_the_view_invalid(held):
    assert unpack_view(send(**held)) is None


@pytest.mark.parametrize("n", [1, 40, 150, -1])
def test_a_view_that_was_cut_short_is_none(n):
    whole = send()

    assert unpack_view(whole[:n]) is None
    assert unpack_view(whole) is not None


def test_every_number_of_the_gate_crosses():
    told = {name: 0.25 * k for k, name in enumerate(GATE_NUMBERS)}

    got = unpack_view(pack_view(make_view(status=GateStatus(**told)), None, 5))

    assert got.numbers == told


def test_a_reason_of_standing_crosses_beside_the_gates():
    view = make_view(reasons=("position of joint2",))
    told = replace(
        make_feedback(SessionState.ENGAGED), standing="arm out of reach, 20 mm"
    )

    got = unpack_view(pack_view(view, told, 5))

    assert (got.why, got.standing) == ("position of joint2", "arm out of reach, 20 mm")
    assert unpack_view(pack_view(view, None, 5)).standing == ""
