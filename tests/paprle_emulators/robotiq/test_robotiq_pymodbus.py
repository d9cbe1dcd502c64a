"""An unmodified pymodbus is a client of the emulated gripper."""

import time

import pytest

from paprle_emulators import start

client = pytest.importorskip("pymodbus.client")

pytestmark = pytest.mark.process
OUTPUTS, INPUTS = 0x03E8, 0x07D0  # spec: Robotiq's manuals


def test_pymodbus_activates_and_moves_it_and_reads_exceptions():
    with start("robotiq", model="2f85") as rig:
        port = client.ModbusSerialClient(rig.port, baudrate=115_200, timeout=1.0)
        assert port.connect()
        assert (
            port.read_holding_registers(INPUTS, count=3, device_id=9).registers[0] == 0
        )
        assert not port.write_registers(OUTPUTS, [0x0100, 0, 0], device_id=9).isError()
        end = time.monotonic() + 15.0
        status = 0
        while status & 0x3000 != 0x3000 and time.monotonic() < end:
            answer = port.read_holding_registers(INPUTS, count=3, device_id=9)
            status = answer.registers[0]
        assert status == 0x3100
        port.write_registers(OUTPUTS, [0x0900, 100, 0xFFFF], device_id=9)
        time.sleep(2.0)
        status, fault, _ = port.read_input_registers(
            INPUTS, count=3, device_id=9
        ).registers
        assert fault >> 8 == 0x09, "it heard nobody for two seconds"
        answer = port.read_input_registers(INPUTS, count=3, device_id=9)
        assert answer.registers == [0xF900, 100, 100 << 8]
        answer = port.read_holding_registers(0, count=1, device_id=9)
        assert answer.isError()
        assert answer.exception_code == 2
        port.close()
