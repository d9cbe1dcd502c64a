"""Frames of the SDK and of our driver beside a parser of somebody else: pymodbus.

It knows the header alone: identifiers, length and the byte that is a register here. A
protocol identifier other than 0 it refuses, as Modbus has it.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from paprle.hardware.xarm.arm import XArm, XArmSettings
from paprle_emulators.xarm import protocol as p
from paprle_emulators.xarm.arm import Arm
from paprle_emulators.xarm.box import Box
from paprle_emulators.xarm.protocol import Register

tcp = pytest.importorskip("xarm.core.wrapper.uxbus_cmd_tcp")
framer = pytest.importorskip("pymodbus.framer")
pdu = pytest.importorskip("pymodbus.pdu")

Q = [0.1, -0.2, 0.0, 0.3, 0.0, 0.2, 0.0]
POSE = [300.0, 0.0, 150.0, 3.0, 0.0, 0.0]


class Tape:
    """The SDK's port, with the emulated box behind it and no network between."""

    def __init__(self):
        arm = Arm("xarm7", np.zeros(7), "none")
        arm.enable(8, is_on=True)
        arm.set_state(0)
        self.box, self.frames, self._answers = Box(arm), [], []

    def flush(self):
        """Report that no motion waits."""

    def write(self, data):
        self.frames.append(bytes(data))
        (request,) = p.take_requests(bytearray(data))
        self._answers.append(self.box.answer(request))
        return 0

    def read(self, _timeout):
        return self._answers.pop(0)


@pytest.fixture
def tape():
    return Tape()


@pytest.fixture
def api(tape):
    return tcp.UxbusCmdTcp(tape)


CALLS = {
    Register.SERVO_JOINT: lambda api: api.move_servoj(Q, 0, 0, 0),
    Register.SERVO_POSE: lambda api: api.move_servo_cartesian(POSE, 100, 2000, 0),
    Register.SERVO_POSE_AXIS: lambda api: api.move_servo_cart_aa(POSE, 1, 2, 0, 1),
    Register.MOVE_LINE: lambda api: api.move_line_common(POSE, 100, 2000, 0),
    Register.MOVE_LINE_BLENDED: lambda api: api.move_lineb(POSE, 100, 2000, 0, 5),
    Register.MOVE_LINE_TOOL: lambda api: api.move_line_tool(POSE, 100, 2000, 0),
    Register.MOVE_LINE_AXIS: lambda api: api.move_line_aa(POSE, 100, 2000, 0, 0, 1),
    Register.MOVE_RELATIVE: lambda api: api.move_relative(Q, 1, 10, 0, -1, True),
    Register.MOVE_JOINT: lambda api: api.move_joint(Q, 1, 10, 0),
    Register.MOVE_HOME: lambda api: api.move_gohome(1, 10, 0),
    Register.PAUSE: lambda api: api.sleep_instruction(1),
    Register.LOAD: lambda api: api.set_tcp_load(0.82, [0, 0, 60]),
    Register.COLLISION: lambda api: api.set_collis_sens(3),
    Register.SET_MODE: lambda api: api.set_mode(1),
    Register.SET_STATE: lambda api: api.set_state(0),
    Register.ENABLE: lambda api: api.motion_en(8, 1),
}


@pytest.mark.parametrize("register", CALLS, ids=lambda r: r.name)
def test_a_frame_of_the_sdk_is_cut_as_pymodbus_cuts_it(api, tape, register):
    decoder = framer.FramerSocket(pdu.DecodePDU(True))

    code = CALLS[register](api)[0]
    if register is not Register.SERVO_POSE:  # it is no target in this mode
        assert code == 0

    (frame,) = tape.frames
    (request,) = p.take_requests(bytearray(frame))
    assert decoder.decode(frame)[0] == 0, "protocol 2 is no Modbus"
    as_modbus = frame[:2] + bytes(2) + frame[4:]
    used, unit, transaction, rest = decoder.decode(as_modbus + b"next")
    assert used == len(frame)
    assert (unit, transaction) == (request.register, request.transaction)
    assert rest == request.data
    assert unit == register


def test_a_target_of_our_driver_is_the_sdks_byte_for_byte(api, tape):
    arm = XArm(XArmSettings(host="nowhere", n=7), lambda: 0)
    arm._api = SimpleNamespace(core=api)

    api.move_servoj(Q, 0, 0, 0)
    arm._send(np.array(Q))

    theirs, ours = tape.frames
    assert ours[2:] == theirs[2:], "all but the number of the transaction"
    assert ours[:2] == b"\x80\x01"
    for counts, joints in tape.box.planning.targets:
        assert not counts, "another mode"
        assert joints == pytest.approx(Q)
