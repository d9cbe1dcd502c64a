"""Opening ends in time where ur_rtde does not, as after a cut of the cable."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest
from xarm_rig import wait_until

from paprle.hardware.ur import arm as module
from paprle.hardware.ur.arm import UrArm, UrSettings
from paprle.hardware.vendor_arm.states import ArmError


@pytest.fixture
def arm(monkeypatch):
    monkeypatch.setattr(module, "_OPEN_TIME", 0.1)
    return UrArm(UrSettings(host="127.0.0.1"), time.monotonic_ns)


def put(monkeypatch, client):
    monkeypatch.setitem(sys.modules, "slow_rtde", SimpleNamespace(Client=client))


def test_a_client_that_does_not_connect_is_left_and_ended_when_it_does(
    arm, monkeypatch
):
    cable, done = threading.Event(), []

    class Client:
        def __init__(self, *_):
            cable.wait()

        def stopScript(self):
            done.append("stopped")

        def disconnect(self):
            done.append("disconnected")

    put(monkeypatch, Client)
    begin = time.monotonic()
    with pytest.raises(ArmError, match="got no answer; look at its cable"):
        arm._connect("slow_rtde", "Client")
    assert time.monotonic() - begin < 2.0
    assert done == []
    cable.set()
    wait_until(lambda: done == ["stopped", "disconnected"])


def test_a_refusal_is_told_as_before(arm, monkeypatch):
    def refuse(*_):
        raise RuntimeError("registers in use")

    put(monkeypatch, refuse)
    with pytest.raises(ArmError, match="registers in use"):
        arm._connect("slow_rtde", "Client")


def test_a_client_that_connects_is_kept(arm, monkeypatch):
    put(monkeypatch, lambda *_: SimpleNamespace(disconnect=pytest.fail))
    assert arm._connect("slow_rtde", "Client") is not None
