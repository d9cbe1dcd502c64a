"""``paprle doctor`` on rigs with one planted fault each."""

import errno
import re
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from emulated_puppeteers import run_emulated

from paprle.cli import main
from paprle.cli.doctor import resolve_leader
from paprle.hardware.dynamixel.line.port import SerialPort, find_latency_problem
from paprle.ipc.process import WORKSPACE
from paprle.leaders.puppeteer import doctor
from paprle.leaders.puppeteer.leader import Puppeteer

pytestmark = pytest.mark.long

NAME = "puppeteer_papras_7dof"


@pytest.fixture
def emulated(tmp_path):
    tree = yaml.safe_load((WORKSPACE / f"configs/leader/{NAME}.yaml").read_text())
    with run_emulated(tmp_path, tree) as it:
        lay_down(it)
        for servo in it.rig.limbs["arm"].servos:
            servo.table.put("Firmware Version", 46)  # not one that is known to fail
        yield it


@lru_cache
def load_config():
    """The shipped config: the verb reads it anew each time, which takes long."""
    return resolve_leader([f"leader={NAME}"]).leader


@pytest.fixture
def examine(emulated, monkeypatch):
    """Examine the rig as the verb does; returns all lines, and those of faults."""
    monkeypatch.setattr("paprle.leaders.puppeteer.doctor._N_READINGS", 20)

    def run():
        config = load_config()
        limb = replace(config.limbs["arm"], port=emulated.port("arm"))
        config = replace(config, limbs={"arm": limb}, timeout=0.05)
        found = list(Puppeteer(config, time.monotonic_ns).diagnose())
        texts = [text for _, text in found]
        return "\n".join(texts), [text for is_well, text in found if not is_well]

    return run


def test_healthy_rig_has_no_fault(examine):
    said, faults = examine()

    # Only the machine can make this rig slow or noisy.
    assert not [text for text in faults if "readings" not in text]
    assert said.count("servo ") == 8
    assert "within its URDF's limits" in said


def test_the_doctor_leaves_the_rig_as_it_was(emulated, examine):
    servos = emulated.rig.limbs["arm"].servos
    memories = [bytes(servo.table.memory[:120]) for servo in servos]

    examine()

    assert memories == [bytes(servo.table.memory[:120]) for servo in servos]


def test_verb_shows_each_finding_and_counts_faults(emulated, capsys):
    emulated.servo(3).table.put("Drive Mode", 8)
    port = f"leader.limbs.arm.port={emulated.port('arm')}"

    code = main(["doctor", f"leader={NAME}", port, "leader.timeout=0.05"])

    out = capsys.readouterr().out
    assert code == 1
    assert "ok    servo 2" in out
    assert "FAULT servo 3" in out
    assert "fault(s)" in out


def put(name, value, servo_id=3):
    return lambda emulated: emulated.servo(servo_id).table.put(name, value)


def cause(fault, **rest):
    return lambda emulated: emulated.cause(fault, **rest)


def turn(emulated):
    emulated.servo(2).angle += 2.9


def set_level(emulated):
    emulated.servo(3).table.put("Status Return Level", 0)
    emulated.servo(3)._refresh()


def exchange_ends(emulated):
    gripper = load_config().limbs["arm"].gripper
    emulated.servo(gripper.id).angle = gripper.offset + gripper.sign * gripper.closed


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
    "on_by_goal": (put("Drive Mode", 8), "drive mode normal, got torque on by goal"),
    "shadow_id": (put("Secondary(Shadow) ID", 4), "no secondary id, got 4"),
    "overloaded": (cause("overload", id=3), "got 'overloaded'; take the load off"),
    "overheated": (cause("overheat", id=3), "overheated.*; let it cool"),
    "under_voltage": (
        cause("voltage", id=3, volts=4.0),
        r"got 4.0 \[V\]; check the po",
    ),
    "torque_on": (put("Torque Enable", 1), "torque off, got on: another program"),
    "homing_offset": (
        put("Homing Offset", -1024),
        r"offset 0, got -90 \[°\]; set",
    ),
    "no_protection": (put("Shutdown", 0), "when overheated or overloaded, got 0; set"),
    "answers_pings": (set_level, r"Status Return Level \(68\) is 0, opening"),
    "cable": (cause("voltage", id=6, volts=9.8), r"12.0 \[V\] as the .* got 9.8"),
    "trigger": (exchange_ends, "trigger open, got 0% open; let go .* --joint arm/gri"),
    "offset": (turn, "joint .*/joint2': expected .* run paprle calibrate --joint"),
}


