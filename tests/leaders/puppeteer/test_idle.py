"""A puppeteer's buses rest while nobody uses it, and wake with the operator."""

import time

import numpy as np
import pytest
from emulated_puppeteers import make_limb, wait_for, wait_for_sample

from paprle.contracts.types import Feedback, SessionState
from paprle.leaders.puppeteer.leader import Puppeteer

OPEN, SHUT = 0.8, 0.0


@pytest.fixture
def rig_at_rest(one_arm):
    """An opened leader of one arm that stands, its gripper open."""
    emulated, config = one_arm
    emulated.servo(3).angle = OPEN
    leader = Puppeteer(config, time.monotonic_ns)
    leader.open()
    yield emulated, leader
    leader.close()


def tell(leader, state="WAITING", tau=None):
    """Tell the leader of the session, as a feedback thread does; is it idle then?"""
    leader.latest()
    leader.apply(
        Feedback(
            stamp_ns=time.monotonic_ns(),
            state=SessionState[state],
            episode=0,
            is_engaged=state == "ENGAGED",
            tau={} if tau is None else {"left": np.full(3, tau)},
        )
    )
    return not any(bus._is_wanted.is_set() for bus in leader.buses.values())


def wait_until_idle(leader):
    wait_for(lambda: tell(leader), "an idle bus")


def test_bus_rests_while_the_session_waits_and_nobody_moves(rig_at_rest):
    _, leader = rig_at_rest

    wait_until_idle(leader)


@pytest.mark.parametrize("state", [s.name for s in SessionState if s.name != "WAITING"])
def test_bus_never_rests_in_another_state(rig_at_rest, state):
    _, leader = rig_at_rest
    wait_until_idle(leader)

    assert not tell(leader, state)


def test_bus_never_rests_before_the_session_speaks(rig_at_rest):
    _, leader = rig_at_rest
    wait_for_sample(leader)
    (bus,) = leader.buses.values()

    assert bus._is_wanted.is_set()


def test_bus_wakes_with_a_torque(rig_at_rest):
    _, leader = rig_at_rest
    wait_until_idle(leader)

    assert not tell(leader, tau=0.01)


def test_bus_rests_under_a_torque_that_stands(rig_at_rest):
    _, leader = rig_at_rest
    wait_until_idle(leader)

    assert not tell(leader, tau=0.01)
    assert tell(leader, tau=0.01)
    assert not tell(leader, tau=0.02)


def test_bus_wakes_with_a_motion(rig_at_rest):
    emulated, leader = rig_at_rest
    wait_until_idle(leader)

    emulated.servo(1).velocity = 0.5

    wait_for(lambda: not tell(leader), "a bus that is awake")


def test_bus_wakes_with_a_grip(rig_at_rest):
    emulated, leader = rig_at_rest
    wait_until_idle(leader)

    emulated.servo(3).angle = SHUT

    wait_for(lambda: not tell(leader), "a bus that is awake")
    assert not tell(leader)  # as long as the signal is held


def test_bus_of_a_lost_arm_never_rests(rig, opened_two):
    emulated, leader = opened_two(rig)
    emulated.cause("silent", limb="right", joint="joint2")

    wait_for_sample(leader, lambda s: set(s.limbs) == {"left"})
    tell(leader)

    assert all(bus._is_wanted.is_set() for bus in leader.buses.values())


@pytest.fixture
def opened_two():
    """Open a leader of two arms on two ports, and close it."""
    leaders = []

    def start(rig):
        emulated, config = rig({"left": make_limb("a"), "right": make_limb("b")})
        leaders.append(Puppeteer(config, time.monotonic_ns))
        leaders[-1].open()
        return emulated, leaders[-1]

    yield start
    for leader in leaders:
        leader.close()
