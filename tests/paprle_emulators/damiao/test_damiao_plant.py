"""The emulated arm's physics: it sags, falls, is braked, held, bounded and stopped."""

import numpy as np
import pytest

from paprle_emulators.damiao.models import ARMS, MOTORS
from paprle_emulators.damiao.plant import Plant

DT = 0.001
GAINS = {
    "openarm": ([70, 70, 70, 60, 10, 10, 10, 5], [2.75, 2.5, 2, 2, 0.7, 0.6, 0.5, 0.1]),
    "yam": ([80, 80, 80, 10, 10, 10, 20], [5, 5, 5, 0.5, 0.5, 0.5, 0.5]),
}


def make(name, weight=1.0):
    return Plant(ARMS[name], np.array(ARMS[name].q), weight)


def hold(plant, name):
    kp, kd = GAINS[name]
    zeros = np.zeros(len(plant.q))
    return np.array([plant.q.copy(), zeros, kp, kd, zeros])


def run(plant, law, seconds):
    for _ in range(round(seconds / DT)):
        plant.step(law, DT)


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_that_is_not_compensated_sags_by_its_weight(name):
    plant, n = make(name), ARMS[name].n
    law, begin = hold(plant, name), plant.q.copy()

    run(plant, law, 2.0)

    sag = np.abs(plant.q - begin)[:n]
    weight = np.abs(plant.compute_gravity())
    heaviest = int(np.argmax(weight / law[2, :n]))
    assert sag[heaviest] > 0.5 * weight[heaviest] / law[2, heaviest]
    assert np.abs(plant.dq).max() < 0.01


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_that_is_compensated_stays(name):
    plant, n = make(name), ARMS[name].n
    law, begin = hold(plant, name), plant.q.copy()
    law[4, :n] = plant.compute_gravity()

    run(plant, law, 2.0)

    assert np.abs(plant.q - begin).max() < 2e-3


@pytest.mark.parametrize("name", ARMS)
def test_a_limp_arm_falls_and_a_braked_one_more_slowly(name):
    table, fallen = ARMS[name], []
    braking = np.array([MOTORS[kind].braking for kind in table.motors])
    for is_braked in (False, True):
        plant = make(name)
        law = np.zeros((5, len(plant.q)))
        law[3] = braking * is_braked
        begin = plant.q.copy()
        run(plant, law, 0.4)
        fallen.append(np.abs(plant.q - begin).max())

    limp, braked = fallen
    assert limp > 0.2
    assert 0.05 < braked < 0.7 * limp


@pytest.mark.parametrize("name", ARMS)
def test_torque_is_finite(name):
    plant = make(name)
    law = hold(plant, name)
    law[0] += 3.0

    plant.step(law, DT)

    peak = [MOTORS[kind].peak for kind in ARMS[name].motors]
    assert (np.abs(plant.tau) <= peak).all()
    assert plant.tau[0] == peak[0]


@pytest.mark.parametrize("name", ARMS)
def test_joints_stop_hard_at_their_limits(name):
    plant, table = make(name), ARMS[name]
    law = np.zeros((5, len(plant.q)))
    last = table.n - 1
    law[4, last] = 3.0

    run(plant, law, 4.0)

    high = table.rows[last].limits[1]
    assert high < plant.q[last] < high + 0.03


def test_a_heavier_arm_sags_where_a_driver_trusts_the_tables():
    plant, true = make("openarm", 1.04), make("openarm")
    law = hold(plant, "openarm")
    law[4, :7] = true.compute_gravity()

    assert np.abs(plant.compute_gravity() / true.compute_gravity() - 1.04).max() < 1e-6
    run(plant, law, 1.0)

    assert np.abs(plant.q - law[0]).max() < 5e-3


def test_a_knock_moves_a_joint_which_comes_back():
    plant = make("yam")
    law, begin = hold(plant, "yam"), plant.q.copy()
    law[4, :6] = plant.compute_gravity()
    plant.knock(0, 20.0)

    run(plant, law, 0.05)
    moved = abs(plant.q[0] - begin[0])
    run(plant, law, 2.0)

    assert moved > 0.02
    assert abs(plant.q[0] - begin[0]) < 0.006


def test_a_hand_holds_the_arm_until_its_motors_do():
    plant = make("yam")
    plant.is_held, begin = True, plant.q.copy()

    run(plant, np.zeros((5, 7)), 0.5)
    assert (plant.q == begin).all()

    run(plant, hold(plant, "yam"), 0.01)
    assert not plant.is_held
    run(plant, np.zeros((5, 7)), 0.5)
    assert np.abs(plant.q - begin).max() > 0.1
