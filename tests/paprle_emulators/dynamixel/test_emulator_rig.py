"""Servos, arms and hands together, in virtual time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import yaml
from dynamixel_rig import ROOT, TWO_JOINTS

from paprle_emulators.dynamixel.config import (
    LimbSpec,
    RigSpec,
    ServoSpec,
    read_limb,
    read_rig,
)
from paprle_emulators.dynamixel.models import RAD_PER_TICK, VELOCITY_UNIT
from paprle_emulators.dynamixel.packets import make_instruction
from paprle_emulators.dynamixel.rig import Rig

DT = 0.001
MODES = {"current": 0, "velocity": 1, "position": 3, "extended": 4, "based": 5}
LIMBS = yaml.safe_load(TWO_JOINTS)["limbs"]
SPEC = RigSpec(limbs=tuple(read_limb(n, n, v) for n, v in LIMBS.items()))


def make_single(model="xl330-m288", **servo):
    """Return a rig of one joint and its servo."""
    spec = ServoSpec(joint="j", number=1, model=model, **servo)
    rig = Rig(RigSpec(limbs=(LimbSpec(name="arm", servos=(spec,)),)))
    rig.limbs["arm"].hold(False)
    return rig, rig.limbs["arm"].arm, rig.limbs["arm"].servos[0]


def run(rig, seconds):
    for _ in range(round(seconds / DT)):
        rig.step(DT)


def switch_on(servo, mode, **goals):
    """Set mode, torque and goals through the rules of the table."""
    table = servo.table
    assert servo.write(11, bytes([MODES[mode]])) == 0
    assert servo.write(64, b"\1") == 0
    for name, value in goals.items():
        register = table.registers[name.replace("_", " ").title().replace("Pwm", "PWM")]
        raw = value.to_bytes(register.size, "little", signed=True)
        assert servo.write(register.address, raw) == 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gear", [1.0, 2.0])
def test_angles_and_torques_pass_gear_sign_and_offset(sign, gear):
    rig, arm, servo = make_single(sign=sign, gear=gear, offset=0.4)
    arm.q = arm.motor_q = np.array([0.3])
    rig.step(DT)
    assert servo.angle == pytest.approx(sign * gear * 0.3 + 0.4, abs=1e-6)
    angle = servo.position

    switch_on(servo, "current", goal_current=20)
    run(rig, 0.1)

    assert servo.position > angle
    assert sign * arm.q[0] > sign * 0.3
    torque = 0.52 * (0.02 / 1.47) ** 0.5  # of 20 mA of its supply
    assert servo.torque == pytest.approx(torque)
    assert arm.tau_motor[0] == pytest.approx(sign * gear * torque)


def test_measured_position_has_4096_steps_and_its_current_a_unit():
    rig, arm, servo = make_single("xm430-w350")
    arm.q = arm.motor_q = np.array([1.0])
    switch_on(servo, "current", goal_current=100)
    rig.step(DT)

    read = servo.read(126, 10, rig.now_ns)

    assert int.from_bytes(read[6:], "little") == 2048 + round(1.0 / RAD_PER_TICK)
    assert int.from_bytes(read[:2], "little", signed=True) == 100
    assert servo.torque == pytest.approx(100 * 0.00269 * 4.1 / 2.3)


def test_the_current_limit_bounds_the_torque():
    rig, _, servo = make_single()
    servo.write(38, (300).to_bytes(2, "little"))
    switch_on(servo, "current")
    assert servo.write(102, (301).to_bytes(2, "little")) == 6
    assert servo.write(102, (300).to_bytes(2, "little")) == 0
    rig.step(DT)

    assert servo.torque == pytest.approx(0.52 * (0.3 / 1.47) ** 0.5)


def test_a_driven_motor_stops_pulling_at_its_no_load_speed():
    rig, arm, servo = make_single()
    switch_on(servo, "current", goal_current=1470)
    run(rig, 0.001)
    assert servo.torque == pytest.approx(0.52, rel=0.02)

    run(rig, 2.0)

    speed = servo.model.no_load_speed
    assert 0.7 * speed < arm.dq[0] < speed
    assert servo.torque < 0.3 * 0.52


@pytest.mark.parametrize("mode", ["position", "extended", "based"])
def test_position_modes_go_to_their_goal(mode):
    rig, _, servo = make_single()
    switch_on(servo, mode, goal_position=2600)

    run(rig, 1.5)

    assert servo.position == pytest.approx(2600, abs=25)


def test_current_based_position_pushes_no_harder_than_its_current():
    rig, arm, servo = make_single()
    arm.hand_stiffness, arm.hand_damping = np.array([50.0]), np.array([1.0])
    switch_on(servo, "based", goal_position=3500, goal_current=100)

    run(rig, 0.5)

    assert servo.torque == pytest.approx(0.52 * (0.1 / 1.47) ** 0.5, rel=0.01)


def test_a_profile_velocity_slows_the_way():
    rig, arm, servo = make_single()
    servo.write(112, (20).to_bytes(4, "little"))
    switch_on(servo, "position", goal_position=3000)

    run(rig, 0.5)

    assert arm.dq[0] == pytest.approx(20 * VELOCITY_UNIT, rel=0.3)


def test_velocity_mode_keeps_a_speed():
    rig, arm, servo = make_single()
    switch_on(servo, "velocity", goal_velocity=100)

    run(rig, 2.0)

    assert arm.dq[0] == pytest.approx(100 * VELOCITY_UNIT, rel=0.1)


def test_switching_torque_on_moves_nothing():
    rig, arm, servo = make_single()
    arm.q = arm.motor_q = np.array([0.7])
    rig.step(DT)
    for mode in MODES:
        switch_on(servo, mode)
        run(rig, 0.2)
        servo.write(64, b"\0")

    assert arm.q[0] == pytest.approx(0.7, abs=0.01)


def test_a_silent_bus_stops_a_servo_whose_watchdog_is_armed():
    rig, _, servo = make_single()
    servo.is_ideal = True
    switch_on(servo, "current", goal_current=300)
    servo.write(98, b"\5")
    for _ in range(20):
        rig.exchange("bus", make_instruction(1, 1))
        run(rig, 0.05)
    assert servo.torque > 0

    run(rig, 0.15)

    assert servo.torque == 0.0
    assert servo.table.get("Bus Watchdog") == 255
    assert servo.write(102, b"\1\0") == 4
    assert servo.write(98, b"\0") == 0
    assert servo.write(102, b"\1\0") == 0


def test_a_motor_that_is_held_grows_warm():
    rig, arm, servo = make_single()
    arm.hand_stiffness, arm.hand_damping = np.array([50.0]), np.array([1.0])
    switch_on(servo, "current", goal_current=1400)

    run(rig, 5.0)

    assert 26.5 < servo.temperature < 30


def test_the_hand_leads_the_arm_and_can_let_go():
    rig = Rig(read_rig(str(ROOT / "configs/leader/puppeteer_papras_7dof_2arm.yaml")))
    rig.play("sines")
    limb = rig.limbs["left"]
    start = limb.arm.q
    run(rig, 0.2)
    assert np.abs(limb.arm.hand_q - start).max() == 0.0  # nobody looks yet
    rig.exchange(limb.spec.port, make_instruction(1, 1))

    gaps = []
    for _ in range(2000):
        rig.step(DT)
        gaps.append(np.abs(limb.arm.hand_q - limb.arm.q).max())
    assert np.abs(limb.arm.q - start).max() > 0.1
    assert np.max(gaps) < 0.25
    limb.hold(False)
    run(rig, 0.3)

    assert np.all(limb.arm.tau_hand == 0)


def test_the_hand_carries_the_weight_that_the_motors_do_not():
    rig = Rig(read_rig(str(ROOT / "configs/leader/puppeteer_piper.yaml")))
    rig.exchange("/dev/ttyUSB0", make_instruction(1, 1))
    arm = rig.limbs["arm"].arm
    weight = rig.limbs["arm"].arm.links.compute_gravity(arm.q)
    assert np.abs(weight).max() > 0.1

    run(rig, 1.0)
    assert np.abs(arm.q - arm.hand_q).max() < 0.01
    rig.limbs["arm"].arm.push = weight  # as if the motors did
    run(rig, 3.0)

    assert np.abs(arm.q - arm.hand_q).max() < 0.03
    assert np.all(np.abs(arm.hand_lift) <= np.abs(weight) + 0.05)


@pytest.mark.nightly
def test_the_start_signal_is_an_open_then_a_held_gripper():
    rig = Rig(SPEC)
    rig.exchange("one", make_instruction(1, 1))
    rig.play("grasp_all")
    limb = rig.limbs["left"]
    openings, arms = [], []
    for _ in range(7000):
        rig.step(DT)
        openings.append(limb.arm.q[-1] / 0.8)
        arms.append(limb.arm.q[:-1])

    openings = np.array(openings)
    assert openings[:2000].min() > 0.8
    assert openings[2500:].max() < 0.2
    assert np.abs(np.diff(arms[2500:], axis=0)).max() < 1e-3


@pytest.mark.nightly
def test_a_program_goes_from_motion_to_motion_without_a_jump():
    rig = Rig(SPEC)
    rig.exchange("one", make_instruction(1, 1))
    rig.play("sines:2,chirp:2,reach:3,grasp_all:2,end")
    places = []
    for _ in range(12_500):
        rig.step(DT)
        places.append(rig.limbs["left"].arm.hand_q)

    assert np.abs(np.diff(places, axis=0)).max() < 0.01
    assert places[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_the_hand_shows_one_joint():
    rig = Rig(SPEC)
    rig.exchange("one", make_instruction(1, 1))
    rig.play("sines")
    run(rig, 1.0)
    before = rig.limbs["left"].arm.hand_q

    rig.pose({"shoulder": 0.4, "gripper": 0.1}, "left")
    run(rig, 1.5)

    hand = rig.limbs["left"].arm.hand_q
    assert hand == pytest.approx([0.4, before[1], 0.1], abs=0.02)
    with pytest.raises(ValueError, match="expected joints of the rig, got knee"):
        rig.pose({"knee": 1.0})


@pytest.mark.parametrize("program", ["walk", "sines:x", "sines,still", "still:-1"])
def test_a_program_that_cannot_be_played_is_refused(program):
    with pytest.raises(ValueError, match=r"motion|float"):
        Rig(SPEC).play(program)


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_a_file_leads_the_hand(tmp_path, kind):
    time = np.linspace(0, 2, 21)
    path = tmp_path / f"motion.{kind}"
    q = np.stack([0.3 * np.sin(time), 0.5 + 0 * time], axis=1)
    names = ["left/shoulder", "elbow"]
    if kind == "csv":
        rows = np.column_stack([time, q])
        np.savetxt(path, rows, delimiter=",", header=f"time,{','.join(names)}",
                   comments="")  # fmt: skip
    else:
        np.savez(path, time=time, q=q, joint_names=names)
    rig = Rig(SPEC)
    rig.exchange("one", make_instruction(1, 1))
    rig.play(str(path))

    run(rig, 1.5)

    left, right = rig.limbs["left"].arm.hand_q, rig.limbs["right"].arm.hand_q
    assert left == pytest.approx([0.3 * math.sin(1.5), 0.5, 0.8], abs=2e-3)
    assert right == pytest.approx([0.0, 0.5], abs=1e-9)


def test_a_file_for_one_arm_leaves_the_other_at_home_and_one_for_none_is_refused(
    tmp_path,
):
    path = tmp_path / "motion.csv"
    path.write_text("time,left/elbow\n0,0.0\n1,0.2\n")
    rig = Rig(SPEC)
    rig.exchange("one", make_instruction(1, 1))
    rig.play(str(path))
    run(rig, 1.2)
    assert rig.limbs["left"].arm.hand_q[1] == pytest.approx(0.2, abs=1e-6)
    assert rig.limbs["right"].arm.hand_q == pytest.approx([0.0, 0.0])

    path.write_text("time,knee\n0,0.0\n1,0.2\n")
    with pytest.raises(ValueError, match="expected joints of the rig"):
        rig.play(str(path))
    path.write_text("left/elbow\n0.0\n0.2\n")
    with pytest.raises(ValueError, match="expected a column 'time'"):
        rig.play(str(path))
    broken = tmp_path / "motion.npz"
    broken.write_text("no zip")
    with pytest.raises(ValueError, match="expected a motion|pickle"):
        rig.play(str(broken))


def test_a_hand_that_is_told_how_to_hold_does_not_grip_by_it():
    limb = Rig(SPEC).limbs["left"]
    limb.hold(False)

    limb.set_hand(np.ones(3), np.ones(3))
    assert not limb.arm.hand_stiffness.any()
    limb.hold(True)

    assert limb.arm.hand_stiffness == pytest.approx(1.0)


def test_limbs_of_one_port_share_a_bus(tmp_path):
    values = yaml.safe_load(TWO_JOINTS)
    values["limbs"]["right"]["port"] = "one"
    path = tmp_path / "rig.yaml"
    path.write_text(yaml.safe_dump(values))

    rig = Rig(read_rig(str(path)))

    assert list(rig.buses) == ["one"]
    assert len(rig.buses["one"].servos) == 5


def test_every_shipped_puppeteer_can_be_emulated():
    for path in sorted((ROOT / "configs/leader").glob("puppeteer_*.yaml")):
        rig = Rig(read_rig(path.stem))
        run(rig, 0.05)
        state = json.loads(json.dumps(rig.describe()))
        for name, limb in state["limbs"].items():
            q, hand = np.array(limb["q"]), np.array(limb["q_hand"])
            assert np.abs(q - hand).max() < 0.1, (path.stem, name)


def test_a_yaml_without_servos_is_refused(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("type: keyboard\n")
    with pytest.raises(ValueError, match="expected limbs with servos"):
        read_rig(str(path))
    with pytest.raises(FileNotFoundError, match="expected a rig"):
        read_rig("nobody")
    path.write_text("limbs: {left: {servos: {j: {id: 1, model: xl330-m289}}}}")
    with pytest.raises(ValueError, match=r"expected one of .*xl330-m288"):
        read_rig(str(path))
    path.write_text("limbs: {left: {port: x, servos: {j: {model: xl330-m288}}}}")
    with pytest.raises(ValueError, match="limbs.left: expected the key 'id'"):
        read_rig(str(path))
