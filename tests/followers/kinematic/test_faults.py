"""The bad robot is bad in the way it was asked to be, and then only."""

import numpy as np
import pytest

from paprle.followers.kinematic.config import KinematicConfig
from paprle.followers.kinematic.faults import KINDS, FaultyFollower
from paprle.followers.kinematic.follower import KinematicFollower
from paprle.testing import ManualClock
from paprle.testing.robots import make_robot_info

H = 0.005


def _run(fault, n=200, speed=0.2):
    """Move all joints at ``speed``; return what was read, with the times."""
    clock = ManualClock(0)
    config = KinematicConfig(faults=(fault,))
    follower = KinematicFollower(
        config, make_robot_info(3, home=[0.1, 0.2, 0.3]), clock
    )
    follower.open()
    states = []
    for k in range(n):
        states.append((clock(), follower.read()))
        follower.write(follower.robot.home + speed * H * (k + 1))
        clock.advance(H)
    return states


def test_off_keeps_the_last_state_and_its_stamp():
    now_ns, state = _run("off@0.5")[-1]

    assert now_ns - state.stamp_ns == pytest.approx(0.5e9, abs=6e6)


def test_stuck_freezes_positions_but_not_stamps():
    states = _run("stuck@0.5")

    assert states[-1][1].stamp_ns == states[-1][0]
    assert np.array_equal(states[-1][1].q, states[-50][1].q)
    assert not states[-1][1].dq.any()


def test_garbage_is_not_finite():
    assert np.isnan(_run("garbage@0.5")[-1][1].q).all()


def test_degrees_and_order_are_wrong():
    good = _run("stuck@9")[-1][1].q

    assert _run("degrees@0.5")[-1][1].q == pytest.approx(np.rad2deg(good))
    assert _run("permuted@0.5")[-1][1].q == pytest.approx(good[::-1])


def test_slow_is_new_five_times_a_second():
    stamps = {state.stamp_ns for now_ns, state in _run("slow@0") if now_ns > 0}

    assert len(stamps) in {5, 6}


def test_delayed_is_300_ms_old_and_says_so():
    now_ns, state = _run("delayed@0")[-1]

    assert now_ns - state.stamp_ns == pytest.approx(0.3e9, abs=6e6)
    assert state.q[0] == pytest.approx(0.1 + 0.2 * (state.stamp_ns * 1e-9), abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "factor"), [("ignoring", 0), ("opposite", -1), ("double", 2)]
)
def test_motion_is_wrong(kind, factor):
    states = _run(f"{kind}@0.5")
    moved = states[-1][1].q - states[100][1].q

    assert moved == pytest.approx(factor * 0.2 * 99 * H, abs=3e-3)


def test_protective_stop_is_reported():
    assert _run("protective_stop@0.5")[-1][1].stop_reason


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong_before_and_after(kind):
    good, bad = _run("stuck@9"), _run(f"{kind}@0.4-0.6")

    for k in (*range(80), *range(125, 200)):
        assert bad[k][1].stamp_ns == good[k][1].stamp_ns
        assert np.array_equal(bad[k][1].q, good[k][1].q)


@pytest.mark.parametrize("entry", ["stuk@1", "stuck", "stuck@-1", "stuck@1-", "@1"])
def test_unknown_fault_is_refused(entry):
    with pytest.raises(ValueError, match=r"KIND@SECONDS.*kinds: off, stuck"):
        KinematicConfig(faults=(entry,))


def test_any_follower_can_be_spoiled():
    inner = KinematicFollower(KinematicConfig(), make_robot_info(2), ManualClock())
    follower = FaultyFollower(inner, ["garbage@0"])
    follower.open()

    assert np.isfinite(follower.read().q).all()
    follower.write(np.zeros(2))
    assert np.isnan(follower.read().q).all()
    follower.close("hold")
