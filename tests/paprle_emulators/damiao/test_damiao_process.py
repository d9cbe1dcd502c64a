"""The emulator as a process, reached by python-can and by a driver of others."""

import time

import pytest

from paprle_emulators import EmulatorError, start

can = pytest.importorskip("can")

pytestmark = pytest.mark.process


def ask(bus, can_id, data):
    bus.send(can.Message(arbitration_id=can_id, data=data, is_extended_id=False))
    return bus.recv(2.0)


@pytest.mark.parametrize(("model", "n"), [("openarm", 8), ("yam", 7)])
def test_every_motor_answers(model, n):
    with start("damiao", model=model) as arm:
        assert arm.endpoint["overrides"][0] == "env.interface=emucan"
        with can.Bus(interface="emucan", channel=arm.port) as bus:
            for number in range(1, n + 1):
                answer = ask(bus, 0x7FF, bytes([number, 0, 0xCC, 0, 0, 0, 0, 0]))
                assert answer.arbitration_id == 0x10 + number
                assert answer.data[0] == number


def test_a_cable_that_is_out_passes_nothing():
    with (
        start("damiao", ideal=True) as arm,
        can.Bus(interface="emucan", channel=arm.port) as bus,
    ):
        arm.order({"fault": "cable"})
        bus.send(can.Message(arbitration_id=1, data=bytes([0xFF] * 7 + [0xFC])))
        assert bus.recv(0.2) is None
        arm.order({"fault": "none"})
        answer = ask(bus, 0x7FF, bytes([1, 0, 0xCC, 0, 0, 0, 0, 0]))
        assert answer.data[0] >> 4 == 0, "it was not enabled meanwhile"


@pytest.mark.filterwarnings("ignore:The 'bustype' argument:DeprecationWarning")
def test_a_driver_of_others_enables_moves_and_reads_a_motor(tmp_path):
    other = pytest.importorskip("damiao_motor")
    with start("damiao", model="yam", ideal=True, log=tmp_path / "log") as arm:
        controller = other.DaMiaoController(channel=arm.port, bustype="emucan")
        try:
            others = [controller.add_motor(k, 0x10 + k, "4340") for k in (1, 2, 3)]
            others += [controller.add_motor(k, 0x10 + k, "4310") for k in (4, 5)]
            motor = controller.add_motor(6, 0x16, "4310")
            assert motor.get_register(9) == 8000
            motor.ensure_control_mode("MIT")
            motor.set_can_timeout(1000)
            end = time.monotonic() + 2.0
            while motor.registers[9] != 20000:
                motor.request_register_reading(9)
                assert time.monotonic() < end
                time.sleep(0.01)
            for one in (*others, motor):  # all, or somebody holds the arm
                one.enable()
            end = time.monotonic() + 3.0
            while time.monotonic() < end:
                for one in others:
                    one.send_cmd_mit(0.0, 0.0, 10.0, 0.5, 0.0)
                motor.send_cmd_mit(0.3, 0.0, 10.0, 0.5, 0.0)
                time.sleep(0.01)
                state = motor.get_states()
                if abs(state.get("pos", 0.0) - 0.3) < 0.02:
                    break
            assert state["pos"] == pytest.approx(0.3, abs=0.02)
            assert state["status"] == "ENABLED"
        finally:
            controller.shutdown()


@pytest.mark.parametrize("fault", [{"fault": "rain"}, {"fault": "mute", "joint": 99}])
def test_an_unknown_fault_is_refused(fault):
    with start("damiao") as arm, pytest.raises(EmulatorError, match="fault"):
        arm.order(fault)


def test_an_unknown_model_is_refused():
    with pytest.raises(EmulatorError, match="expected one of openarm, yam"):
        start("damiao", model="ur5e")
