"""Our tables of UFACTORY's arms, compared with those that its SDK ships.

It ships none of Denavit and Hartenberg: a box tells it them (register 67).
"""

import numpy as np
import pytest

from paprle.followers.xarm import naming
from paprle.hardware.xarm import arm as driver
from paprle.hardware.xarm import reports
from paprle_emulators.xarm import protocol
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.protocol import Register

XCONF = pytest.importorskip("xarm.core.config.x_config").XCONF

NAMES = {  # where ours is another word than the SDK's
    "VERSION": "GET_VERSION",
    "SERIAL": "GET_ROBOT_SN",
    "ENABLE": "MOTION_EN",
    "STATE": "GET_STATE",
    "N_COMMANDS": "GET_CMDNUM",
    "ERROR": "GET_ERROR",
    "CLEAN_ERROR": "CLEAN_ERR",
    "CLEAN_WARNING": "CLEAN_WAR",
    "BRAKE": "SET_BRAKE",
    "MOVE_LINE_BLENDED": "MOVE_LINEB",
    "MOVE_JOINT_BLENDED": "MOVE_JOINTB",
    "PAUSE": "SLEEP_INSTT",
    "SERVO_JOINT": "MOVE_SERVOJ",
    "SERVO_POSE": "MOVE_SERVO_CART",
    "TOOL_OFFSET": "SET_TCP_OFFSET",
    "LOAD": "SET_LOAD_PARAM",
    "COLLISION": "SET_COLLIS_SENS",
    "TEACHING": "SET_TEACH_SENS",
    "POSE": "GET_TCP_POSE",
    "JOINTS": "GET_JOINT_POS",
    "INVERSE": "GET_IK",
    "FORWARD": "GET_FK",
    "REDUCED_LINE": "SET_REDUCED_TRSV",
    "REDUCED_JOINT": "SET_REDUCED_P2PV",
    "REDUCED_STATE": "GET_REDUCED_MODE",
    "REDUCED": "SET_REDUCED_MODE",
    "TORQUES": "GET_JOINT_TAU",
    "WORLD_OFFSET": "SET_WORLD_OFFSET",
    "POSE_AXIS": "GET_TCP_POSE_AA",
    "MOVE_LINE_AXIS": "MOVE_LINE_AA",
    "SERVO_POSE_AXIS": "MOVE_SERVO_CART_AA",
    "RS485": "RS485_RTU",
    "TOOL_WRITE": "TGPIO_W16B",
    "TOOL_READ": "TGPIO_R16B",
    "FEEDBACK_TYPE": "SET_FEEDBACK_TYPE",
}


@pytest.mark.parametrize("register", Register, ids=lambda r: r.name)
def test_a_register_is_the_one_of_the_sdk(register):
    assert register == getattr(XCONF.UxbusReg, NAMES.get(register.name, register.name))


@pytest.mark.parametrize("name", MODELS)
def test_joint_limits_are_those_of_the_sdk(name):
    model = MODELS[name]
    theirs = XCONF.Robot.JOINT_LIMITS[model.axis][model.kind]

    assert np.radians(model.limits) == pytest.approx(np.array(theirs), abs=1e-5)


def test_axes_and_types_are_those_of_the_sdk():
    kinds = XCONF.Robot.Type
    theirs = {
        "xarm5": (5, {kinds.XARM5_X4}),
        "xarm6": (6, {kinds.XARM6_X4}),
        "xarm7": (7, {kinds.XARM7_X4}),
        "lite6": (6, {kinds.XARM6_X9}),
        "xarm850": (6, {kinds.XARM6_X12}),
    }

    assert {name: (n, set(k)) for name, (n, k) in naming._KINDS.items()} == theirs
    assert {name: (m.axis, {m.kind}) for name, m in MODELS.items()} == theirs
    assert int(f"7{driver._GENERATION}") == kinds.XARM7_X4_1305


def test_ports_are_those_of_the_sdk():
    ports = XCONF.SocketConf

    assert driver.CONTROL == protocol.CONTROL == ports.TCP_CONTROL_PORT
    ours = (reports.REALTIME, reports.RICH, reports.REAL)
    theirs = (
        ports.TCP_REPORT_RT_PORT,
        ports.TCP_REPORT_RICH_PORT,
        ports.TCP_REPORT_REAL_PORT,
    )
    assert ours == theirs
    assert theirs == (protocol.REALTIME, protocol.RICH, protocol.REAL)
    assert ports.TCP_REPORT_NORM_PORT == protocol.NORMAL


def test_the_status_byte_is_read_as_the_sdk_reads_it():
    tcp = pytest.importorskip("xarm.core.wrapper.uxbus_cmd_tcp")
    api, state = object.__new__(tcp.UxbusCmdTcp), XCONF.UxbusState
    expected = {
        0: 0,
        protocol.INVALID: state.INVALID,
        protocol.HAS_WARNING: state.WAR_CODE,
        protocol.HAS_ERROR: state.ERR_CODE,
    }

    for status, found in expected.items():
        assert api.check_private_protocol(bytes(7) + bytes((status,))) == found
    api.check_private_protocol(bytes(7) + bytes((protocol.CANNOT_MOVE,)))
    assert not api._state_is_ready
