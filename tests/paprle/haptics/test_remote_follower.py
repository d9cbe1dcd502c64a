"""What a hand feels of a robot on another host."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pinocchio as pin
import pytest
from far_rig import FarRig, make_lever
from feel_rig import wall_at

from benchmarks.feel.laws import HANDS, WALL, press
from paprle.config.laws import make_feedback_class
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import GateState, LeaderInfo
from paprle.haptics.contact.contact_direction import HeldHands
from paprle.haptics.remote_follower import FULL_FORCE_RTT, NO_FORCE_RTT, SILENT_NS
from paprle.hosts.two_hosts.remote_haptics import make_far_haptics
from paprle.ipc.records import make_layout
from paprle.retargeting.pairing import make_pairing
from paprle.retargeting.state import Anchors

ROUND_TRIPS = [0.0, 0.05, 0.1, 0.15, 0.2]
RIPPLE = 1e-4  # [J] of a count of current of ``friction`` (decision 0014)
E_0 = 3e-3  # [J] spec: safety.md F3


def press_early(t):
    """Into the wall within half a second, while the torques still come in."""
    return np.array([min(1.5 * t, WALL + 0.2)])


def reflect(rig):
    """What is rendered of the robot, [N·m]."""
    return float(np.abs(rig.haptics.composer._reflected).max())


@pytest.mark.long
def test_a_wall_is_felt_over_a_link_and_silence_takes_it_at_once():
    rig = FarRig(press_early, "tight", 0.05)
    rig.run(0.6)
    assert reflect(rig) > 0.05

    rig.is_parted = True
    rig.run(0.05 + 1e-9 * SILENT_NS + 0.01)  # what was under way, and the silence

    assert reflect(rig) == 0.0
    assert rig.haptics.state.name == "RENDERING", "the leader's own laws go on"


def test_beyond_the_stated_round_trip_nothing_of_the_robot_is_rendered():
    rig = FarRig(press_early, "tight", NO_FORCE_RTT + 0.03)

    rig.run(0.6)

    assert rig.servos.q[0] == pytest.approx(WALL)
    assert rig.follower.find_share(rig.now_ns) == 0.0
    assert reflect(rig) == 0.0


def test_contact_fades_between_the_two_round_trips():
    rig = FarRig(press_early, round_trip=0.0)

    shares = []
    for age in (FULL_FORCE_RTT, 0.5 * (FULL_FORCE_RTT + NO_FORCE_RTT), NO_FORCE_RTT):
        rig.follower.hear(rig.now_ns, round(1e9 * age), (), is_following=True)
        shares.append(rig.follower.find_share(rig.now_ns))

    assert shares == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize("age_ns", [None, -1, 10**18])
def test_effort_of_unknown_age_is_not_felt(age_ns):
    rig = FarRig(press_early, round_trip=0.0)

    rig.follower.hear(rig.now_ns, age_ns, (), is_following=True)

    assert rig.follower.find_share(rig.now_ns) == 0.0


def test_a_wall_too_stiff_for_the_round_trip_is_refused():
    _, leader = make_lever()
    settings = make_feedback_class()()
    contact = dataclasses.replace(settings.laws.contact, k_lin=300.0)
    laws = dataclasses.replace(settings.laws, contact=contact)

    with pytest.raises(ConfigError, match=r"arm/joint1: expected .* contact") as told:
        make_far_haptics(dataclasses.replace(settings, laws=laws), leader)

    of_the_link = float(
        re.search(r"which ([\d.]+) ms are the link's", str(told.value))[1]
    )
    assert "over a link of 100 ms there and back" in str(told.value)
    assert of_the_link >= 21.7  # 0.217 of it, and of the follower's own lag


def test_a_default_wall_is_as_stiff_as_the_longest_round_trip_lets_it():
    _, leader = make_lever()

    haptics, _ = make_far_haptics(make_feedback_class()(), leader)

    assert 0.1 < haptics.held_scale.max() < 1.0
    assert haptics.held_margins["arm"].ratio <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_wall_stands_where_the_hand_would_lead_the_robot_as_it_is(seed):
    rng = np.random.default_rng(seed)
    robot, _ = make_lever()
    posed = LeaderInfo(limbs=("arm",), emits="pose")
    layout = make_layout(robot.info, posed)
    pairing = make_pairing(robot, posed, RetargetSettings(), {})
    hands = HeldHands(make_feedback_class()(), robot, posed, pairing, layout)
    L, K = (pin.exp3(rng.uniform(-2, 2, 3)) for _ in range(2))
    p_0, p_leader0, scale = rng.normal(size=3), rng.normal(size=3), 0.4
    anchors = Anchors(L[None], K[None], p_0[None], p_leader0[None], np.array([scale]))
    q = np.zeros(1)
    status = np.zeros((), layout.status)
    status["state"], status["tau_meas"] = GateState.ENGAGED, np.nan
    for k in range(200):
        now_ns = 10**9 + 5_000_000 * k
        q = q + 0.003
        status["stamp_ns"] = status["meas_ns"] = now_ns
        status["q_cmd"], status["q_meas"] = q, np.minimum(q, 0.3)
        hands.update(status)

    (held,) = hands.find(now_ns, anchors)

    arm = robot.limbs["arm"]
    T_robot, T_hand = arm.fk(np.array([0.3])), pin.XYZQUATToSE3(held.pose)
    asked = p_0 + scale * L @ (T_hand.translation - p_leader0)
    assert asked == pytest.approx(T_robot.translation)
    assert np.allclose(L @ T_hand.rotation @ K, T_robot.rotation, atol=1e-6)
    back = arm.fk(np.array([0.29])).translation - T_robot.translation
    assert (L @ held.way[:3]) @ back > 0.99 * np.linalg.norm(back)
    assert held.share == 1.0


@pytest.mark.nightly
@pytest.mark.timeout(120)
@pytest.mark.parametrize("round_trip", ROUND_TRIPS)
@pytest.mark.parametrize("grip", [*HANDS, "released"])
def test_no_hand_is_given_energy_over_a_bad_link(grip, round_trip):
    is_let_go = grip == "released"
    motion = press(0.3, 0.4, np.inf if is_let_go else 3.5)
    held = "normal" if is_let_go else grip
    rig = FarRig(motion, held, round_trip, jitter=0.015, loss=0.05)

    rig.run(3.5)
    pressed = reflect(rig)
    rig.hand = None if is_let_go else rig.hand
    felt = rig.run(1.5)

    assert felt["energy"].min() >= 0.0
    assert rig.worst <= RIPPLE
    assert np.abs(felt["dq"][-40:]).max() < 0.05 or not is_let_go
    assert pressed > 0.2 or round_trip > FULL_FORCE_RTT


@pytest.mark.nightly
@pytest.mark.timeout(120)
@pytest.mark.parametrize("round_trip", ROUND_TRIPS)
@pytest.mark.parametrize("touch", [wall_at(WALL), wall_at(WALL, servo=5.0, wall=5.0)])
def test_a_hand_that_taps_is_given_no_more_than_the_observer_lends(touch, round_trip):
    def tap(t):
        return np.array([WALL + 0.25 * np.sin(2 * np.pi * 1.5 * t)])

    rig = FarRig(tap, "normal", round_trip, jitter=0.015, loss=0.05, touch=touch)

    felt = rig.run(5.0)

    assert felt["energy"].min() >= 0.0
    assert rig.worst <= 1.3 * E_0, "a torque under way on the bus (decision 0014)"
