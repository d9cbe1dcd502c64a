"""Error codes and offsets of reports, compared with the maker's SDK."""

import re

import numpy as np
import pytest

from paprle.hardware.vendor_arm.states import ArmState
from paprle.hardware.xarm import codes
from paprle.hardware.xarm.conditions import judge
from paprle.hardware.xarm.reports import REAL, REALTIME, RICH, Details, Motion, Reports

x_code = pytest.importorskip("xarm.core.config.x_code")
report = pytest.importorskip("xarm.x3.report")

COMMON = {"error", "the", "exceed", "exceeds", "limit", "overlimit", "of", "in", "is"}
SAME = {"beyond": "exceeds", "button": "button"}


def find_words(text):
    return set(re.findall(r"[a-z]+", text.lower())) - COMMON


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({k: v[1] for k, v in codes.ERRORS.items()}, x_code.ControllerErrorCodeMap),
        (codes.SERVO_ERRORS, x_code.ServoCodeMap),
    ],
    ids=["box", "servos"],
)
def test_every_code_of_the_sdk_is_known_by_a_like_name(ours, theirs):
    known = {code for code in theirs if isinstance(code, int)}
    titles = {code: theirs[code]["en"]["title"] for code in known}

    assert set(ours) == known
    strange = {
        code: (ours[code], titles[code])
        for code in known
        if not find_words(ours[code]) & find_words(titles[code])
    }
    assert set(strange) <= {19, 28, 111}, "theirs: communication error"


def test_an_error_names_its_joint_and_remedy():
    state, words, remedy = codes.explain(13, (0, 0, 23, 0))

    assert state is ArmState.FAULT
    assert words == "C13 servo motor 3, joint 3: S23 large motor position deviation"
    assert "switch it off and on" in remedy
    assert codes.explain(31)[0] is ArmState.PROTECTIVE_STOP
    assert codes.explain(1)[0] is ArmState.EMERGENCY_STOP
    assert codes.explain(99)[1] == "C99 unknown error"


def make_motion(state, mode=1):
    zeros = np.zeros(6)
    return Motion(0, zeros, zeros, zeros, mode, state)


def make_details(**changes):
    values = {"error": 0, "warning": 0, "has_power": True}
    return Details(0, servos=(0,) * 6, temperatures=(35,) * 6, **(values | changes))


@pytest.mark.parametrize(
    ("motion", "details", "error", "state"),
    [
        (make_motion(1), make_details(), 0, ArmState.READY),
        (make_motion(2), make_details(), 0, ArmState.READY),
        (make_motion(2), make_details(), 31, ArmState.PROTECTIVE_STOP),
        (make_motion(3), make_details(), 0, ArmState.PAUSED),
        (make_motion(4), make_details(), 0, ArmState.LOCAL),
        (make_motion(2, 2), make_details(), 0, ArmState.LOCAL),
        (make_motion(2), make_details(has_power=False), 0, ArmState.POWER_OFF),
    ],
)
def test_a_condition_of_each_report(motion, details, error, state):
    found, remedy = judge(motion, details, error, 0)

    assert found.state is state
    assert bool(remedy) == (state is not ArmState.READY)


def test_silent_details_are_a_lost_connection():
    found, _ = judge(make_motion(2), make_details(), 0, 2_000_000_000)

    assert found.state is ArmState.DISCONNECTED


@pytest.mark.parametrize("port", [REALTIME, REAL, RICH])
def test_offsets_are_those_of_the_sdks_structures(port):
    """Bytes that differ everywhere, read by both."""
    theirs = report.ReportDataStructure.create(port)
    data = bytearray(len(theirs))
    values = np.linspace(-1.5, 1.5, len(theirs) // 4).astype("<f4")
    for start in range(4):
        data[start : start + 4 * len(values)] = values.tobytes()[: len(data) - start]
    at = {REALTIME: 32, REAL: 7, RICH: 7}[port]
    count = {REALTIME: 63, REAL: 20, RICH: 20}[port]
    data[at : at + 4 * count] = values[:count].tobytes()
    if port == RICH:
        data[87:91] = bytes((0x3F, 0x7F, 31, 11))
        data[146] = 6
        data[229:243] = bytes(range(14))
        data[245:252] = bytes(range(40, 47))
    theirs.update(bytes(data))
    reports = Reports("nowhere", 6, lambda: 0)

    if port == RICH:
        ours = reports._parse_details(bytes(data), 0)
        assert (ours.error, ours.warning) == (theirs.error_code, theirs.warn_code)
        assert ours.has_power
        assert list(ours.servos) == [code for _, code in theirs.servo_status_codes[:6]]
        assert list(ours.temperatures) == theirs.temperatures[:6]
        return
    ours = reports._parse_motion(port, bytes(data), 0)
    assert ours.q == pytest.approx(theirs.actual_joint_angle[:6])
    assert ours.tau == pytest.approx(theirs.estimated_joint_torque[:6])
    assert (ours.state, ours.mode) == (theirs.state, theirs.mode)
    if port == REALTIME:
        assert ours.dq == pytest.approx(theirs.actual_joint_velocity[:6])
