"""The arm's physics against a Lagrangian that is differentiated by numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from feetech_rig import FeetechBench

from paprle_emulators.feetech.config import LIMITS
from paprle_emulators.feetech.links import PlanarLinks

# so101_new_calib.urdf in the zero pose, forwards and up from the pan's axis: joint,
# centre of mass [m], mass [kg], inertia about the joint's axis [kg·m²]
BODIES = (
    ((0.03039, 0.11660), ((0.03878, 0.20645, 0.103, 1.42e-4),)),
    ((0.05839, 0.22917), ((0.15646, 0.23241, 0.104, 1.45e-4),)),
    (
        (0.19329, 0.23437),
        (
            (0.23191, 0.23447, 0.079, 2.5e-5),
            (0.27958, 0.23460, 0.087, 4.3e-5),
            (0.30782, 0.25295, 0.012, 5e-6),
        ),
    ),
)
STEP = 1e-4
POSES = np.random.default_rng(7).uniform(-1.2, 1.2, (12, 6))


@pytest.fixture
def links():
    return PlanarLinks(LIMITS)


def place_bodies(q):
    """Yield place in space, mass, inertia and absolute angle of each body."""
    origin, angle = np.array(BODIES[0][0]), 0.0
    previous = np.array(BODIES[0][0])
    for (joint, bodies), turn in zip(BODIES, q[1:4], strict=True):
        here = np.array(joint)
        way = here - previous
        cos, sin = math.cos(angle), math.sin(angle)
        origin = origin + np.array(
            [cos * way[0] + sin * way[1], -sin * way[0] + cos * way[1]]
        )
        angle, previous = angle + turn, here
        cos, sin = math.cos(angle), math.sin(angle)
        for x, z, mass, inertia in bodies:
            arm = np.array([x, z]) - here
            r = origin[0] + cos * arm[0] + sin * arm[1]
            up = origin[1] - sin * arm[0] + cos * arm[1]
            space = np.array([r * math.cos(q[0]), r * math.sin(q[0]), up])
            yield space, mass, inertia, angle


def compute_energies(q, dq):
    """Return kinetic and potential energy, velocities by differences."""
    before, after = place_bodies(q - STEP * dq), place_bodies(q + STEP * dq)
    kinetic = potential = 0.0
    for first, second in zip(before, after, strict=True):
        speed = (second[0] - first[0]) / (2 * STEP)
        spin = (second[3] - first[3]) / (2 * STEP)
        kinetic += first[1] * speed @ speed / 2 + first[2] * spin * spin / 2
        potential += first[1] * 9.81 * (first[0][2] + second[0][2]) / 2
    return kinetic, potential


@pytest.mark.parametrize("q", POSES)
def test_gravity_is_the_slope_of_the_potential(links, q):
    slopes = np.zeros(6)
    for index in range(6):
        way = np.zeros(6)
        way[index] = STEP
        ends = [compute_energies(q + s * way, np.zeros(6))[1] for s in (-1, 1)]
        slopes[index] = (ends[1] - ends[0]) / (2 * STEP)

    assert links.compute_gravity(q) == pytest.approx(slopes, abs=2e-4)


def test_a_free_arm_keeps_its_energy(links):
    q = np.array([0.0, -0.4, 0.3, 0.2, 0.0, 0.0])
    dq = np.array([1.0, 0.5, -0.3, 0.2, 0.0, 0.0])
    nothing, dt = np.zeros(6), 5e-4
    turret = 1.2e-4 + 5e-4  # about the pan, besides what the bodies' places give

    def find_energy():
        kinetic, potential = compute_energies(q, dq)
        return kinetic + potential + turret * dq[0] ** 2 / 2

    start, kinetic = find_energy(), []
    for _ in range(800):
        middle = dq + dt / 2 * links.accelerate(q, dq, nothing, nothing)
        q = q + dt / 2 * dq
        dq = dq + dt * links.accelerate(q, middle, nothing, nothing)
        q = q + dt / 2 * dq
        kinetic.append(compute_energies(q, dq)[0])

    assert max(kinetic) > 0.1  # it swings
    assert find_energy() == pytest.approx(start, abs=0.02 * max(kinetic))


def test_an_arm_without_torque_falls_and_one_with_torque_holds():
    fallen = []
    for is_on in (False, True):
        bench = FeetechBench()
        bench.limb.arm.q[1:4] = bench.limb.arm.motor_q[1:4] = 0.8, 0.0, 0.0
        bench.limb.show()
        if is_on:
            bench.hold()
        bench.wait(0.8)
        fallen.append(bench.limb.arm.q[1] - 0.8)

    assert fallen[0] > 0.5
    assert abs(fallen[1]) < 0.2


def test_an_obstacle_stops_a_joint_and_loads_its_servo():
    bench = FeetechBench()
    bench.hold()
    assert bench.order(b'{"cmd": "block", "joint": "shoulder_pan", "high": 0.2}')["ok"]
    bench.write(1, "Goal_Position", 2700)
    bench.wait(0.6)

    assert bench.limb.arm.q[0] == pytest.approx(0.2, abs=0.2)
    assert bench.read(1, "Present_Load") > 500
    assert bench.read(1, "Present_Current") > 100
    assert bench.order(b'{"cmd": "block", "joint": "shoulder_pan"}')["ok"]
    bench.wait(0.8)
    assert bench.limb.arm.q[0] > 0.8


def test_a_hand_leads_a_leader_and_its_gears_resist_by_their_ratio():
    bench = FeetechBench("so101_leader")
    inertia = bench.limb.arm.drives.inertia
    bench.rig.pose({"shoulder_pan": 0.6, "wrist_flex": 0.3})
    bench.read(1, "Present_Position")  # a client's first packet starts the hand
    bench.wait(1.5)

    assert inertia[0] / inertia[1] == pytest.approx((191 / 345) ** 2)
    assert inertia[3] / inertia[1] == pytest.approx((147 / 345) ** 2)
    assert bench.limb.arm.q[[0, 3]] == pytest.approx([0.6, 0.3], abs=0.06)
    turned = (bench.read(1, "Present_Position") - 2047) * 2 * math.pi / 4096
    assert turned == pytest.approx(bench.limb.arm.q[0], abs=0.002)


def test_a_released_leader_falls():
    bench = FeetechBench("so101_leader")
    bench.read(1, "Present_Position")
    bench.wait(0.3)
    before = bench.limb.arm.q.copy()
    assert bench.order(b'{"cmd": "let_go"}')["ok"]
    bench.wait(0.6)

    assert np.abs(bench.limb.arm.q - before).max() > 0.3
