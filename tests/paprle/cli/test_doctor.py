"""``paprle doctor`` on rigs with one planted fault each."""

import errno
import re
from pathlib import Path

import pytest
import yaml
from puppets import puppets

from hardware.dynamixel.port import SerialPort, find_latency_problem
from paprle.cli import main
from paprle.process import WORKSPACE

NAME = "puppeteer_papras_7dof"


@pytest.fixture
def emulated(tmp_path):
    tree = yaml.safe_load((WORKSPACE / f"configs/leader/{NAME}.yaml").read_text())
    with puppets(tmp_path, tree) as it:
        (it.limb,) = it.rig.limbs
        for spec, servo in zip(
            it.rig.limbs[it.limb].spec.servos, it.rig.limbs[it.limb].servos, strict=True
        ):
            servo.angle = spec.offset + 0.1
            servo.table.put("Operating Mode", 0)
        yield it


@pytest.fixture
def examine(emulated, capsys, monkeypatch):
    monkeypatch.setattr("leaders.puppeteer.doctor._N_READINGS", 20)

    def run(*settings):
        port = f"leader.limbs.{emulated.limb}.port={emulated.port(emulated.limb)}"
        code = main(
            ["doctor", f"leader={NAME}", port, "leader.timeout=0.02", *settings]
        )
        return code, capsys.readouterr().out

    return run


def test_healthy_rig_has_no_fault(examine):
    code, out = examine()

    faults = [line for line in out.splitlines() if line.startswith("FAULT")]
    # Only the machine can make this rig slow or noisy.
    assert not [text for text in faults if "readings" not in text]
    assert code == (1 if faults else 0)
    assert out.count("ok    servo") == 8
    assert "within its URDF's limits" in out


def test_it_leaves_the_rig_as_it_was(emulated, examine):
    memories = [
        bytes(s.table.memory[:120]) for s in emulated.rig.limbs[emulated.limb].servos
    ]

    examine()

    assert memories == [
        bytes(s.table.memory[:120]) for s in emulated.rig.limbs[emulated.limb].servos
    ]


def put(name, value, servo_id=3):
    return lambda emulated: emulated.servo(servo_id).table.put(name, value)


def cause(fault, **rest):
    return lambda emulated: emulated.cause(fault, **rest)


def turn(emulated):
    emulated.servo(2).angle += 2.9


FAULTS = {
    "servo_missing": (cause("silent", id=3), "servo 3 .*expected an answer, got none"),
    "id_twice": (cause("duplicate_id", id=3, of=2), "servo 2 .*got answers of two"),
    "wrong_id": (
        lambda e: e.servo(3).table.put("ID", 33),
        "expected ids .* with id 33; .* give it its id",
    ),
    "wrong_model": (cause("wrong_model", id=3, number=1190), "got a xl330-m077; corr"),
    "wrong_baud": (
        cause("baud", id=3, rate=57600),
        r"servo 3 .*got 57600 \[bit/s\]; set",
    ),
    "return_delay": (cause("return_delay", id=3, seconds=0.0005), r"got 500 \[µs\]"),
    "mode": (put("Operating Mode", 3), r"mode 0 \(current control\), got 3"),
    "current_limit": (put("Current Limit", 50), "current limit of at least .* got 50"),
    "pwm_limit": (put("PWM Limit", 100), r"PWM limit 885 \(100 %\), got 100"),
    "reversed": (put("Drive Mode", 1), "drive mode normal, got reversed"),
    "shadow_id": (put("Secondary(Shadow) ID", 4), "no secondary id, got 4"),
    "overloaded": (cause("overload", id=3), "got 'overloaded'; take the load off"),
    "overheated": (cause("overheat", id=3), "overheated.*; let it cool"),
    "under_voltage": (
        cause("voltage", id=3, volts=4.0),
        r"got 4.0 \[V\]; check the po",
    ),
    "offset": (turn, "joint .*/joint2': expected .* run paprle calibrate --joint"),
}


@pytest.mark.parametrize(("plant", "text"), FAULTS.values(), ids=FAULTS)
def test_planted_fault_is_found(emulated, examine, plant, text):
    plant(emulated)

    code, out = examine()

    assert code == 1
    faults = "\n".join(x for x in out.splitlines() if x.startswith("FAULT"))
    assert re.search(text, faults), out


def test_port_that_is_not_there(capsys):
    code = main(["doctor", f"leader={NAME}", "leader.limbs.arm.port=/dev/none"])

    assert code == 1
    assert "'/dev/none': expected a serial device, got none; plug in" in (
        capsys.readouterr().out
    )


def test_port_that_is_taken(emulated, examine):
    port = SerialPort(emulated.port(emulated.limb), 0.01)
    port.openPort()
    try:
        code, out = examine()
    finally:
        port.closePort()

    assert code == 1
    assert "expected it to be free, got one that another process has open" in out


def test_port_without_permission(monkeypatch, examine):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("serial.Serial", refuse)

    code, out = examine()

    assert code == 1
    assert "run: sudo usermod -aG dialout $USER" in out


@pytest.mark.parametrize("latency", [1, 16, None])
def test_slow_latency_timer(monkeypatch, tmp_path, emulated, examine, latency):
    if latency is not None:
        monkeypatch.setattr("hardware.dynamixel.port._SYSFS", tmp_path / "sys")
        folder = tmp_path / "sys" / Path(emulated.port(emulated.limb)).resolve().name
        folder.mkdir(parents=True)
        (folder / "latency_timer").write_text(f"{latency}\n")

    _, out = examine()

    assert ("expected a USB latency timer of 1 [ms], got 16 [ms]" in out) == (
        latency == 16
    )
    assert (find_latency_problem("/dev/ttyUSB0", latency) is not None) == (
        latency == 16
    )


def test_any_leader_can_be_asked(capsys):
    assert main(["doctor", "leader=autopilot"]) == 0
    assert "nothing wrong was found" in capsys.readouterr().out
