"""Two arms in virtual time: what the hand feels, and the energy that it receives."""

import numpy as np
import pytest
from bilateral_rig import BilateralRig
from cells import spread

pytestmark = pytest.mark.long

WALL = 0.15  # [rad] from home
LEAD = {"openarm": 3, "yam": 2}  # the elbow
START = 3e-3  # [J] E₀ of a joint's observer (F3)
LET_GO = 1.6  # [s]


def press(t):
    """0.3 rad in 0.6 s, half of it beyond the wall."""
    return 0.3 * np.clip((t - 0.6) / 0.6, 0.0, 1.0)


def tap(t):
    """At 1.5 Hz, 0.1 rad beyond the wall and back."""
    return 0.125 * (1.0 - np.cos(2.0 * np.pi * 1.5 * max(0.0, t - 0.6)))


def wave(t):
    """0.5 Hz, and nothing in the way."""
    return 0.2 * np.sin(np.pi * t)


def run(model, delay, way, grip=1.0, *, wall=WALL, let_go=None, duration=2.4):
    rig = BilateralRig(model, delay)
    joint = LEAD[model]
    rig.lead(joint, way, grip)
    if wall is not None:
        rig.put_wall(joint, wall)
    if let_go is not None:
        rig.run(let_go)
        rig.hand.hold(False)
        duration -= let_go
    return rig, rig.run(duration)


def at(trace, t):
    return int(np.argmin(np.abs(trace["t"] - t)))


def test_the_hand_feels_the_follower_s_contact_and_nothing_before():
    rig, felt = run("openarm", 0.0, press, duration=1.5)
    joint, home = LEAD["openarm"], rig.leader.plant.hand_q[LEAD["openarm"]] - 0.3
    touched = felt["t"][felt["q_follower"][:, joint] >= home + WALL][0]
    tau = felt["felt"][:, joint]
    free = (felt["t"] > 0.6) & (felt["t"] < touched)

    assert np.abs(felt["felt"][free]).max() < 0.02
    onset = felt["t"][(felt["t"] > touched) & (tau < -0.05)][0]
    assert onset - touched < 0.05
    assert tau[-1] < -0.5, "it pushes back"
    hand = felt["hand"][:, joint]
    assert hand[-1] == pytest.approx(-tau[-1], abs=0.4), "less dry friction"
    assert np.all(np.abs(felt["felt"]) <= rig.haptics.joints.caps + 1e-9)


@pytest.mark.parametrize("model", spread(LEAD, "yam"))
def test_free_motion_renders_nothing_once_the_lag_is_known(model):
    _, felt = run(model, 0.0, wave, wall=None, duration=4.0)

    late = felt["t"] > 2.0
    assert np.abs(felt["felt"][late]).max() < 0.1


CASES = [
    (model, delay, way, grip, let_go)
    for model in LEAD
    for delay in (0.0, 0.05, 0.1)
    for grip in (1.0, 0.2)
    for way, let_go in ((press, LET_GO), (tap, None))
]


@pytest.mark.parametrize(
    ("model", "delay", "way", "grip", "let_go"),
    spread(
        CASES,
        ("openarm", 0.0, press, 1.0, LET_GO),
        ("openarm", 0.05, tap, 0.2, None),
        ("yam", 0.0, tap, 0.2, None),
    ),
)
def test_the_hand_receives_no_energy(model, delay, way, grip, let_go):
    """Delays of the link are unknown to the laws: they are a fault, not a setting."""
    rig, _ = run(model, delay, way, grip, let_go=let_go)

    assert rig.most_given < 1e-3
    assert np.all(rig.worst < START)


def test_without_observer_and_bound_torques_do_give_energy():
    rig = BilateralRig("openarm", 0.05)
    rig.lead(3, press, 0.2)
    rig.put_wall(3, WALL)
    rig.haptics.gain_scale[:] = rig.haptics.held_scale[:] = 10.0
    rig.haptics.composer.passivity.control = lambda tau, _dq, _dt: tau
    rig.run(2.4)

    assert rig.worst.max() > 4 * START
