"""The calls of ur_rtde's own examples, through ur_rtde, in fewer rounds of their loops.

Each test names the file of ``examples/py`` (or ``examples/cpp``, where there is none in
Python) whose calls it makes.
"""

import contextlib
import threading
import time

import numpy as np
import pytest
from ur_rig import EmulatedUr
from xarm_rig import wait_until

rtde_control = pytest.importorskip("rtde_control")
rtde_receive = pytest.importorskip("rtde_receive")
rtde_io = pytest.importorskip("rtde_io")

pytestmark = [pytest.mark.process, pytest.mark.nightly]
JOINTS = [-1.54, -1.83, -2.28, -0.59, 1.60, 0.023]  # where the examples begin
ROUNDS = 100  # of 1000 and 2000 in the examples
DT = 1.0 / 500


@pytest.fixture
def arm(tmp_path):
    joints = ",".join(map(str, JOINTS))
    with EmulatedUr(tmp_path, q=joints) as arm:
        yield arm


@pytest.fixture
def control(arm):
    control = rtde_control.RTDEControlInterface(arm.host)
    yield control
    control.disconnect()


@pytest.fixture
def receive(arm):
    receive = rtde_receive.RTDEReceiveInterface(arm.host)
    yield receive
    receive.disconnect()


def check_ended(arm):
    """No exception, no stop; the client ended its program."""
    ended = "program ended: stopped by its client"
    wait_until(lambda: ended in arm.read().events[-1])
    record = arm.read()
    texts = [text for _, text in record.events]
    assert not [text for text in texts if "exception" in text]
    assert set(record.modes[:, 1]) == {1}
    return record


def test_move_async_example(arm, control, receive):
    begin = receive.getActualQ()
    goal = begin[:]
    goal[0] += 0.20
    assert control.moveJ(goal, 1.05, 1.4, True)
    time.sleep(0.2)
    control.stopJ(0.5)
    stopped = receive.getActualQ()
    assert begin[0] + 0.01 < stopped[0] < goal[0] - 0.01
    target = receive.getActualTCPPose()
    target[2] += 0.10
    assert control.moveL(target, 0.25, 0.5, True)
    time.sleep(0.2)
    control.stopL(0.5)
    assert target[2] - 0.099 < receive.getActualTCPPose()[2] < target[2] - 0.01
    assert control.moveJ(begin)
    assert np.allclose(receive.getActualQ(), begin, atol=1e-3)
    control.stopScript()
    check_ended(arm)


def test_forcemode_example(arm, control, receive):
    frame, chosen, limits = [0] * 6, [0, 0, 1, 0, 0, 0], [2, 2, 1.5, 1, 1, 1]
    down, up = [0, 0, -10, 0, 0, 0], [0, 0, 10, 0, 0, 0]
    assert control.moveJ(JOINTS)
    heights = [receive.getActualTCPPose()[2]]
    for wrench in (down, up):
        for _ in range(ROUNDS):
            start = control.initPeriod()
            assert control.forceMode(frame, chosen, wrench, 2, limits)
            control.waitPeriod(start)
        heights.append(receive.getActualTCPPose()[2])
    assert control.forceModeStop()
    control.stopScript()

    assert heights[1] < heights[0] - 1e-3
    assert heights[2] > heights[1]
    check_ended(arm)


def test_servoj_example(arm, control, receive):
    joints = list(JOINTS)
    assert control.moveJ(joints)
    for _ in range(ROUNDS):
        start = control.initPeriod()
        assert control.servoJ(joints, 0.5, 0.5, DT, 0.1, 300)
        joints[0] += 0.001
        joints[1] += 0.001
        control.waitPeriod(start)
    assert control.servoStop()
    assert 0.03 < receive.getActualQ()[0] - JOINTS[0] < 0.1
    control.stopScript()
    record = check_ended(arm)
    assert len(record.goals) == ROUNDS