@pytest.mark.parametrize(("plant", "text"), FAULTS.values(), ids=FAULTS)
def test_planted_fault_is_found(emulated, examine, plant, text):
    plant(emulated)

    said, faults = examine()

    assert re.search(text, "\n".join(faults)), said


def test_firmware_51_is_described_and_is_no_fault(emulated, examine):
    put("Firmware Version", 51)(emulated)

    said, faults = examine()

    assert "firmware 51, whose Bus Watchdog does not stop the motor" in said
    assert not [text for text in faults if "firmware" in text]


@pytest.mark.parametrize("rate", [57600, 1_000_000])
def test_servos_that_are_all_at_another_rate_are_one_line(emulated, examine, rate):
    emulated.cause("baud", rate=rate)

    said, faults = examine()

    (fault,) = faults
    assert f"got all of them at {rate} [bit/s]; set leader.baud={rate}, or" in fault


def test_answers_that_come_late_are_not_called_damaged(emulated, examine):
    emulated.cause("late", p=0.2, seconds=0.08)

    said, _ = examine()

    assert "damaged" not in said
    shown = r"expected answers within 50 \[ms\], got none in .* latency"
    assert re.search(shown, said), said


def test_damaged_packets_are_not_called_late(emulated, examine):
    emulated.cause("corrupted", p=0.1)

    said, _ = examine()

    assert re.search(r"expected no damaged packets, got .* check plugs", said)


def test_torques_that_nobody_weighed_are_a_note(examine, monkeypatch):
    said, _ = examine()
    limb = load_config().limbs["arm"]
    weighed = {
        joint: replace(servo, torque_map="supply")
        for joint, servo in limb.servos.items()
    }
    config = replace(load_config(), limbs={"arm": replace(limb, servos=weighed)})
    monkeypatch.setitem(globals(), "load_config", lambda: config)
    after, _ = examine()

    told = r"servos? ([\d, ]+) on '[^']*': their torque .* paprle calibrate weighs"
    small = [i + 1 for i, s in enumerate(limb.servos.values()) if "330" in s.model]
    assert re.search(told, said)[1] == ", ".join(map(str, [*small, 8]))
    assert re.search(told, after)[1] == "8"  # the trigger carries nothing


def test_a_reversed_servo_is_a_note(emulated, examine):
    before = examine()[0]
    emulated.servo(3).table.put("Drive Mode", 1)
    emulated.servo(3).reboot()

    said, faults = examine()

    assert not [text for text in faults if "readings" not in text]
    assert "reversed by its Drive Mode" in said
    assert before.splitlines()[-1] == said.splitlines()[-1]


def lay_down(emulated):
    """Put the arm where it rests, its trigger open."""
    limb = load_config().limbs["arm"]
    at = [*limb.reset_q, limb.gripper.open]
    servos = [*limb.servos.values(), limb.gripper]
    for servo, q in zip(servos, at, strict=True):
        angle = servo.sign * servo.gear * q + servo.offset
        emulated.servo(servo.id).angle = angle
    return limb


def reverse(emulated):
    servo = lay_down(emulated).servos["joint4"]
    offset, angle = servo.offset, emulated.servo(servo.id).angle
    emulated.servo(servo.id).angle = 2 * offset - angle


def slip(emulated):
    servo = lay_down(emulated).servos["joint2"]
    emulated.servo(servo.id).angle += 2 * np.pi / 16  # a tooth


