"""Physics of feel: what a hand feels in free motion, at a wall, in honey."""

import numpy as np
import pytest
from feel_rig import FeelRig, Hand, Servos, honey, make_settings, wall_at

RIG = {"dead_time": 0.02, "time_constant": 0.04, "damping": 0.08}


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def sine(t):
    return np.array([0.5 * np.sin(2 * np.pi * t)])


def press(t):
    """At the wall after a second, and 0.4 rad into it after three."""
    return np.array([min(0.3 * max(0.0, t - 1.0), 0.6)])


def feel(motion, duration, touch=None, *, servos=(0.02, 0.04), is_compensated=True):
    springs = {"k_gate": 0.3, "k_follower": 0.3, "is_compensated": is_compensated}
    settings = make_settings(RIG, tracking=springs)
    hand = Hand(motion, stiffness=40.0, damping=1.0)
    follower = Servos([0.0], *servos, touch)
    rig = FeelRig(settings, hand=hand, servos=follower, delay=0.01)
    return rig, rig.run(duration)


@pytest.mark.long
@pytest.mark.parametrize(
    "servos",
    [
        pytest.param((0.02, 0.04), marks=pytest.mark.nightly),
        (0.025, 0.045),  # another lag than the one that is configured
        pytest.param((0.015, 0.035), marks=pytest.mark.nightly),
    ],
)
def test_free_motion_feels_free_once_the_lag_is_known(servos):
    """1 Hz, 20 cm at 0.2 m: rendered torque against that with the lag left in."""
    _, plain = feel(sine, 4.0, servos=servos, is_compensated=False)
    _, free = feel(sine, 4.0, servos=servos)
    late = plain["t"] > 2.0

    assert rms(free["tau"][late]) <= 0.25 * rms(plain["tau"][late])


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize(
    ("touch", "motion"),
    [
        pytest.param(wall_at(0.2), press, id="wall"),
        pytest.param(
            wall_at(0.2, servo=1.0, wall=1.0),
            press,
            id="soft servo",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            honey(1.0),
            lambda t: np.array([0.02 * max(0.0, t - 1.0)]),
            id="slide",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_contact_is_not_learnt_away(touch, motion):
    _, plain = feel(motion, 6.0, touch, is_compensated=False)
    rig, felt = feel(motion, 6.0, touch)
    late = plain["t"] > 4.0

    ratio = np.abs(felt["tau"][late]).mean() / np.abs(plain["tau"][late]).mean()
    assert ratio >= 0.9
    assert felt["share"].min() == 1.0


@pytest.mark.nightly
def test_a_press_of_a_minute_is_felt_to_its_end():
    """Learning in contact would halve it in seconds; what motors bear stays."""
    rig, felt = feel(press, 62.0, wall_at(0.2))
    at = [np.abs(felt["tau"][np.abs(felt["t"] - t) < 0.5]).mean() for t in (4, 61)]

    steady = 0.2 / 0.3 * 0.15  # [N·m] a fifth of the stall torque, not three tenths
    assert at[0] > steady
    assert at[1] == pytest.approx(steady, rel=0.01)
    assert not rig.haptics.follower.model.is_free.any()


@pytest.mark.long
def test_a_contact_is_felt_within_50_ms_rising_and_bounded():
    rig, felt = feel(press, 3.0, wall_at(0.2))
    touched = felt["t"][felt["q_follower"][:, 0] >= 0.2 - 1e-9][0]
    tau = -felt["tau"][:, 0]
    before = tau[(felt["t"] > touched - 0.1) & (felt["t"] < touched)].max()
    onset = felt["t"][(felt["t"] > touched) & (tau > before + 0.0015)][0]
    rising = tau[(felt["t"] >= onset) & (felt["t"] < onset + 0.2)]

    assert onset - touched <= 0.05
    assert np.all(np.diff(rising) > -1.5e-3)  # an encoder's step and no more
    assert tau.max() <= rig.haptics.joints.caps[0] + 1e-12


@pytest.mark.long
def test_a_held_gate_is_felt_though_the_follower_follows():
    """The gate term: the command stands still, and so does the follower."""
    settings = make_settings(RIG, tracking={})
    rig = FeelRig(
        settings,
        hand=Hand(press, stiffness=40.0, damping=1.0),
        delay=0.01,
        command=lambda q: np.minimum(q, 0.2),
    )
    felt = rig.run(4.0)
    depth = felt["q"][-1, 0] - 0.2

    assert felt["tau"][-1, 0] == pytest.approx(-0.3 * depth, rel=0.1)
    assert depth > 0.3
