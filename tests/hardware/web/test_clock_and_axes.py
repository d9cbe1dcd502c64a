"""The sender's clock, and the sender's axes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from paprle.hardware.web.axes import R_REP103_WEBXR, to_rep103
from paprle.hardware.web.sender_clock import SenderClock

MS = 1_000_000
S = 1_000_000_000


def ask(clock, at_ns, *, there, back, skew_ns):
    number = clock.ask(at_ns)
    clock.answer(number, at_ns + there + skew_ns, at_ns + there + back)


def test_the_quickest_answer_tells_and_bounds_its_own_error():
    clock = SenderClock()
    rng = np.random.default_rng(1)
    for k in range(20):
        there, back = (int(x) for x in rng.integers(2 * MS, 60 * MS, 2))
        ask(clock, k * S, there=there, back=back, skew_ns=-7 * S)

    error = abs(clock.offset.offset_ns - 7 * S)
    assert error <= clock.offset.bound_ns
    assert clock.offset.bound_ns < 31 * MS


def test_a_capture_is_told_on_our_clock_and_never_in_the_future():
    clock = SenderClock()
    ask(clock, 0, there=5 * MS, back=5 * MS, skew_ns=3 * S)

    now = 10 * S
    assert clock.find_capture(now + 3 * S - 20 * MS, now) == now - 20 * MS
    assert clock.find_capture(now + 3 * S + 4 * MS, now) == now


@pytest.mark.parametrize("jump", [3600 * S, -3600 * S, -S])
def test_a_clock_that_was_set_is_known_anew_from_one_answer(jump):
    clock = SenderClock()
    for k in range(5):
        ask(clock, k * S, there=MS, back=MS, skew_ns=0)
    ask(clock, 6 * S, there=30 * MS, back=30 * MS, skew_ns=jump)

    assert abs(clock.offset.offset_ns + jump) <= clock.offset.bound_ns


def test_a_slow_answer_does_not_forget_the_quick_ones():
    clock = SenderClock()
    ask(clock, 0, there=MS, back=MS, skew_ns=0)
    ask(clock, S, there=2 * S, back=0, skew_ns=0)

    assert clock.offset.bound_ns == MS


def test_answers_that_nobody_asked_for_say_nothing():
    clock = SenderClock()
    number = clock.ask(0)
    clock.answer(number + 1, 5 * S, MS)
    clock.answer(number, 0, MS)
    clock.answer(number, 99 * S, MS)

    assert abs(clock.offset.offset_ns) <= MS


def test_webxr_axes_become_rep103():
    unit = np.array([0.0, 0.0, 0.0, 1.0])
    forward, _ = to_rep103(np.array([0.0, 0.0, -1.0]), unit)
    left, _ = to_rep103(np.array([-1.0, 0.0, 0.0]), unit)
    up, _ = to_rep103(np.array([0.0, 1.0, 0.0]), unit)

    assert np.linalg.det(R_REP103_WEBXR) == pytest.approx(1)
    assert (forward.tolist(), left.tolist(), up.tolist()) == (
        [1, 0, 0], [0, 1, 0], [0, 0, 1],
    )  # fmt: skip


def test_orientations_are_conjugated():
    q = np.array([0.1, 0.2, 0.3, 0.9273618495495704])
    _, mapped = to_rep103(np.zeros(3), q)

    expected = R_REP103_WEBXR @ pin.Quaternion(q).matrix() @ R_REP103_WEBXR.T
    np.testing.assert_allclose(pin.Quaternion(mapped).matrix(), expected, atol=1e-12)
