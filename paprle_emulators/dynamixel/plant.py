"""The arm behind the servos: rigid links, gears and an operator's hand.

In a step the links' new velocity v and the motors' w obey

    M (v − v₀)/dt = c + h₀ − (h₁ + s₁) v − bias,      c = c₀ + c₁ (w − v)
    J (w − w₀)/dt = τ − b w − friction − c

with torque c through the gear, h of the hand and s of the stops, integrated implicitly.
Without w: (M + dt D) a = … − bias. Links and base are rigid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from paprle_emulators.dynamixel.models import ServoModel

Vec = NDArray[np.float64]

GRAVITY = 9.81  # spec: standard gravity [m/s²]
TWIST = 0.01  # chosen: of a gear under its stall torque [rad]
DULLNESS = 0.002  # chosen: damping of that spring by its stiffness [s]; about 0.3
STOP_STIFFNESS = 20.0  # chosen: a hard edge for a hand [N·m/rad]
STOP_DAMPING = 0.2  # chosen: no bounce [N·m·s/rad]
LINK_DAMPING = 1e-4  # chosen: bearings, cables [N·m·s/rad]
LOOSE_LINK = 1e-4  # chosen: inertia of a link where there is no URDF [kg·m²]
FAR = 1e6  # chosen: no stop [rad]
WIDEST = 1.0  # chosen: radius of gyration beyond which no link of a leader is [m]


@dataclass(frozen=True, slots=True)
class Drives:
    """Motors and gears at the joints, all of shape (n,).

    Attributes:
        inertia: Rotor and gear, [kg·m²].
        viscous: [N·m·s/rad].
        coulomb: [N·m].
        play: Whole backlash, [rad].
        stall_torque: Sets the gear's stiffness, [N·m].
    """

    inertia: Vec
    viscous: Vec
    coulomb: Vec
    play: Vec
    stall_torque: Vec


class Links:
    """Rigid bodies of one arm from its URDF, in joint order.

    Attributes:
        lower: Joint limits, shape (n,), [rad].
        upper: Joint limits, shape (n,), [rad].
    """

    def __init__(
        self, urdf: Path, joint_names: Sequence[str], rpy: tuple[float, float, float]
    ) -> None:
        """Read a URDF.

        Raises:
            ValueError: If the URDF lacks a joint.
        """
        root = read_bounded(urdf)
        whole = pin.buildModelFromXML(ElementTree.tostring(root, encoding="unicode"))
        missing = [name for name in joint_names if not whole.existJointName(name)]
        if missing:
            known = ", ".join(list(whole.names)[1:])
            msg = f"{urdf}: expected joint '{missing[0]}', got {known}"
            raise ValueError(msg)
        locked = [
            index
            for index in range(1, whole.njoints)
            if whole.names[index] not in joint_names
        ]
        self._model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
        upright = pin.rpy.rpyToMatrix(*rpy)
        self._model.gravity.linear = upright.T @ np.array([0.0, 0.0, -GRAVITY])
        self._data = self._model.createData()
        ids = [self._model.getJointId(name) for name in joint_names]
        order = np.array([self._model.idx_vs[index] for index in ids])
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self.lower = self._model.lowerPositionLimit[order]
        self.upper = self._model.upperPositionLimit[order]
        self._ids = ids
        self.damping = read_dynamics(root, joint_names, "damping")
        self.friction = read_dynamics(root, joint_names, "friction")

    def measure_reach(self, q: Vec, hand: int) -> Vec:
        """Return each joint's distance from the hand's joint, shape (n,), [m]."""
        pin.forwardKinematics(self._model, self._data, self._inside(q))
        places = np.array([self._data.oMi[index].translation for index in self._ids])
        reach: Vec = np.linalg.norm(places - places[hand], axis=1)
        return reach

    def _inside(self, q: Vec) -> Vec:
        if self._order is None:
            return q
        inside = np.empty_like(q)
        inside[self._order] = q
        return inside

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return a (n,) of (M + diag(added)) a = tau − gravity − Coriolis, [rad/s²].

        Args:
            q: Positions, shape (n,), [rad].
            dq: [rad/s].
            tau: [N·m].
            added: Additional inertia, [kg·m²].
        """
        model, order = self._model, self._order
        if order is None:
            model.armature = added
            a: Vec = pin.aba(model, self._data, q, dq, tau)
            return a
        inside = np.empty((4, len(q)))
        inside[:, order] = q, dq, tau, added
        model.armature = inside[3]
        found: Vec = pin.aba(model, self._data, *inside[:3])[order]
        return found

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, shape (n,), [N·m]."""
        inside, order = self._inside(q), self._order
        tau: Vec = pin.computeGeneralizedGravity(self._model, self._data, inside)
        return tau.copy() if order is None else tau[order]


def read_dynamics(
    root: ElementTree.Element, joint_names: Sequence[str], key: str
) -> Vec:
    """Return a number of the joints' <dynamics>, default 0."""
    stated = {}
    for joint in root.iter("joint"):
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            stated[joint.get("name")] = float(dynamics.get(key, 0.0))
    return np.array([stated.get(name, 0.0) for name in joint_names])


def read_bounded(urdf: Path) -> ElementTree.Element:
    """Return a URDF with scalar joints and without impossible bodies.

    Continuous joints become revolute; placeholder inertias become massless.
    """
    root = ElementTree.parse(urdf).getroot()
    for link in root.iter("link"):
        inertial = link.find("inertial")
        if inertial is not None and not is_body(inertial):
            link.remove(inertial)
    for joint in root.iter("joint"):
        if joint.get("type") == "continuous":
            joint.set("type", "revolute")
            limit = joint.find("limit")
            if limit is None:
                limit = ElementTree.SubElement(joint, "limit")
                limit.attrib.update(effort="1", velocity="10")
            limit.attrib.update(lower=str(-FAR), upper=str(FAR))
    return root