def exchange(emulated):
    lay_down(emulated)
    one, other = emulated.servo(3), emulated.servo(4)
    one.angle, other.angle = other.angle, one.angle


MISFITS = {"sign": (reverse, "joint4"), "tooth": (slip, "joint2"),
           "exchanged": (exchange, "joint[34]")}  # fmt: skip


@pytest.mark.parametrize(("plant", "joint"), MISFITS.values(), ids=MISFITS)
def test_faults_without_a_register_show_at_the_rest_pose(
    emulated, examine, plant, joint
):
    plant(emulated)

    said, faults = examine()

    shown = rf"rest pose: .*{joint} by .*run paprle calibrate|{joint}': expected .*cal"
    assert re.search(shown, "\n".join(faults)), said


def test_an_arm_at_its_rest_pose_is_not_away_from_it(examine):
    assert "away from its rest pose" not in examine()[0]


def test_an_arm_that_moves_is_not_compared_with_its_rest_pose(
    emulated, examine, monkeypatch
):
    monkeypatch.setattr(doctor, "_N_READINGS", 1500)  # half a second of this bus, too
    slip(emulated)
    servo, move = emulated.servo(2), iter(range(10**6))
    emulated.rig.limbs["arm"].step = lambda *_: setattr(
        servo, "angle", servo.angle + 0.02 * (-1) ** (next(move) // 10)
    )

    said, faults = examine()

    assert "it moves; lay it down" in said
    assert "rest pose" not in "".join(faults)


def test_an_inverted_gripper_is_found(emulated, examine):
    gripper = lay_down(emulated).gripper
    wide = gripper.sign * gripper.gear * gripper.open
    emulated.servo(gripper.id).angle = gripper.offset - wide

    _, faults = examine()

    assert re.search(f"arm/{gripper.joint}': expected .*run paprle cal", faults[-1])


def test_a_joint_that_its_urdf_lacks_is_found(emulated):
    limb = load_config().limbs["arm"]
    servos = {f"{joint}x": servo for joint, servo in limb.servos.items()}
    limb = replace(limb, port=emulated.port("arm"), servos=servos)
    config = replace(load_config(), limbs={"arm": limb}, timeout=0.05)

    found = list(Puppeteer(config, time.monotonic_ns).diagnose())

    faults = "\n".join(text for is_well, text in found if not is_well)
    assert "expected joint 'joint1x' in " in faults
    assert "got none; there are: joint1, " in faults


def test_port_that_is_not_there(capsys):
    code = main(["doctor", f"leader={NAME}", "leader.limbs.arm.port=/dev/none"])

    assert code == 1
    assert "'/dev/none': expected a serial device, got none; plug in" in (
        capsys.readouterr().out
    )


def test_port_that_is_taken(emulated, examine):
    port = SerialPort(emulated.port("arm"), 0.01)
    port.openPort()
    try:
        said, _ = examine()
    finally:
        port.closePort()

    assert "expected it to be free, got one that another process has open" in said


def test_port_without_permission(monkeypatch, examine):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("serial.Serial", refuse)

    said, _ = examine()

    assert "run: sudo usermod -aG dialout $USER" in said


@pytest.mark.parametrize("latency", [1, 16, None])
def test_slow_latency_timer(monkeypatch, tmp_path, emulated, examine, latency):
    if latency is not None:
        monkeypatch.setattr(
            "paprle.hardware.dynamixel.line.port._SYSFS", tmp_path / "sys"
        )
        folder = tmp_path / "sys" / Path(emulated.port("arm")).resolve().name
        folder.mkdir(parents=True)
        (folder / "latency_timer").write_text(f"{latency}\n")

    said, _ = examine()

    assert ("expected a USB latency timer of 1 [ms], got 16 [ms]" in said) == (
        latency == 16
    )
    assert (find_latency_problem("/dev/ttyUSB0", latency) is not None) == (
        latency == 16
    )


def test_any_leader_can_be_asked(capsys):
    assert main(["doctor", "leader=autopilot"]) == 0
    assert "nothing wrong was found" in capsys.readouterr().out
