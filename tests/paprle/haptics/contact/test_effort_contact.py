"""How hard a follower presses, told from its efforts without a model."""

import numpy as np
import pytest

from paprle.haptics.contact.effort_contact import TouchDetector

A = np.array([10.0, 10.0, 20.0])
H = 0.005  # [s]
FULL = 40.0


class Drive:
    """Three joints whose efforts are weight, inertia, friction and contact."""

    def __init__(self, full=FULL):
        self.touch = TouchDetector(A, full)
        self.q, self.dq = np.zeros(3), np.zeros(3)

    def go(self, time, dq, push=0.0, weight=0.0, inertia=1.0, friction=0.5):
        """Go on at a speed [rad/s], reached with A; return what is felt, (k,)."""
        felt = []
        for k in range(round(time / H)):
            step = np.clip(np.asarray(dq) - self.dq, -A * H, A * H)
            self.dq = self.dq + step
            self.q = self.q + self.dq * H
            force = push(k * H) if callable(push) else push
            tau = (
                weight * np.sin(self.q)
                + inertia * step / H
                + friction * np.sign(self.dq)
            )
            tau[1] += force
            felt.append(self.touch.step(tau, self.dq, H))
        return felt


def test_free_motion_is_nothing_however_hard_it_accelerates():
    drive = Drive()
    felt = []
    for speed in (1.0, -1.0, 0.5, 0.0, 2.0, 0.0):
        felt += drive.go(0.4, [speed] * 3, inertia=2.0)

    assert set(felt) == {None}


def test_weight_that_changes_with_the_posture_is_nothing():
    drive = Drive()

    felt = drive.go(3.0, [1.0, 0.5, 0.2], weight=15.0)

    assert set(felt) == {None}


def test_pressing_is_felt_in_proportion_to_the_effort():
    drive = Drive()
    drive.go(0.5, [0.05] * 3)

    def push(t):
        return 40.0 * min(t, 1.0)

    felt = drive.go(1.0, [0.05] * 3, push)

    pairs = [(push(k * H), one) for k, one in enumerate(felt) if one is not None]
    efforts, shares = np.array(pairs).T
    assert efforts[0] < 6.0, "from its begin on"
    assert np.corrcoef(efforts, shares)[0, 1] > 0.995
    assert shares[-1] == pytest.approx(1.0, abs=0.1)


def test_a_press_that_lasts_is_felt_while_it_lasts():
    drive = Drive()
    drive.go(0.5, [0.0] * 3)

    felt = drive.go(5.0, [0.0] * 3, 20.0)

    assert felt[100] == pytest.approx(0.5, abs=0.02)
    assert felt[-1] > 0.4


def test_letting_go_ends_it_at_once():
    drive = Drive()
    drive.go(0.5, [0.0] * 3)
    drive.go(5.0, [0.0] * 3, 100.0)

    assert set(drive.go(0.5, [0.0] * 3)) == {None}


def test_friction_that_turns_with_the_motion_is_no_touch():
    drive = Drive()
    drive.go(0.5, [0.1] * 3, friction=12.0)
    pressed = drive.go(1.0, [0.1] * 3, lambda t: 40.0 * t, friction=12.0)

    released = drive.go(
        1.0, [-0.1] * 3, lambda t: max(40.0 - 80.0 * t, 0.0), friction=12.0
    )

    assert pressed[-1] == pytest.approx(1.0, abs=0.1)
    assert set(released[-20:]) == {None}


def test_a_touch_stays_a_touch_when_the_command_brakes():
    """The gate holds back whoever presses: that is an acceleration, too."""
    drive = Drive()
    drive.go(0.5, [0.1] * 3)
    drive.go(0.3, [0.1] * 3, 20.0)

    felt = drive.go(0.5, [0.0] * 3, 20.0, inertia=0.2)

    assert min(felt) > 0.9 * (20.0 - 2.0 - 1.0) / FULL  # inertia and friction turn


@pytest.mark.parametrize("full", [20.0, 80.0])
def test_the_full_effort_is_a_setting(full):
    drive = Drive(full)
    drive.go(0.5, [0.0] * 3)

    assert drive.go(0.2, [0.0] * 3, 16.0)[-1] == pytest.approx(16.0 / full, rel=0.05)


def test_an_unmeasured_effort_is_not_felt():
    touch = TouchDetector(A, FULL)

    assert touch.step(np.full(3, np.nan), np.zeros(3), H) is None
    assert touch.step(np.array([0.0, np.nan, 0.0]), np.zeros(3), H) is None


def test_joints_that_another_leader_drives_are_not_felt():
    drive = Drive()
    drive.touch.choose_joints(np.array([True, False, True]))
    drive.go(0.5, [0.0] * 3)

    assert set(drive.go(0.5, [0.0] * 3, 30.0)) == {None}