def is_body(inertial: ElementTree.Element) -> bool:
    """Return whether mass and inertia are plausible for a leader."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        return False
    moments = [float(inertia.get(name, 0.0)) for name in ("ixx", "iyy", "izz")]
    return max(moments) <= float(mass.get("value", 0.0)) * WIDEST**2


class Arm:
    """One arm in virtual time.

    The hand is a spring and damper per joint, from the link to ``hand_q``.

    Attributes:
        q: Joint positions at the encoders, shape (n,), [rad].
        dq: [rad/s].
        motor_q: Motor positions before the backlash, [rad].
        motor_dq: [rad/s].
        tau_motor: Last motor torque, [N·m].
        tau_hand: Last torque of the hand, [N·m].
        push: External torque on the links, [N·m].
        hand_q: The hand's set-point, [rad].
        hand_dq: [rad/s].
        hand_stiffness: [N·m/rad].
        hand_damping: [N·m·s/rad].
        hand_lift: Load carried by the hand, [N·m].
        motor_work: Work of each motor, [J].
        hand_work: Work of the hand at each joint, [J].
    """

    def __init__(self, drives: Drives, links: Links | None, q: Vec) -> None:
        n = len(q)
        self.links = links
        self.drives = drives
        self.q, self.dq = q.astype(float), np.zeros(n)
        self.motor_q, self.motor_dq = self.q.copy(), np.zeros(n)
        self.tau_motor, self.tau_hand = np.zeros(n), np.zeros(n)
        self.push = np.zeros(n)
        self.hand_q, self.hand_dq = self.q.copy(), np.zeros(n)
        self.hand_stiffness, self.hand_damping = np.zeros(n), np.zeros(n)
        self.hand_lift = np.zeros(n)
        self.motor_work, self.hand_work = np.zeros(n), np.zeros(n)
        self._lower = links.lower if links else np.full(n, -FAR)
        self._upper = links.upper if links else np.full(n, FAR)
        self._gear = drives.stall_torque / TWIST
        self._half = drives.play / 2

    def step(self, tau_motor: Vec, dt: float) -> None:
        """Advance a step.

        Args:
            tau_motor: Motor torques at the joints, shape (n,), [N·m].
            dt: At most a few milliseconds, [s].
        """
        drives, q, dq = self.drives, self.q, self.dq
        gap = self.motor_q - q
        over = gap - np.minimum(np.maximum(gap, -self._half), self._half)
        c0 = self._gear * over
        c1 = np.where(over, self._gear * (dt + DULLNESS), 0.0)
        h0 = self.hand_stiffness * (self.hand_q - q) + self.hand_damping * self.hand_dq
        h0 = h0 + self.hand_lift
        h1 = self.hand_stiffness * dt + self.hand_damping
        beyond = q - np.minimum(np.maximum(q, self._lower), self._upper)
        s1 = np.where(beyond, STOP_STIFFNESS * dt + STOP_DAMPING, 0.0)

        # The motors: w = slips · (u − friction) with u linear in v. Which of them stick
        # is judged with the old v, then w follows exactly from the new one.
        ease = 1.0 / (drives.inertia / dt + drives.viscous + c1)
        u0 = tau_motor + drives.inertia / dt * self.motor_dq - c0
        u = u0 + c1 * dq
        slips = np.where(np.abs(u) > drives.coulomb, ease, 0.0)
        free = u0 - np.copysign(drives.coulomb, u)

        tau = self.push + c0 + c1 * slips * free + h0 - STOP_STIFFNESS * beyond
        slope = LINK_DAMPING + h1 + s1 + c1 - c1 * slips * c1
        v = dq + dt * self._accelerate(tau - slope * dq, dt * slope)
        u = u0 + c1 * v
        w = ease * np.copysign(np.maximum(np.abs(u) - drives.coulomb, 0.0), u)

        self.q, self.dq = q + dt * v, v
        self.motor_q, self.motor_dq = self.motor_q + dt * w, w
        self.tau_motor, self.tau_hand = tau_motor, h0 - h1 * v
        self.motor_work += tau_motor * w * dt
        self.hand_work += self.tau_hand * v * dt

    def _accelerate(self, tau: Vec, added: Vec) -> Vec:
        if self.links is None:
            return tau / (LOOSE_LINK + added)
        return self.links.accelerate(self.q, self.dq, tau, added)


def make_drives(
    servos: Sequence[ServoModel], gears: Sequence[float], links: Links | None
) -> Drives:
    """Return the drives of servos with outer gears; friction of a URDF prevails."""
    g = np.abs(np.array(gears, dtype=float))
    zero = np.zeros(len(g))
    viscous = np.array([model.viscous for model in servos]) * g**2
    coulomb = np.array([model.coulomb for model in servos]) * g
    damping, friction = (links.damping, links.friction) if links else (zero, zero)
    return Drives(
        inertia=np.array([model.inertia for model in servos]) * g**2,
        viscous=np.where(damping > 0, damping, viscous),
        coulomb=np.where(friction > 0, friction, coulomb),
        play=np.array([model.backlash for model in servos]) / g,
        stall_torque=np.array([model.stall_torque for model in servos]) * g,
    )
