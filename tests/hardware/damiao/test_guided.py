"""The frames of an arm in a hand, in virtual time and without a bus."""

import numpy as np
import pytest

from paprle.hardware.damiao.guided import GuidedArm
from paprle.hardware.damiao.models import ARMS
from paprle.hardware.damiao.powered import ArmSettings
from paprle_emulators.damiao.models import MOTORS
from paprle_emulators.damiao.protocol import unpack_mit

WEIGHT = np.array([1.0, -2.0, 30.0, 0.5, 0.0, 0.1, 0.0])
MODEL = ARMS["openarm"]
MOST = np.array(MODEL.tau)
NOW = 10**9
STEP = 54.0 / 4095  # [N·m] spec: of 12 bits over ±54 N·m, rounded


@pytest.fixture
def arm():
    settings = ArmSettings(
        interface="emucan",
        channel="none",
        model=MODEL,
        has_gripper=True,
        rate=200.0,
        timeout=0.4,
        descent=0.0,
    )
    return GuidedArm(settings, lambda _q: WEIGHT, lambda: NOW)


def read(frames):
    """Rows q, dq, kp, kd and τ as the motors read them."""
    return np.array(
        [
            unpack_mit(data, MOTORS[name].ranges)
            for data, name in zip(frames, MODEL.motors, strict=True)
        ]
    ).T


def test_a_round_has_torque_and_damping_and_pulls_nowhere(arm):
    felt = np.array([0.5, 0.5, 0.0, 0.0, -0.3, 0.0, 0.2, 0.1])

    q, dq, kp, kd, tau = read(arm.make_round(np.zeros(8), felt))

    assert kp == pytest.approx(0.0)
    assert q == pytest.approx(0.0, abs=2e-4)
    assert dq == pytest.approx(0.0, abs=0.02)
    assert kd == pytest.approx(MODEL.drag, abs=1e-3)
    expected = np.append(WEIGHT, 0.0) + felt
    expected[2] = MOST[2]
    assert tau == pytest.approx(expected, abs=STEP)


def test_feedback_is_limited_to_a_share_of_each_motor(arm):
    arm.post(np.array([1e3, -1e3] * 4), NOW)

    felt = arm._find_felt(NOW, is_well=True)

    assert felt == pytest.approx(0.3 * MOST * [1, -1, 1, -1, 1, -1, 1, -1])


def test_all_torque_stays_within_that_of_the_arm(arm):
    tau = read(arm.make_round(np.zeros(8), 0.3 * MOST))[4]

    assert np.all(np.abs(tau) <= MOST + STEP)


@pytest.mark.parametrize(("age_ms", "is_well"), [(51, True), (0, False)])
def test_old_or_unanswered_feedback_vanishes_in_20_ms(arm, age_ms, is_well):
    arm.post(0.3 * MOST, NOW)
    arm._felt = arm._find_felt(NOW, is_well=True)
    before = arm._felt

    for n in range(1, 5):
        arm._felt = arm._find_felt(NOW + age_ms * 1_000_000, is_well=is_well)
        assert arm._felt == pytest.approx(before * (1 - n / 4), abs=1e-9)


@pytest.mark.parametrize(
    "tau", [np.zeros(7), np.array([np.nan] + [0.0] * 7), np.full(8, np.inf)]
)
def test_invalid_torques_are_ignored(arm, tau):
    arm.post(np.full(8, 0.1), NOW)

    arm.post(tau, NOW)

    assert arm._find_felt(NOW, is_well=True) == pytest.approx(0.1)


def test_rounds_are_a_period_apart_and_late_ones_not_made_up(arm):
    now = [NOW]
    arm._clock = lambda: now[0]
    arm._must_end.wait = lambda seconds: now.__setitem__(
        0, now[0] + round(1e9 * seconds)
    )
    turns = []
    for late_ns in (0, 0, 1_000_000, 0, 40_000_000, 0, 0):
        now[0] += late_ns
        arm._await_turn()
        turns.append(now[0])

    gaps = np.diff(turns) * 1e-6
    assert gaps == pytest.approx([5.0, 5.0, 5.0, 40.0, 5.0, 5.0])
