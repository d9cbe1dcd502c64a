"""Followers with one device for each limb."""

from types import SimpleNamespace

import numpy as np
import pytest

from paprle.contracts.errors import CommandError, DeviceError
from paprle.contracts.kit.followers.limb_devices import (
    DeviceState,
    assign_addresses,
    check_open,
    check_target,
    join_states,
)

ONE = SimpleNamespace(limbs=[SimpleNamespace(name="arm")])
TWO = SimpleNamespace(limbs=[SimpleNamespace(name=n) for n in ("left", "right")])


def make_state(limb, ids, stamp_ns, reason=""):
    rows = {key: np.arange(len(ids)) + k for k, key in enumerate(("q", "dq", "tau"))}
    held = np.full(len(ids), 9.0)
    return DeviceState(
        limb=limb, ids=ids, stamp_ns=stamp_ns, q_held=held, stop_reason=reason, **rows
    )


def test_a_single_limb_has_the_single_address_and_several_have_their_own():
    assert assign_addresses(ONE, "env.ports", "a", {}, "x") == {"arm": "a"}
    each = {"right": "r", "left": "l"}
    found = assign_addresses(TWO, "env.ports", "a", each, "x")
    assert list(found.items()) == [("left", "l"), ("right", "r")]


@pytest.mark.parametrize("each", [{}, {"left": "l"}, {"left": "l", "rihgt": "r"}])
def test_addresses_of_other_limbs_are_refused(each):
    with pytest.raises(DeviceError, match=r"write env\.ports\.left=x"):
        assign_addresses(TWO, "env.ports", "a", each, "x")


def test_states_are_joined_in_the_robots_order_with_the_oldest_stamp():
    states = [make_state("left", [3, 0], 7, "hot"), make_state("right", [1, 2], 5)]

    found = join_states(4, states)

    assert found.stamp_ns == 5
    assert found.q.tolist() == [1, 0, 1, 0]
    assert found.dq.tolist() == [2, 1, 2, 1]
    assert found.tau.tolist() == [3, 2, 3, 2]
    assert found.q_held.tolist() == [9.0] * 4
    assert found.stop_reason == "left: hot"
    assert not found.q.flags.writeable


def test_the_reason_of_a_single_limb_needs_no_name():
    found = join_states(2, [make_state("arm", [0, 1], 1, "hot")])

    assert found.stop_reason == "hot"


@pytest.mark.parametrize("q", [np.zeros(3), np.array([0.0, np.nan]), np.zeros((1, 2))])
def test_a_wrong_target_is_refused(q):
    with pytest.raises(CommandError, match="expected 2 finite positions"):
        check_target("ur", q, 2)


def test_a_closed_follower_is_refused():
    with pytest.raises(DeviceError, match=r"call open\(\) first"):
        check_open("ur", [])
