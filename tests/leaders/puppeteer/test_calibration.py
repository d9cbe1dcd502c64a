"""What a calibration computes, and what it refuses."""

import numpy as np
import pytest

from paprle.leaders.puppeteer.friction import DURATION, Excitation, fit_friction
from paprle.leaders.puppeteer.measures import find_gripper, find_offset, find_sign, wrap

NAMES = ("a/j1", "a/j2", "a/j3")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("start", [0.0, 3.1, -3.1])
def test_sign_is_found_across_the_turn(sign, start):
    before = np.array([0.1, start, 0.2])
    after = wrap(before + [0.02, sign * 0.5, -0.03])

    assert find_sign(before, after, 1, NAMES) == sign


@pytest.mark.parametrize(
    ("moved", "text"),
    [
        ([0.0, 0.1, 0.0], "expected 'a/j2' to move by 0.15"),
        ([0.5, 0.0, 0.0], "got 'a/j1' moving instead.* ids .* are exchanged"),
        ([0.0, 0.5, -0.3], "got 'a/j3' moving by 0.30"),
    ],
)
def test_sign_that_was_not_shown_is_refused(moved, text):
    with pytest.raises(ValueError, match=text):
        find_sign(np.zeros(3), np.array(moved), 1, NAMES)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gear", [1.0, 2.5])
@pytest.mark.parametrize("turns", [-1, 0, 2])
def test_offset_puts_the_known_pose_where_it_is(sign, gear, turns):
    angle, q = 0.7 + 2 * np.pi * turns, 1.1

    offset = find_offset(angle, q, sign, gear)

    assert wrap(np.array(sign * gear * q + offset - angle)) == pytest.approx(0.0)
    assert -np.pi <= offset < np.pi


@pytest.mark.parametrize("travel", [0.6, -0.6, 3.6, -3.6])
@pytest.mark.parametrize("opened", [0.8, -0.8])
def test_gripper_is_closed_and_open_where_it_was_shown(travel, opened):
    """A gear of 3 takes 3.6 rad of its servo, more than half a turn, to 1.2 rad."""
    shut, closed, gear = 2.0, 0.1, 3.0

    keys = find_gripper(shut, shut + travel, closed, closed + opened, gear)

    def q(angle):
        return keys["sign"] * (angle - keys["offset"]) / gear

    assert q(shut) == pytest.approx(closed)
    assert q(shut + travel) == pytest.approx(keys["open"])
    assert (keys["open"] > closed) == (opened > 0)


def test_gripper_that_hardly_moved_is_refused():
    with pytest.raises(ValueError, match="expected the gripper to travel 0.2"):
        find_gripper(1.0, 1.1, 0.0, 0.8, 1.0)


def simulate(viscous, coulomb, inertia=0.003, gravity=0.05, cap=0.3, noise=0.0):
    """Swing a joint as its excitation wants; returns what a bus would read of it."""
    profile, dt, rng = Excitation(cap), 0.0005, np.random.default_rng(4)
    q = dq = t = 0.0
    rows = []
    while (tau := profile(t, q)) is not None:
        for _ in range(5):
            free = tau - gravity * np.sin(q) - viscous * dq
            if abs(dq) < 1e-3 and abs(free) < coulomb:
                dq = 0.0
            else:
                way = np.sign(dq) if abs(dq) >= 1e-3 else np.sign(free)
                dq += (free - coulomb * way) / inertia * dt
            q += dq * dt
            t += dt
        rows.append((t, q, dq, tau))
    values = np.array(rows)
    values[:, 1] = np.round(values[:, 1] / 0.00153) * 0.00153
    values[:, 2] = np.round(values[:, 2] / 0.024) * 0.024
    values[:, 3] += noise * rng.standard_normal(len(values))
    return values.T


@pytest.mark.parametrize(("b", "c"), [(0.02, 0.02), (0.05, 0.04), (0.1, 0.01)])
def test_friction_of_a_swing_is_found(b, c):
    t, q, dq, tau = simulate(b, c, noise=0.002)

    found = fit_friction(t, q, dq, tau)

    assert found.viscous == pytest.approx(b, rel=0.25)
    assert found.coulomb == pytest.approx(c, abs=0.3 * c + 0.003)


def test_swing_stays_small_and_ends():
    t, q, *_ = simulate(0.02, 0.02)

    assert t[-1] == pytest.approx(DURATION, abs=0.02)
    assert np.abs(q).max() < 0.9


def test_joint_that_is_held_shows_no_friction():
    t = np.arange(0.0, DURATION, 0.0025)

    with pytest.raises(ValueError, match="let go of the joint"):
        fit_friction(t, 0 * t, 0 * t, np.sin(t))


def test_motion_by_hand_shows_no_friction():
    t = np.arange(0.0, DURATION, 0.0025)
    q = 0.4 * np.sin(3 * t)

    with pytest.raises(ValueError, match="keep your hands off"):
        fit_friction(t, q, 1.2 * np.cos(3 * t), -0.3 * np.cos(3 * t))
