"""The maker's SDK, unmodified, at the emulated control box."""

import socket
import time

import numpy as np
import pytest
from xarm_rig import running_xarm, wait_until

wrapper = pytest.importorskip("xarm.wrapper")
pytestmark = pytest.mark.process

AXES = {"xarm5": (5, 5), "xarm6": (6, 6), "xarm850": (6, 12), "lite6": (6, 9)}


@pytest.fixture(autouse=True)
def _timeout():
    """The SDK changes that of every socket."""
    yield
    socket.setdefaulttimeout(None)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    with running_xarm(tmp_path_factory.mktemp("arm")) as arm:
        yield arm


@pytest.fixture
def api(arm):
    yield from connect(arm)


def connect(arm):
    api = wrapper.XArmAPI(arm.host, is_radian=True)
    yield api
    api.disconnect()


def start(api, mode):
    assert api.clean_error() == 0
    assert api.motion_enable(True) == 0
    assert api.set_mode(mode) == 0
    assert api.set_state(0) == 0
    wait_until(lambda: api.mode == mode and api.state in (1, 2))


def test_servo_j_example_flow(arm, api):
    start(api, 0)
    assert api.move_gohome(wait=True) == 0
    start(api, 1)

    for i in range(30):
        assert api.set_servo_angle_j([i * 0.01, 0, 0, 0, 0, 0, 0]) == 0
        time.sleep(0.005)
    wait_until(lambda: abs(api.get_servo_angle()[1][0] - 0.29) < 1e-3)

    record = arm.read()
    assert record.counts[-30:].all()
    assert record.commands[-30:, 0] == pytest.approx(0.01 * np.arange(30), abs=1e-6)
    code, (q, dq, tau) = api.get_joint_states()
    assert code == 0
    assert q[0] == pytest.approx(0.29, abs=1e-3)
    assert tau[1] == pytest.approx(-7.39, abs=0.05), "it carries itself"
    wait_until(lambda: api.angles[0] == pytest.approx(0.29, abs=1e-3), 2.0)
    assert api.temperatures[:7] == [35] * 7


def test_planned_motion_waits_for_its_end(api):
    start(api, 0)

    begin = time.monotonic()
    assert api.set_servo_angle(angle=[0.5] + [0] * 6, speed=1.0, wait=True) == 0

    assert time.monotonic() - begin < 3.0
    assert api.get_servo_angle()[1][0] == pytest.approx(0.5, abs=2e-3)


def test_an_error_is_reported_and_the_way_back_is_taken(arm, api):
    start(api, 1)

    arm.do("collision")
    wait_until(lambda: api.error_code == 31)

    assert api.set_servo_angle_j([0.0] * 7) != 0
    assert api.state == 4
    start(api, 1)
    assert api.set_servo_angle_j(api.get_servo_angle()[1]) == 0


def test_gripper_example_flow(api):
    start(api, 0)

    assert api.set_gripper_mode(0) == 0
    assert api.set_gripper_enable(True) == 0
    assert api.set_gripper_speed(5000) == 0
    assert api.set_gripper_position(600, wait=True) == 0

    assert api.get_gripper_position() == (0, 600)
    assert api.set_rs485_use_503_port(True) in (0, None)
    assert api.get_gripper_position() == (0, 600)


@pytest.mark.parametrize("model", AXES)
def test_every_model_is_recognised(tmp_path, model):
    with running_xarm(tmp_path, model, gripper="bio") as arm:
        for api in connect(arm):
            wait_until(lambda api=api: api.device_type == AXES[model][1])
            assert api.axis == AXES[model][0]
            start(api, 1)
            assert api.set_servo_angle_j([0.01] + [0] * 6) == 0
            if model == "xarm6":
                check_bio_gripper(api)


def check_bio_gripper(api):
    start(api, 0)
    assert api.set_bio_gripper_enable(True) == 0
    assert api.set_bio_gripper_speed(4000) == 0
    assert api.close_bio_gripper() == 0
    assert api.get_bio_gripper_g2_position() == (0, 71)


def test_a_control_box_without_power_comes_back_without_power(arm, api):
    start(api, 1)

    arm.do("power_off")
    arm.do("power_on")
    wait_until(lambda: not api.connected)

    for again in connect(arm):
        assert again.get_state() == (0, 4)
        assert not arm.read().flags[-1, 3]
