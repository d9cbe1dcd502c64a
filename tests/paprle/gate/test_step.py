"""What a period tells, and what it sends of a velocity without a verified stop."""

from __future__ import annotations

import numpy as np
import pytest
from minimal_robots import make_sliders

from paprle.gate.gate import Gate
from paprle.gate.limits import IS_FAST
from paprle.gate.step import IS_UNVERIFIED, step
from paprle.gate.tcp_limits import IS_TOOL_FAST

H, BOUND, BRAKE = 0.005, 0.3, 0.02  # [s], [m/s], [m/s]


@pytest.mark.parametrize(
    ("v", "share"),
    [(BOUND, 1.0), (0.301, 0.5), (0.57, 0.5), (0.59, 0.25), (1.13, 0.25), (1.15, 0.0)],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_half_of_it_is_sent_or_a_quarter_before_braking(v, share, sign):
    """Pairs are chosen for a bound: who is faster has no stop that is verified."""
    gate = Gate(make_sliders(), h=H)
    parts = gate._parts
    parts.box.brake[:], parts.box.low[:], parts.box.high[:] = sign * BRAKE, -2.0, 2.0
    parts.collision.measured.speed[:], parts.tools.speed[0] = BOUND, np.inf

    parts.motion.v_next[:] = sign * v
    flags, _, _ = step(*gate._memory, H, 1.0, False, False, True)

    sent = sign * (BRAKE + share * (v - BRAKE))
    assert parts.motion.v_next == pytest.approx(np.full(2, sent), abs=1e-12)
    assert bool(flags & IS_UNVERIFIED) == (share < 1.0)


@pytest.mark.parametrize("tool_speed", [0.1, np.inf])
def test_a_period_tells_all_that_slows_it(tool_speed):
    gate = Gate(make_sliders(), h=H)
    parts = gate._parts
    parts.tools.speed[0], parts.motion.target[:] = tool_speed, [-1.5, 0.0]

    flags, _, _ = step(*gate._memory, H, 1.0, False, False, False)

    assert flags & IS_FAST
    assert bool(flags & IS_TOOL_FAST) == (tool_speed < np.inf)
