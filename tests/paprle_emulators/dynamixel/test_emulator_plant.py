"""Physics of the emulated arm: what a motor, a gear, gravity and a hand do to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from paprle_emulators.dynamixel.links import make_drives
from paprle_emulators.dynamixel.models import find_model
from paprle_emulators.servo_rig.arm import Arm, Drives
from paprle_emulators.servo_rig.links import Links
from paprle_emulators.servo_rig.pin_links import PinLinks

URDF = Path(__file__).resolve().parents[3] / "urdf/puppeteer_papras_7dof/robot.urdf"
JOINTS = tuple(f"joint{i}" for i in range(1, 8))
DT = 0.001
BENT = np.array([0.2, 0.6, -0.3, 0.9, 0.1, 0.5, 0.0])


def run(arm, seconds, tau=0.0, dt=DT):
    """Step an arm under constant torques; return the positions over time."""
    torque = np.broadcast_to(np.asarray(tau, float), arm.q.shape)
    positions = []
    for _ in range(round(seconds / dt)):
        arm.step(torque, dt)
        positions.append(arm.q)
    return np.array(positions)


def one_joint(**changes):
    """A joint without links: inertia 0.002, no friction and no play unless told."""
    nothing = np.zeros(1)
    drives = Drives(
        inertia=np.array([0.002]),
        viscous=nothing,
        coulomb=nothing,
        play=nothing,
        stall_torque=np.array([0.5]),
        drag=nothing,
    )
    values = {name: np.array([value]) for name, value in changes.items()}
    return Arm(replace(drives, **values), None, np.zeros(1))


@pytest.fixture(scope="module")
def links():
    return PinLinks(URDF, JOINTS, (0.0, 0.0, 0.0))


def make_arm(links, q=BENT):
    models = [find_model("xl330-m288")] * len(q)
    return Arm(make_drives(models, [1.0] * len(q), links), links, q)


def without_friction(arm):
    nothing = np.zeros_like(arm.q)
    arm.drives = replace(arm.drives, coulomb=nothing, viscous=nothing)
    return arm


def test_a_free_joint_speeds_up_by_torque_over_inertia():
    arm = one_joint()

    run(arm, 0.2, tau=0.1)

    assert arm.dq[0] == pytest.approx(0.1 * 0.2 / 0.0021, rel=0.02)


def test_viscous_friction_sets_the_final_speed():
    arm = one_joint(viscous=0.01)

    run(arm, 3.0, tau=0.05)

    assert arm.dq[0] == pytest.approx(0.05 / 0.01, rel=0.02)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_torque_below_coulomb_friction_moves_nothing_and_one_above_does(sign):
    arm = one_joint(coulomb=0.02)
    still = run(arm, 1.0, tau=0.019 * sign)
    moving = run(arm, 0.1, tau=0.03 * sign)

    assert np.abs(still).max() < 1e-3  # what the gear twists
    assert sign * moving[-1, 0] == pytest.approx(0.01 / 0.0021 * 0.005, rel=0.1)


def test_friction_brings_a_thrown_joint_to_rest_and_keeps_it():
    arm = one_joint(coulomb=0.02, viscous=0.005)
    arm.dq, arm.motor_dq = np.array([3.0]), np.array([3.0])

    q = run(arm, 2.0)

    assert abs(arm.dq[0]) < 1e-6
    assert np.ptp(q[-500:]) < 1e-9


def test_the_play_of_the_gear_hides_the_link_from_the_motor():
    arm = one_joint(play=0.006, coulomb=0.02)
    arm.hand_stiffness, arm.hand_damping = np.array([5.0]), np.array([0.1])
    arm.hand_q = np.array([0.0028])

    run(arm, 0.5)

    assert arm.q[0] == pytest.approx(0.0028, abs=1e-4)
    assert arm.motor_q[0] == 0.0
    assert abs(arm.tau_hand[0]) < 1e-3


def test_gravity_torque_holds_the_arm_where_it_is(links):
    arm = without_friction(make_arm(links))

    for _ in range(300):
        arm.step(links.compute_gravity(arm.q), DT)

    assert np.abs(arm.q - BENT).max() < 0.01


def test_friction_holds_what_gravity_does_not_overcome(links):
    arm = make_arm(links)
    gravity = links.compute_gravity(BENT)
    holds = np.abs(gravity) < 0.8 * arm.drives.coulomb

    run(arm, 0.05)

    assert holds.any()
    assert np.abs(arm.q - BENT)[holds].max() < 0.01


def test_gravity_is_that_of_the_urdf_in_its_mounting():
    upright = PinLinks(URDF, JOINTS, (0.0, 0.0, 0.0))
    wall = PinLinks(URDF, JOINTS, (np.pi / 2, 0.0, 0.0))
    model = pin.buildModelFromUrdf(str(URDF))
    q = pin.neutral(model)
    for name, value in zip(JOINTS, BENT, strict=True):
        q[model.joints[model.getJointId(name)].idx_q] = value
    gravity = pin.computeGeneralizedGravity(model, model.createData(), q)
    expected = [gravity[model.joints[model.getJointId(n)].idx_v] for n in JOINTS]

    assert upright.compute_gravity(BENT) == pytest.approx(expected, abs=1e-9)
    assert np.abs(wall.compute_gravity(BENT) - expected).max() > 0.05


def test_a_swinging_arm_gains_no_energy(links):
    arm = without_friction(make_arm(links))
    model, data = links._model, links._model.createData()

    def energy():
        gear = arm.drives.stall_torque / 0.01
        gap = arm.motor_q - arm.q
        over = gap - np.clip(gap, -arm.drives.play / 2, arm.drives.play / 2)
        model.armature = np.zeros(7)
        pin.computeAllTerms(model, data, arm.q, arm.dq)
        stored = data.kinetic_energy + pin.computePotentialEnergy(model, data, arm.q)
        rotors = 0.5 * arm.drives.inertia @ arm.motor_dq**2
        return stored + rotors + 0.5 * gear @ over**2

    energies = [energy()]
    for _ in range(60):
        run(arm, 0.01)
        energies.append(energy())

    assert max(energies) < energies[0] + 0.01
    assert np.abs(arm.dq).max() > 0.5


@pytest.mark.parametrize("dt", [0.0005, 0.001, 0.005])
@pytest.mark.parametrize("stiffness", [5.0, 100.0, 2000.0])
def test_no_stiffness_of_the_hand_makes_it_unstable(links, dt, stiffness):
    arm = make_arm(links)
    arm.hand_stiffness = np.full(7, stiffness)
    arm.hand_damping = np.full(7, 0.02 * stiffness)
    arm.hand_q = BENT + 0.2

    q = run(arm, 1.5, dt=dt)

    assert np.abs(q).max() < 3
    assert np.abs(arm.dq).max() < 1e-2
    sag = 3 * np.abs(links.compute_gravity(BENT)).max() + 0.2
    assert np.abs(arm.q - arm.hand_q).max() < sag / stiffness + 0.01


def test_joints_stop_at_their_limits(links):
    arm = without_friction(make_arm(links, np.zeros(7)))

    q = run(arm, 2.0, tau=[0, 0, 0, 0, 0.1, 0, 0])

    assert q[:, 4].max() < links.upper[4] + 0.15
    assert arm.q[4] == pytest.approx(links.upper[4], abs=0.05)


def test_work_of_the_motor_is_what_the_joint_gains():
    arm = one_joint()

    run(arm, 0.3, tau=0.1)

    kinetic = 0.5 * 0.0021 * arm.dq[0] ** 2
    assert arm.motor_work[0] == pytest.approx(kinetic, rel=0.02)


def test_friction_of_a_urdf_wins_over_the_servo(links):
    drives = make_arm(links).drives

    assert drives.viscous == pytest.approx(links.damping)
    assert drives.coulomb == pytest.approx(links.friction)


def test_frames_with_impossible_bodies_weigh_nothing(tmp_path):
    body = '<inertial><mass value="{}"/><inertia ixx="{}" iyy="1e-6" izz="1e-6"/>'
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(
        '<robot name="r"><link name="base"/><link name="tip">'
        + body.format(0.001, 1.0)
        + '</inertial></link><joint name="j" type="continuous"><axis xyz="0 0 1"/>'
        '<parent link="base"/><child link="tip"/></joint></robot>'
    )

    links = Links(urdf, ("j",), (0.0, 0.0, 0.0))

    zero, one = np.zeros(1), np.ones(1)
    assert links.accelerate(zero, zero, one, 1e-3 * one)[0] == pytest.approx(1e3)
    with pytest.raises(ValueError, match="expected joint 'k', got j"):
        Links(urdf, ("k",), (0.0, 0.0, 0.0))