def test_realtime_control_example(arm, control, receive):
    begin = receive.getActualTCPPose()
    assert control.moveL(begin, 0.5, 0.5)
    for k in range(ROUNDS):
        start = control.initPeriod()
        angle = np.pi * k / ROUNDS
        target = list(begin)
        target[0] += 0.01 * np.sin(angle)
        target[1] += 0.01 * (np.cos(angle) - 1.0)
        assert control.servoL(target, 0.5, 0.5, DT, 0.1, 600)
        control.waitPeriod(start)
    assert control.servoStop()
    assert 0.005 < begin[1] - receive.getActualTCPPose()[1] < 0.021
    control.stopScript()
    check_ended(arm)


def test_speedj_example(arm, control, receive):
    speed = [0.0] * 6
    assert control.moveJ(JOINTS)
    for _ in range(ROUNDS):
        start = control.initPeriod()
        assert control.speedJ(speed, 0.5, DT)
        speed[0] += 0.0005
        speed[1] += 0.0005
        control.waitPeriod(start)
    assert control.speedStop()
    moved = np.array(receive.getActualQ()) - JOINTS
    assert 0.002 < moved[0] < 0.05, "longer where a busy machine makes rounds longer"
    assert moved[1] == pytest.approx(moved[0])
    assert np.abs(moved[2:]).max() < 1e-6
    control.stopScript()
    check_ended(arm)


def test_movej_path_with_blend_example(arm, control, receive):
    points = [np.add(JOINTS, step) for step in (0.05, 0.1, 0.02)]
    blends = (0.0, 0.02, 0.0)
    path = [[*q, 0.5, 0.5, r] for q, r in zip(points, blends, strict=True)]
    assert control.moveJ(path)
    assert np.allclose(receive.getActualQ(), points[-1], atol=1e-3)
    control.stopScript()
    record = check_ended(arm)
    for point in points:
        assert np.abs(record.q - point).max(axis=1).min() < 1e-3


def make_path(receive):
    pose = receive.getActualTCPPose()
    steps = ((0, 0, 0.02), (0, -0.03, 0.02), (0, 0, 0))
    return [[*np.add(pose[:3], step), *pose[3:]] for step in steps]


def test_movel_path_with_blend_example(arm, control, receive):
    points = make_path(receive)
    path = [[*p, 0.5, 0.5, r] for p, r in zip(points, (0.0, 0.02, 0.0), strict=True)]
    assert control.moveL(path)
    assert np.allclose(receive.getActualTCPPose(), points[-1], atol=1e-4)
    control.stopScript()
    check_ended(arm)


def test_move_path_async_example(arm, control, receive):
    begin = receive.getActualQ()
    path = rtde_control.Path()
    entry, move = rtde_control.PathEntry, rtde_control.PathEntry.MoveL
    path.addEntry(
        entry(entry.MoveJ, entry.PositionJoints, [*np.add(begin, 0.03), 0.5, 0.5, 0.0])
    )
    for point in make_path(receive):
        path.addEntry(entry(move, entry.PositionTcpPose, [*point, 0.5, 0.5, 0.0]))
    assert control.movePath(path, False)
    assert control.movePath(path, True)
    end = time.monotonic() + 10.0
    while not control.getAsyncOperationProgressEx().isAsyncOperationRunning():
        assert time.monotonic() < end
        time.sleep(0.01)
    told = set()
    while control.getAsyncOperationProgressEx().isAsyncOperationRunning():
        assert time.monotonic() < end
        told.add(control.getAsyncOperationProgress())
        time.sleep(0.02)
    assert len(told) > 2, "the waypoints are told"
    control.stopScript()
    check_ended(arm)


def test_move_until_contact_example(arm, control, receive):
    arm.do("wrench", values=[0, 0, 0, 0, 0, 0])
    z = receive.getActualTCPPose()[2]
    heights = []

    def touch():
        time.sleep(0.4)
        heights.append(receive.getActualTCPPose()[2])
        arm.do("wrench", values=[0, 0, 30, 0, 0, 0])

    hand = threading.Thread(target=touch)
    hand.start()
    assert control.moveUntilContact([0, 0, -0.1, 0, 0, 0])
    hand.join()
    assert receive.getActualTCPPose()[2] == pytest.approx(heights[0], abs=0.01)
    assert heights[0] < z - 0.01
    control.stopScript()
    check_ended(arm)


