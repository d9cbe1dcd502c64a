"""What a joint may do is never nothing, from whatever state it may be in (5.1, 1)."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paprle.contracts.settings.core import GateSettings
from paprle.gate import limits
from paprle.gate.gate import Gate
from paprle.oracle import JudgedLimits, check_commands
from paprle.testing.robots import make_robot_info


def find_stop(d, a, h):
    """Return the speed from which a joint just stops within d."""
    n = math.floor((math.sqrt(1.0 + 8.0 * d / (a * h * h)) - 1.0) / 2.0)
    return (d + a * h * h * n * (n + 1) / 2.0) / ((n + 1) * h)


share = st.floats(0.0, 1.0)


@settings(max_examples=150, deadline=None)
@given(
    ms=st.integers(1, 50),
    dq_max=st.floats(0.05, 10.0),
    ddq_max=st.floats(0.5, 100.0),
    half=st.floats(0.001, 3.0),
    place=share,
    speed=st.floats(-1.0, 1.0),
    scale=share,
)
@example(ms=5, dq_max=1.0, ddq_max=10.0, half=1.0, place=1.0, speed=1.0, scale=1.0)
@example(ms=5, dq_max=1.0, ddq_max=10.0, half=1.0, place=0.0, speed=-1.0, scale=1.0)
@example(ms=50, dq_max=10.0, ddq_max=0.5, half=3.0, place=0.9, speed=1.0, scale=0.0)
def test_all_that_is_left_to_a_joint_can_be_stopped(
    ms, dq_max, ddq_max, half, place, speed, scale
):
    h, robot = ms / 1000, make_robot_info(
        1, q_min=-half, q_max=half, dq_max=dq_max, ddq_max=ddq_max
    )  # fmt: skip
    gate = Gate(robot, GateSettings(position_margin=0.0), h=0.005)
    c = half * (2.0 * place - 1.0)
    room = half - c if speed > 0.0 else half + c
    v = speed * min(dq_max, find_stop(max(room, 0.0), ddq_max, h))
    box, kept = gate._parts.box, gate._parts.limits
    limits.fill_box(kept, h, scale, np.array([c]), np.array([v]), box)
    bounds = JudgedLimits(
        q_min=robot.q_min, q_max=robot.q_max, dq_max=[dq_max], ddq_max=[ddq_max], h=h
    )

    for v_next in (box.low[0], box.brake[0], box.high[0]):
        past = np.array([[c - v * h], [c]])
        verdict = check_commands(np.array([[c + v_next * h]]), bounds, q_start=past)
        assert verdict.is_ok, f"{v_next}: {verdict}"
    assert box.low[0] <= box.brake[0] <= box.high[0]
    fastest = max(dq_max * scale, abs(v) - ddq_max * h) * (1 + 1e-9)
    assert max(-box.low[0], box.high[0]) <= fastest
