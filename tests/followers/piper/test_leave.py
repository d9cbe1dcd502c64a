"""Leave to drive an arm that nobody else stops is asked before it has power."""

import os

import pytest
from piper_rig import EmulatedPiper

from paprle.config import resolve
from paprle.contracts.errors import DeviceError
from paprle.hardware.piper.protocol import MOTION_IDS
from paprle.hosts.factories import RING_BYTES
from paprle.hosts.plan import make_plan
from paprle.hosts.processes.gate import GateHost
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import Role

pytest.importorskip("piper_sdk")
pytestmark = pytest.mark.process


@pytest.fixture
def fresh(tmp_path):
    arm = EmulatedPiper(tmp_path)
    yield arm
    arm.end()


def host(arm, *, accepts):
    words = ["leader=autopilot", *arm.args[:-1]]
    words.append(f"gate.accept_unattended={'true' if accepts else 'false'}")
    plan = make_plan(resolve(words))
    boxes = [Mailbox(plan.layout.setpoint), Mailbox(plan.layout.status)]
    fds = {"setpoint": boxes[0].fd, "status": boxes[1].fd}
    fds |= {"gate_ring": Ring(RING_BYTES).fd, "report": os.open(os.devnull, os.O_RDWR)}
    return GateHost(Role({"config": plan.resolved.to_dict()}, fds))


def test_without_leave_the_arm_gets_no_power_and_no_frame(fresh):
    with pytest.raises(DeviceError, match=r"expected gate\.accept_unattended=true"):
        host(fresh, accepts=False)

    record = fresh.read()
    assert not record.is_enabled.any()
    assert not set(record.ids) & {*MOTION_IDS, 0x471}


def test_with_leave_it_has_power(fresh):
    gate = host(fresh, accepts=True)
    gate._follower.close("hold")

    assert fresh.read().is_enabled[-1]