def test_contact_detection_of_the_api(arm, control, receive):
    """``startContactDetection``, as the API's reference has it."""
    target = receive.getActualTCPPose()
    z, target[2] = target[2], target[2] - 0.15
    assert control.startContactDetection()
    assert control.moveL(target, 0.1, 1.2, True)
    time.sleep(0.4)
    assert not control.readContactDetection()
    arm.do("wrench", values=[0, 0, 30, 0, 0, 0])
    time.sleep(0.5)
    assert control.stopContactDetection()
    assert target[2] + 0.05 < receive.getActualTCPPose()[2] < z - 0.01
    control.stopScript()
    check_ended(arm)


def test_jog_example(arm, control, receive):
    tool = rtde_control.RTDEControlInterface.FEATURE_TOOL
    begin = receive.getActualTCPPose()
    assert control.jogStart([0.0] * 6, tool)
    for speed in ([0.0, 0.0, -0.15, 0.0, 0.0, 0.0], [0.0] * 6):
        start = control.initPeriod()
        assert control.jogStart(speed, tool)
        control.waitPeriod(start)
        time.sleep(0.3)
    assert control.jogStop()
    moved = np.linalg.norm(np.subtract(receive.getActualTCPPose(), begin)[:3])
    assert 0.01 < moved < 0.1
    control.stopScript()
    check_ended(arm)


def test_io_example(arm, receive):
    io = rtde_io.RTDEIOInterface(arm.host)
    assert not receive.getDigitalOutState(7)
    assert not receive.getDigitalOutState(16)
    assert io.setStandardDigitalOut(7, True)
    assert io.setToolDigitalOut(0, True)
    wait_until(lambda: receive.getDigitalOutState(7) and receive.getDigitalOutState(16))
    assert not receive.getDigitalOutState(6)
    assert io.setAnalogOutputCurrent(1, 0.25)
    wait_until(lambda: abs(receive.getStandardAnalogOutput1() - 0.25) < 1e-9)
    io.disconnect()


def test_record_data_example(arm, tmp_path):
    receive = rtde_receive.RTDEReceiveInterface(arm.host, 500.0)
    assert receive.startFileRecording(str(tmp_path / "robot_data.csv"))
    time.sleep(0.2)
    receive.stopFileRecording()
    receive.disconnect()
    head, *rows = (tmp_path / "robot_data.csv").read_text().splitlines()
    assert "actual_q" in head
    assert len(rows) > 20


def test_teach_mode_of_the_api(arm, control, receive):
    """``teachMode``, ``freedriveMode`` and their ends, as the reference has them."""
    begin = receive.getActualQ()
    for start, end in (
        (control.teachMode, control.endTeachMode),
        (control.freedriveMode, control.endFreedriveMode),
    ):
        assert start()
        arm.do("lead", joint=1, by=0.05, time=0.1)
        time.sleep(0.2)
        assert end()
    moved = np.array(receive.getActualQ()) - begin
    assert moved[0] == pytest.approx(0.1, abs=1e-4)
    assert control.servoJ(receive.getActualQ(), 0.0, 0.0, DT, 0.03, 300.0)
    control.stopScript()
    check_ended(arm)


def test_kinematics_of_the_api(control, receive):
    """``getForwardKinematics``, ``getInverseKinematics`` and TCP, as referenced."""
    q = receive.getActualQ()
    pose = control.getForwardKinematics()
    assert np.allclose(pose, receive.getActualTCPPose(), atol=1e-6)
    assert np.allclose(control.getInverseKinematics(pose), q, atol=1e-6)
    assert control.isPoseWithinSafetyLimits(pose)
    assert control.setTcp([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    wait_until(
        lambda: (
            abs(
                np.linalg.norm(receive.getActualTCPPose()[:3] - np.array(pose[:3]))
                - 0.1
            )
            < 1e-6
        )
    )


def test_a_command_that_is_not_emulated_is_refused(arm, control):
    with contextlib.suppress(RuntimeError):
        assert not control.setGravity([0.0, 0.0, 9.82])
    wait_until(lambda: not control.isProgramRunning())
    texts = [text for _, text in arm.read().events]
    assert any("command 59 (set_gravity) is not emulated" in text for text in texts)
