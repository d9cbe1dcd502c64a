"""The SDK's examples, shortened and hastened, by the unmodified SDK.

Each test has the number of its example in ``example/wrapper`` of xarm-python-sdk.
"""

import math
import socket
import time

import numpy as np
import pytest
from xarm_rig import running_xarm, wait_until

from paprle_emulators.xarm.models import MODELS

wrapper = pytest.importorskip("xarm.wrapper")
code = pytest.importorskip("xarm.x3.code")
pytestmark = [pytest.mark.process, pytest.mark.nightly]

DOWN = {"roll": -180, "pitch": 0, "yaw": 0}
FAST = {"speed": 400, "mvacc": 2000}
PATHS = [
    [300, 0, 150, -180, 0, 0],
    [300, 200, 250, -180, 0, 0],
    [500, 200, 150, -180, 0, 0],
    [500, -200, 250, -180, 0, 0],
    [300, -200, 150, -180, 0, 0],
    [300, 0, 250, -180, 0, 0],
]


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    with running_xarm(tmp_path_factory.mktemp("arm")) as arm:
        yield arm


@pytest.fixture
def api(arm):
    api = wrapper.XArmAPI(arm.host)
    start(api)
    assert api.move_gohome(speed=170, mvacc=1100, wait=True) == 0
    yield api
    api.set_reduced_mode(False)
    api.disconnect()
    socket.setdefaulttimeout(None)  # the SDK changes that of every socket


def start(api, mode=0):
    api.clean_warn()
    assert api.clean_error() == 0
    assert api.motion_enable(enable=True) == 0
    assert api.set_mode(mode) == 0
    assert api.set_state(state=0) == 0


def place(api):
    return api.get_position()[1][:3]


def test_0002_properties(api):
    wait_until(lambda: api.error_code == 0 and api.state in (1, 2))

    wait_until(lambda: api.collision_sensitivity == 3)  # with the first report of all

    assert (api.mode, api.warn_code) == (0, 0)
    assert api.tcp_load[0] == 0
    assert api.tcp_offset == [0] * 6
    wait_until(lambda: api.position[:3] == pytest.approx([206, 0, 120.5], abs=1.0))


def test_0003_getters(api):
    assert api.get_version()[0] == 0
    assert api.get_cmdnum() == (0, 0)
    assert api.get_err_warn_code()[0] == 0
    assert api.get_servo_angle(servo_id=1)[1] == pytest.approx(0.0, abs=0.1)


def test_1001_move_line(api):
    for x, y, z, *_ in PATHS:
        assert api.set_position(x=x, y=y, z=z, **DOWN, **FAST, wait=True) == 0
        assert place(api) == pytest.approx([x, y, z], abs=0.5)
        assert abs(api.get_position()[1][3]) == pytest.approx(180, abs=0.2)
    assert api.error_code == 0


def test_1003_relative_move_line(api):
    begin = place(api)

    assert api.set_position(x=100, relative=True, **FAST, wait=True) == 0
    assert api.set_position(y=100, z=100, relative=True, **FAST, wait=True) == 0

    assert place(api) == pytest.approx(np.add(begin, [100, 100, 100]), abs=0.5)


def test_1004_lines_that_wait_in_the_buffer(arm, api):
    assert api.set_position(*PATHS[0], **FAST, wait=True) == 0
    _, angles = api.get_servo_angle()
    since_ns = arm.read().state_stamps[-1]
    assert api.set_pause_time(0.1) == 0

    assert api.set_servo_angle(angle=angles, speed=170, wait=False) == 0
    for path in PATHS:
        assert api.set_position(*path, radius=0, wait=False, **FAST) == 0
    wait_until(lambda: api.get_cmdnum() == (0, 0), 10.0)

    assert api.error_code == 0
    assert place(api) == pytest.approx(PATHS[-1][:3], abs=0.5)
    record = arm.read()
    q = record.q[record.state_stamps > since_ns]
    tool = np.array([MODELS["xarm7"].compute_frames(x)[-1][:3, 3] for x in q])
    for path in PATHS:
        beside = np.linalg.norm(1e3 * tool - path[:3], axis=1)
        assert beside.min() < 1.0, "it stops at each corner"


def test_1006_move_tool_line(api):
    begin = place(api)

    assert api.set_tool_position(x=100, z=-50, **FAST, wait=True) == 0

    assert place(api) == pytest.approx(np.add(begin, [100, 0, 50]), abs=0.5)


