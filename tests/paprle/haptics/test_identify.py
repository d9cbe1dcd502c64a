"""Lag, friction and delay come back from motions with known ones."""

import numpy as np
import pytest
from feel_rig import ENCODER, Motors

from paprle.followers.kinematic.plant import Plant
from paprle.haptics.identify import fit_drive, fit_lag, fit_motor, make_tones


@pytest.mark.parametrize(
    ("dead_time", "time_constant"), [(0.02, 0.04), (0.0, 0.1), (0.06, 0.0)]
)
def test_a_followers_lag_is_found(dead_time, time_constant):
    t = np.arange(0, 10, 0.005)
    q_cmd = make_tones(t, 0.1)
    plant = Plant(np.zeros(1), 0.005, time_constant, dead_time)
    q_meas = []
    for u in q_cmd:
        plant.step(np.array([u]))
        q_meas.append(plant.q[0])
    lag = fit_lag(t[400:], q_cmd[400:], t[400:], np.array(q_meas)[400:])

    assert lag.dead_time == pytest.approx(dead_time, abs=0.003)
    assert lag.time_constant == pytest.approx(time_constant, abs=0.003)
    assert lag.residual < 0.02


@pytest.mark.parametrize("delay", [0.0, 0.0075])
@pytest.mark.parametrize(("b", "c"), [(0.05, 0.01), (0.02, 0.03)])
def test_a_motors_friction_and_delay_are_found(b, c, delay):
    dt, n = 0.0025, 3200
    motors, late = Motors([0.0], 0.004, b, c), round(delay / dt)
    t = dt * np.arange(n)
    rows, posted = [], [0.0] * (late + 1)
    for time in t:
        q, dq = np.round(motors.q / ENCODER) * ENCODER, motors.dq
        tau = float(make_tones(time, 0.2)) - 0.3 * q[0]
        rows.append((tau, q[0], dq[0]))
        posted.append(tau)
        for _ in range(4):
            motors.step(np.array([posted[-1 - late]]), dt / 4)
    tau, q, dq = np.array(rows)[800:].T
    motor = fit_motor(t[800:], tau, q, dq)

    assert motor.viscous == pytest.approx(b, rel=0.15, abs=0.003)
    assert motor.coulomb == pytest.approx(c, rel=0.2, abs=0.002)
    assert motor.delay == pytest.approx(delay, abs=2 * dt)


def sag(stiffness, noise=0.0, seed=0):
    """A drive that holds its command by a spring, against friction and weight."""
    t = np.arange(0, 8, 0.005)
    q_cmd = make_tones(t, 0.06)
    rng, q, rows = np.random.default_rng(seed), 0.0, []
    damping, inertia, speed = 0.05 * stiffness, 0.5, 0.0
    for u in q_cmd:
        for _ in range(5):
            tau = stiffness * (u - q) - damping * speed
            weight = 6.0 * np.cos(1.0 + q) + 1.0 * np.tanh(speed / 0.02)
            speed += 1e-3 * (tau - weight) / inertia
            q += 1e-3 * speed
        rows.append((u, q, tau + noise * rng.standard_normal()))
    return t, *np.array(rows).T


@pytest.mark.parametrize("stiffness", [300.0, 2000.0])
def test_the_stiffness_of_a_drive_is_found_in_its_efforts(stiffness):
    assert fit_drive(*sag(stiffness, noise=0.05)) == pytest.approx(stiffness, rel=0.25)


def test_a_stiffness_that_efforts_do_not_show_is_none():
    t, q_cmd, q_meas, tau = sag(300.0)
    rng = np.random.default_rng(3)

    assert np.isnan(fit_drive(t, q_cmd, q_meas, np.full(t.size, np.nan)))
    assert np.isnan(fit_drive(t, q_cmd, q_meas, 5.0 * rng.standard_normal(t.size)))
    assert np.isnan(fit_drive(t[:20], q_cmd[:20], q_meas[:20], tau[:20]))
