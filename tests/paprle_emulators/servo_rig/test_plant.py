"""A MuJoCo model as the plant of an emulated arm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paprle.ipc.process import WORKSPACE
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.links import make_links
from paprle_emulators.feetech.config import JOINTS, LIMITS, find_rig
from paprle_emulators.feetech.links import PlanarLinks
from paprle_emulators.feetech.rig import Rig
from paprle_emulators.servo_rig.plant import read_plant

pytest.importorskip("mujoco")
URDF = WORKSPACE / "urdf/so101/robot.urdf"
POSES = np.random.default_rng(5).uniform(-0.5, 0.5, (8, 6))
TABLE = """<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom type="plane" size="1 1 .1" pos="0 0 -0.2"/>
    <body name="arm">
      <joint name="swing" axis="0 1 0" range="-1.5 1.5" damping="9" frictionloss="9"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass="1"/>
    </body>
    <body name="crate" pos="3 0 0"><freejoint/>
      <geom type="box" size=".1 .1 .1"/>
    </body>
  </worldbody>
  <actuator><position joint="swing" kp="500"/></actuator>
</mujoco>"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.xml"
    path.write_text(TABLE)
    return path


def test_an_so101_by_its_urdf_weighs_and_turns_like_the_built_in_one():
    own, other = PlanarLinks(LIMITS), read_plant(URDF, JOINTS)
    added = np.full(6, 0.028)

    for q in POSES:
        dq, tau = np.roll(q, 1), 0.5 * np.roll(q, 2)
        a, b = own.accelerate(q, dq, tau, added), other.accelerate(q, dq, tau, added)
        gravity = own.compute_gravity(q), other.compute_gravity(q)
        assert gravity[0][1:4] == pytest.approx(gravity[1][1:4], abs=0.02)
        assert a[:4] == pytest.approx(b[:4], abs=1.0)


def test_a_plant_has_the_stops_of_its_model_and_no_servos_or_friction_of_it(table):
    links = read_plant(table, ["swing"])
    zero = np.zeros(1)

    assert (links.lower[0], links.upper[0]) == (-1.5, 1.5)
    gravity = links.compute_gravity(zero)
    assert gravity == pytest.approx(-0.2 * 9.81, abs=0.01)
    still = links.accelerate(zero, np.ones(1), gravity, zero)
    assert still == pytest.approx(0.0, abs=1e-6)


def test_a_table_holds_the_arm_up(table):
    links, q, dq = read_plant(table, ["swing"]), np.zeros(1), np.zeros(1)
    for _ in range(2000):
        dq = dq + 0.001 * links.accelerate(q, dq, -2.0 * dq, np.zeros(1))
        q = q + 0.001 * dq

    assert q == pytest.approx(np.arcsin((0.2 - 0.02) / 0.4), abs=0.02)


def test_servos_hold_an_so101_of_a_model():
    rig = Rig(find_rig("so101", plant=URDF))
    limb = rig.limbs["follower"]
    begin = limb.arm.q.copy()
    for servo in limb.servos:
        servo.memory.put("Torque_Enable", 1)
        servo.refresh()
    limb.hold(False)
    for _ in range(500):
        rig.step(0.002)

    assert limb.arm.q == pytest.approx(begin, abs=0.2)


def test_a_leader_of_dynamixels_takes_a_model_as_well():
    spec = read_rig("puppeteer_piper").limbs[0]
    own = make_links(spec)
    other = make_links(replace(spec, plant=spec.urdf))
    q = np.linspace(-0.5, 0.5, len(spec.servos))

    assert other.compute_gravity(q) == pytest.approx(own.compute_gravity(q), abs=1e-6)


@pytest.mark.parametrize("joints", [["swing", "elbow"], ["crate"]])
def test_a_model_without_the_joints_is_refused_with_those_it_has(table, joints):
    with pytest.raises(ValueError, match="got joints swing"):
        read_plant(table, joints)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    path = Path(tmp_path / "x.xml")
    path.write_text("<mujoco><nonsense/></mujoco>")
    with pytest.raises(ValueError, match="nonsense"):
        read_plant(path, ["a"])