def test_1008_move_line_by_axis_and_angle(api):
    assert api.set_position(300, 0, 300, 180, 0, 0, **FAST, wait=True) == 0

    for turn in (50, -50):
        pose = [0, 0, 0, 0, turn, 0]
        assert api.set_position_aa(pose, relative=True, **FAST, wait=True) == 0
        pitch = api.get_position()[1][4]
        assert abs(pitch) == pytest.approx(50 if turn > 0 else 0, abs=0.5)


@pytest.mark.parametrize("is_radian", [False, True])
def test_2004_one_joint_leaves_the_others(api, is_radian):
    unit = math.radians(1) if is_radian else 1.0
    words = {"speed": 170 * unit, "mvacc": 1100 * unit, "is_radian": is_radian}

    for joint, angle in ((1, 30), (2, -20), (3, -30)):
        api.set_servo_angle(servo_id=joint, angle=angle * unit, wait=True, **words)

    angles = api.get_servo_angle(is_radian=False)[1]
    assert angles == pytest.approx([30, -20, -30, 0, 0, 0, 0], abs=0.1)


def test_3001_a_circle_is_refused_by_the_code_of_an_invalid_result(api):
    before = place(api)

    said = api.move_circle(PATHS[1], PATHS[2], percent=50, **FAST, wait=False)

    assert said == code.APIState.RET_IS_INVALID
    assert api.get_err_warn_code()[1] == [0, 13]
    assert place(api) == pytest.approx(before, abs=0.1)


def test_6001_reduced_mode_is_taken_and_slows(arm, api):
    assert api.set_reduced_max_joint_speed(20) == 0
    assert api.set_reduced_max_tcp_speed(500) == 0
    assert api.set_reduced_mode(True) == 0
    assert api.get_reduced_mode() == (0, 1)
    since_ns = arm.read().state_stamps[-1]

    api.set_servo_angle(servo_id=1, angle=8, speed=150, mvacc=1000, wait=True)

    record = arm.read()
    fastest = np.abs(record.dq[record.state_stamps > since_ns]).max()
    assert math.degrees(fastest) == pytest.approx(20, rel=0.05)


def test_6002_a_boundary_is_refused(api):
    boundary = [500, -500, 600, -600, 400, -400]

    assert api.set_reduced_tcp_boundary(boundary) == code.APIState.RET_IS_INVALID


def test_7002_servo_cartesian(arm, api):
    assert api.set_position(200, 0, 200, 180, 0, 0, wait=True) == 0
    start(api, 1)
    wait_until(lambda: api.mode == 1)
    before = len(arm.read().counts)

    for i in range(100):
        pose = [200 + i, 0, 200, 180, 0, 0]
        assert api.set_servo_cartesian(pose, speed=100, mvacc=2000) == 0
        time.sleep(0.005)

    wait_until(lambda: place(api) == pytest.approx([299, 0, 200], abs=0.5))
    record = arm.read()
    assert record.counts[before:].all()
    assert len(record.counts) - before == 100


def test_7003_servo_cartesian_by_axis_and_angle(api):
    assert api.set_position(300, 0, 300, 180, 0, 0, **FAST, wait=True) == 0
    start(api, 1)
    wait_until(lambda: api.mode == 1)

    for _ in range(100):
        turn = [0, 0, 0, 0, 0.2, 0]
        assert api.set_servo_cartesian_aa(turn, relative=True) == 0
        time.sleep(0.005)

    wait_until(lambda: abs(api.get_position()[1][4]) == pytest.approx(20, abs=0.5))


def test_a_place_out_of_reach_is_an_error_that_the_sdk_returns(api):
    said = api.set_position(1500, 0, 150, 180, 0, 0, **FAST, wait=True)

    assert said != 0, "which code depends on the answer that the SDK was reading"
    assert api.get_err_warn_code()[1][0] == 21


def test_a_check_without_motion_is_refused(api):
    said = api.set_position(*PATHS[0], **FAST, only_check_type=1)

    assert said == code.APIState.RET_IS_INVALID
    assert api.get_cmdnum() == (0, 0)


def test_kinematics_are_answered_as_the_arm_is(api):
    wait_until(lambda: api.get_servo_angle()[0] == 0)
    pose = [300, 100, 200, 180, 0, 0]

    said, angles = api.get_inverse_kinematics(pose)

    assert said == 0
    assert api.get_forward_kinematics(angles)[1][:3] == pytest.approx(pose[:3], abs=0.2)
    far = [3000, 0, 0, 180, 0, 0]
    assert api.get_inverse_kinematics(far)[0] == code.APIState.RET_IS_INVALID
