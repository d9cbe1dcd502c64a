"""What may be rendered, step by step on a clock of our own."""

import numpy as np
import pytest

from paprle.hardware.dynamixel.torque import RELEASE, TorqueCommand, TorqueShaper

CAPS = np.array([0.1, 1.0])
DT = 0.0025
MS = 1_000_000


def run(shaper, command, begin_ns, n):
    """Step n times and return the torques."""
    rows = [
        shaper.step(command, CAPS, begin_ns + round(i * DT * 1e9), DT) for i in range(n)
    ]
    return np.array(rows)


def command(tau, stamp_ns=0):
    return TorqueCommand(np.array(tau, dtype=float), stamp_ns)


def test_torque_rises_to_its_cap_in_a_few_steps_and_no_farther():
    taus = run(TorqueShaper(2), command([9.0, -9.0]), 0, 20)

    assert taus[-1] == pytest.approx(CAPS * [1, -1])
    assert np.abs(np.diff(taus, axis=0)).max(axis=0) == pytest.approx(CAPS / 8)


@pytest.mark.parametrize(("age", "is_rendered"), [(50, True), (51, False), (-1, False)])
def test_torque_is_rendered_while_it_is_fresh(age, is_rendered):
    shaper = TorqueShaper(2)

    tau = shaper.step(command([0.05, 0.5]), CAPS, age * MS, DT)

    assert tau.any() == is_rendered


@pytest.mark.parametrize(
    "tau", [[np.nan, 0.0], [np.inf, 0.0], [0.1], [0.1, 0.1, 0.1]], ids=str
)
def test_torque_that_makes_no_sense_is_none(tau):
    shaper = TorqueShaper(2)
    run(shaper, command([0.1, 1.0]), 0, 10)

    assert not shaper.step(command(tau), CAPS, 0, DT).any()


def test_stale_torque_is_none_at_once():
    shaper = TorqueShaper(2)
    assert run(shaper, command([0.1, 1.0]), 0, 10)[-1].any()

    assert not shaper.step(command([0.1, 1.0]), CAPS, 51 * MS, DT).any()


def test_release_ramps_to_nothing_in_its_time():
    shaper = TorqueShaper(2)
    run(shaper, command([0.1, 1.0]), 0, 10)
    assert not shaper.is_limp

    release = TorqueCommand(np.zeros(2), 0, is_release=True)
    taus = run(shaper, release, 0, int(RELEASE / DT) + 2)

    assert taus[0] == pytest.approx(CAPS)
    assert (np.diff(taus, axis=0) <= 0).all()
    assert taus[40] == pytest.approx(CAPS * 0.5)
    assert not taus[-1].any()
    assert shaper.is_limp


def test_a_moment_without_torques_leaves_servos_on():
    """Down as fast as it came; off only once nothing was asked for in a second."""
    shaper = TorqueShaper(2)
    run(shaper, command([0.1, 1.0]), 0, 10)

    taus = run(shaper, command([0.0, 0.0]), 0, 10)
    assert not taus[8:].any()
    assert not shaper.is_limp
    run(shaper, command([0.1, 1.0]), 0, 1)
    run(shaper, command([0.1, 1.0]), 51 * MS, 380)  # nobody renews it
    assert not shaper.is_limp

    run(shaper, command([0.1, 1.0]), 1051 * MS, 2)
    assert shaper.is_limp
    assert run(shaper, command([0.1, 1.0]), 0, 1).any()
    assert not shaper.is_limp


def test_a_bus_is_limp_until_a_torque_is_commanded():
    shaper = TorqueShaper(2)

    run(shaper, None, 0, 3)
    run(shaper, command([0.0, 0.0]), 0, 3)
    assert shaper.is_limp

    run(shaper, command([0.0, 0.1]), 0, 1)
    assert not shaper.is_limp
