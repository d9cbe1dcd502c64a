"""Targets from before a stall of their process stay off the bus."""

from __future__ import annotations

import time

import can
import pytest

from paprle.hardware.piper.guard import StallGuard
from paprle.hardware.piper.protocol import ENABLE, GRIPPER, JOINTS
from paprle_emulators.piper.protocol import STOP

RATE = 200.0


@pytest.fixture
def line():
    """A bus that hears what is sent, and the guard before its sender."""
    name = f"guard{time.monotonic_ns()}"
    with can.Bus(name, interface="virtual") as heard:
        guard = StallGuard(can.Bus(name, interface="virtual"), RATE)
        yield heard, guard
        guard.shutdown()


def send(heard, guard, number):
    guard.send(can.Message(arbitration_id=number, data=bytes(8), is_extended_id=False))
    message = heard.recv(0.0)
    return message is not None and message.arbitration_id == number


@pytest.mark.parametrize("number", [*JOINTS, GRIPPER])
def test_target_passes_in_its_period_and_not_after_a_stall(line, number):
    heard, guard = line
    assert send(heard, guard, number), "nobody has begun a period"
    guard.renew()
    assert send(heard, guard, number)
    time.sleep(0.03)

    assert not send(heard, guard, number)
    assert guard.n_dropped == 1
    guard.renew()
    assert send(heard, guard, number)


@pytest.mark.parametrize("number", [STOP, ENABLE])
def test_stop_passes_at_any_time(line, number):
    heard, guard = line
    guard.renew()
    time.sleep(0.03)

    assert send(heard, guard, number)


def test_slow_gate_that_writes_at_the_end_of_its_period_has_not_stalled():
    name = f"guard{time.monotonic_ns()}"
    with can.Bus(name, interface="virtual") as heard:
        guard = StallGuard(can.Bus(name, interface="virtual"), 50.0)
        guard.renew()
        time.sleep(0.025)
        assert send(heard, guard, JOINTS[0])
        time.sleep(0.04)

        assert not send(heard, guard, JOINTS[0])
        guard.shutdown()
