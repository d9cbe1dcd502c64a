"""The emulated robot with makers' own clients, unmodified."""

import time

import numpy as np
import pytest
from ur_rig import EmulatedUr

rtde_control = pytest.importorskip("rtde_control")
rtde_receive = pytest.importorskip("rtde_receive")
dashboard_client = pytest.importorskip("dashboard_client")

pytestmark = pytest.mark.process
RATE = 250.0
NO_CLIENT = (
    "expected Universal Robots' RTDE client, got none; .ci/nightly installs it, or: "
    "pip install git+https://github.com/UniversalRobots/RTDE_Python_Client_Library"
)


@pytest.fixture
def arm(tmp_path):
    with EmulatedUr(tmp_path, model="ur10e") as arm:
        yield arm


def test_ur_rtde_drives_it(arm):
    dashboard = dashboard_client.DashboardClient(arm.host)
    dashboard.connect()
    assert dashboard.polyscopeVersion().startswith("5.")
    assert dashboard.getSerialNumber().isdigit()
    assert dashboard.isInRemoteControl()
    assert dashboard.getRobotModel() == "UR10"
    receive = rtde_receive.RTDEReceiveInterface(arm.host)
    control = rtde_control.RTDEControlInterface(arm.host)
    begin = np.array(receive.getActualQ())
    assert control.setWatchdog(1.0)
    assert control.setPayload(1.5, [0.0, 0.0, 0.05])
    sent = []
    for k in range(int(RATE)):
        goal = begin + 0.05 * (1.0 - np.cos(2 * np.pi * k / RATE)) * np.eye(6)[1]
        assert control.servoJ(goal.tolist(), 0.0, 0.0, 1 / RATE, 0.03, 300.0)
        sent.append(goal)
        time.sleep(1 / RATE)
    assert control.servoStop()
    assert control.moveJ((begin + 0.02).tolist(), 1.0, 2.0)
    assert np.allclose(receive.getActualQ(), begin + 0.02, atol=1e-3)
    control.stopScript()
    control.disconnect()
    receive.disconnect()
    dashboard.disconnect()

    record = arm.read()
    assert np.allclose(record.goals, sent, atol=1e-8), "every goal, once, in order"
    texts = [text for _, text in record.events]
    assert any(text.startswith("script of 4") for text in texts)
    assert "program ended: stopped by its client" in texts


def test_ur_rtde_sees_stops_and_starts_its_script_again(arm):
    receive = rtde_receive.RTDEReceiveInterface(arm.host)
    control = rtde_control.RTDEControlInterface(arm.host)
    q = receive.getActualQ()
    arm.do("protective_stop")
    time.sleep(0.1)
    assert receive.isProtectiveStopped()
    assert not control.servoJ(q, 0.0, 0.0, 0.002, 0.03, 300.0)
    arm.do("unlock")
    time.sleep(0.05)
    assert control.reuploadScript()
    time.sleep(0.2)
    assert control.servoJ(q, 0.0, 0.0, 0.002, 0.03, 300.0)
    arm.do("estop")
    time.sleep(0.1)
    assert receive.isEmergencyStopped()
    assert receive.getRobotMode() == 3
    control.disconnect()
    receive.disconnect()


@pytest.mark.nightly
def test_urs_own_client_records_and_writes(arm):
    """Its package is on no registry; ``.ci/nightly`` installs it."""
    rtde = pytest.importorskip("rtde.rtde", reason=NO_CLIENT)
    client = rtde.RTDE(arm.host, 30004)
    client.connect()
    assert client.get_controller_version()[0] == 5
    assert client.send_output_setup(["timestamp", "actual_q"], [], 125)
    registers = client.send_input_setup(["input_double_register_24"], ["DOUBLE"])
    assert client.send_start()
    registers.input_double_register_24 = 0.5
    assert client.send(registers)
    assert len(client.receive().actual_q) == 6
    client.disconnect()
