"""The arm that the servos are bolted to: rigid links, gears, an operator's hand.

A joint is two inertias with the play of the gear between them: the motor's side, with
the motor's torque and friction, and the link's, with gravity, the hand, the stops and,
as in the X series, the encoder. All springs and dampers are integrated implicitly and
friction by projection, so that a step of 1 ms is stable whatever the stiffness.

In a step the links' new velocity v and the motors' w obey

    M (v − v₀)/dt = c + h₀ − (h₁ + s₁) v − bias,      c = c₀ + c₁ (w − v)
    J (w − w₀)/dt = τ − b w − friction − c

with c the torque through the gear, h of the hand, s of the stops. With w eliminated
this is (M + dt D) a = … − bias: articulated bodies with dt D as rotors' inertia.

Not simulated: bending links, friction that grows with load, cables, a moving base.
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
    """Motors and gears as seen at the joints, all of shape (n,).

    Attributes:
        inertia: Of rotor and gear, [kg·m²].
        viscous: [N·m·s/rad].
        coulomb: [N·m].
        play: Whole width of the backlash, [rad].
        stall_torque: [N·m]; sets the stiffness of the gear.
    """

    inertia: Vec
    viscous: Vec
    coulomb: Vec
    play: Vec
    stall_torque: Vec


class Links:
    """Rigid bodies of one arm from its URDF, in the order of the given joints.

    Attributes:
        lower: Limits of the joints, shape (n,), [rad].
        upper: The same.
        damping: Viscous friction that the URDF states, 0: none, [N·m·s/rad].
        friction: Coulomb friction that the URDF states, 0: none, [N·m].
    """

    def __init__(
        self, urdf: Path, joint_names: Sequence[str], rpy: tuple[float, float, float]
    ) -> None:
        """Read a URDF.

        Args:
            urdf: The file.
            joint_names: Joints that move; all others are locked at zero.
            rpy: Base in upright axes, [rad].

        Raises:
            ValueError: If the URDF lacks one of the joints.
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
        """Return how far each joint is from the one at the hand, shape (n,), [m].

        Args:
            q: Positions, [rad].
            hand: Index of the joint next to the hand.
        """
        pin.forwardKinematics(self._model, self._data, self._inside(q))
        places = np.array([self._data.oMi[index].translation for index in self._ids])
        reach: Vec = np.linalg.norm(places - places[hand], axis=1)
        return reach

    def _inside(self, q: Vec) -> Vec:
        """Return positions in the order of the model."""
        if self._order is None:
            return q
        inside = np.empty_like(q)
        inside[self._order] = q
        return inside

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Solve (M + diag(added)) a = tau − gravity − Coriolis for the acceleration.

        Args:
            q: Positions, shape (n,), [rad].
            dq: [rad/s].
            tau: Torques on the links, [N·m].
            added: Inertia at each joint besides the links', [kg·m²].

        Returns:
            Accelerations, shape (n,), [rad/s²].
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
        """Return the torque that holds the arm still, shape (n,), [N·m]."""
        inside, order = self._inside(q), self._order
        tau: Vec = pin.computeGeneralizedGravity(self._model, self._data, inside)
        return tau.copy() if order is None else tau[order]


def read_dynamics(
    root: ElementTree.Element, joint_names: Sequence[str], key: str
) -> Vec:
    """Return one number of the joints' <dynamics>, 0 where there is none."""
    stated = {}
    for joint in root.iter("joint"):
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            stated[joint.get("name")] = float(dynamics.get(key, 0.0))
    return np.array([stated.get(name, 0.0) for name in joint_names])


def read_bounded(urdf: Path) -> ElementTree.Element:
    """Return a URDF with one number a joint and without impossible bodies.

    Continuous joints become revolute ones. Frames that were given a mark's mass and a
    unit inertia, as some exporters do, become massless.
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
    """Return whether a body of that mass and inertia could be part of a leader."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        return False
    moments = [float(inertia.get(name, 0.0)) for name in ("ixx", "iyy", "izz")]
    return max(moments) <= float(mass.get("value", 0.0)) * WIDEST**2


class Arm:
    """One arm in virtual time: give it motor torques, step it, read its joints.

    The hand is a spring and a damper at each joint, from the link to ``hand_q``; with
    ``hand_stiffness`` and ``hand_damping`` at zero it has let go.

    Attributes:
        q: Joint positions, where the encoders are, shape (n,), [rad].
        dq: [rad/s].
        motor_q: Positions of the motors, behind the play of the gears, [rad].
        motor_dq: [rad/s].
        tau_motor: What the motors made in the last step, [N·m].
        tau_hand: What the hand did in the last step, [N·m].
        push: Any other torque on the links, set from outside, [N·m].
        hand_q: Where the hand wants the joints, [rad].
        hand_dq: [rad/s].
        hand_stiffness: [N·m/rad].
        hand_damping: [N·m·s/rad].
        hand_lift: What the hand carries besides, [N·m].
        motor_work: Done by each motor's torque since the start, [J].
        hand_work: Done by the hand at each joint, [J].
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
        """Move on by a step.

        Args:
            tau_motor: Torques of the motors at the joints, shape (n,), [N·m].
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
    """Return the drives of some servos behind outer gears.

    What the URDF states of a joint's friction holds; else its servo's figures do.
    """
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
