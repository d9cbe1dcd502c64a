"""A hand at an emulated arm, in virtual time, and the notice for a session."""

import json

import numpy as np
import pytest

from paprle_emulators.command_line import take_settings
from paprle_emulators.damiao.__main__ import _KEYS, make_arm, make_notice
from paprle_emulators.damiao.hand import Hand
from paprle_emulators.damiao.models import ARMS
from paprle_emulators.damiao.plant import Plant

DT = 0.001


def make(name="openarm", program="sines"):
    table = ARMS[name]
    plant = Plant(table, np.array(table.q), 1.0)
    return plant, Hand(table, plant, program)


def carry(plant, hand, duration):
    """Motors carry the weight and damp; return where the arm was."""
    n, rows = plant.q.size, []
    law = np.zeros((5, n))
    law[3] = 0.1
    for _ in range(round(duration / DT)):
        law[4, : n - 1] = plant.compute_gravity()
        hand.step(DT)
        plant.step(law, DT)
        rows.append(plant.q.copy())
    return np.array(rows)


def build(*words):
    return make_arm(take_settings(list(words), _KEYS))


@pytest.mark.parametrize("name", ARMS)
def test_a_hand_leads_an_arm_and_gives_the_energy(name):
    plant, hand = make(name)

    q = carry(plant, hand, 3.0)

    assert np.ptp(q, axis=0).min() > 0.1
    assert np.abs(plant.q - plant.hand_q)[:-1].max() < 0.1
    assert np.all(np.abs(plant.tau_hand) <= hand.most)
    assert plant.hand_work.sum() > 0.0


def test_a_hand_is_no_stronger_than_its_bound():
    plant, hand = make(program="still")
    plant.push[3] = 100.0
    law = np.zeros((5, 8))

    for _ in range(20):
        hand.step(DT)
        plant.knock(3, 100.0)
        plant.step(law, DT)

    assert plant.tau_hand[3] == pytest.approx(-hand.most[3])


def test_an_arm_that_is_let_go_of_is_not_pulled():
    plant, hand = make()
    hand.hold(False)

    q = carry(plant, hand, 1.0)

    assert np.abs(q - q[0])[:, :-1].max() < 0.01
    assert plant.hand_work == pytest.approx(0.0)


def test_it_begins_when_the_motors_carry_the_arm():
    plant, hand = make()
    plant.is_held = True
    limp = np.zeros((5, 8))

    for _ in range(1000):
        hand.step(DT)
        plant.step(limp, DT)
    assert plant.hand_q == pytest.approx(plant.q)

    carry(plant, hand, 1.0)
    assert not plant.is_held
    assert np.abs(plant.q - np.array([*ARMS["openarm"].q, -1.0472])).max() > 0.05


def test_an_obstacle_stops_a_joint():
    plant, hand = make(program="still")
    plant.block(3, -np.inf, 1.6)
    home = plant.q.copy()
    hand._player._motion = lambda t: home + 0.3 * t * np.eye(8)[3]

    q = carry(plant, hand, 1.0)

    assert 1.59 < q[-1, 3] < 1.65
    plant.block(3, -np.inf, np.inf)
    assert plant._high[3] == ARMS["openarm"].rows[3].limits[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("model=yam",), ("env", "damiao", "yam", "env.channel=/x")),
        (
            ("model=yam", "motion=still"),
            ("leader", "yam", "", "leader.limbs.arm.channel=/x"),
        ),
        (
            ("motion=grasp_all:14,sines",),
            ("leader", "openarm", "", "leader.limbs.right.channel=/x"),
        ),
    ],
)
def test_its_notice_says_whose_socket_it_is(words, expected):
    notice = make_notice(build(*words), "/x")

    part, name, follower, channel = expected
    assert (notice.part, notice.name, notice.follower) == (part, name, follower)
    assert notice.overrides == [f"{part}.interface=emucan", channel]


def test_an_unknown_motion_is_refused():
    with pytest.raises(ValueError, match="motion: expected still, sines"):
        build("motion=dance")


@pytest.mark.parametrize("order", ["motion", "let_go", "grasp"])
def test_orders_for_a_hand_need_one(order):
    arm = build()

    with pytest.raises(ValueError, match="expected an arm in a hand, got none"):
        arm.faults.apply(0, json.loads(f'{{"fault": "{order}"}}'))


def test_orders_reach_the_hand():
    arm = build("motion=still")
    arm.faults.apply(0, {"fault": "let_go"})
    assert not arm.plant.hand_stiffness.any()

    arm.faults.apply(0, {"fault": "grasp"})
    arm.faults.apply(0, {"fault": "motion", "program": "sines"})
    assert arm.plant.hand_stiffness.all()
    with pytest.raises(ValueError, match="motion: expected still, sines"):
        arm.faults.apply(0, {"fault": "motion", "program": "dance"})
