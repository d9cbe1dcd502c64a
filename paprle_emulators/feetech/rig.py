"""A rig in virtual time."""

from __future__ import annotations

from collections import deque
from functools import partial

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.feetech.bus import Bus
from paprle_emulators.feetech.config import (
    CLOSED,
    GRIPPER,
    GRIPPER_SAFETY,
    MIDDLE,
    OPEN,
    LimbSpec,
    RigSpec,
    ServoSpec,
)
from paprle_emulators.feetech.foreign import ForeignMaster
from paprle_emulators.feetech.links import PlanarLinks
from paprle_emulators.feetech.models import BACKLASH, CENTRE, DRAG, MODELS, RAD_PER_TICK
from paprle_emulators.feetech.registers import WHOLE_ANGLE
from paprle_emulators.feetech.servo import Servo
from paprle_emulators.servo_rig.arm import Drives
from paprle_emulators.servo_rig.held_arm import HeldArm, make_body
from paprle_emulators.servo_rig.plant import read_plant
from paprle_emulators.servo_rig.rig import ServoRig

Vec = NDArray[np.float64]

MOST_GOALS = 10_000  # chosen: more than are written between two reports
MOST_HEARD = 4096  # chosen: bytes that a client's driver keeps
HEALTH_PERIOD_NS = 100_000_000  # chosen: temperature and supply change slowly [ns]


def make_servo(spec: ServoSpec, rig: RigSpec) -> Servo:
    """Return its rig's servo."""
    servo = Servo(spec.number, MODELS[spec.model], rig.is_ideal)
    if rig.setup == "factory":
        return servo
    put = servo.memory.put
    put("Phase", servo.memory.get("Phase") & ~WHOLE_ANGLE)
    put("Return_Delay_Time", 0)
    put("Homing_Offset", spec.mounted - MIDDLE)
    low, high = spec.range
    put("Min_Position_Limit", low)
    put("Max_Position_Limit", high)
    put("Maximum_Acceleration", 254)
    put("P_Coefficient", 16)
    if spec.joint == GRIPPER:
        for name, value in GRIPPER_SAFETY.items():
            put(name, value)
    servo.memory.save()
    return servo


def count(spec: ServoSpec, q: float) -> int:
    """Return a calibrated position, [ticks], at q [rad]."""
    return round(MIDDLE + (q - spec.middle) / RAD_PER_TICK)


class Limb(HeldArm):
    """An arm with servos and hand."""

    def __init__(self, spec: LimbSpec, rig: RigSpec) -> None:
        self.spec = spec
        self.servos = [make_servo(one, rig) for one in spec.servos]
        models = [servo.model for servo in self.servos]
        drives = Drives(
            inertia=np.array([model.inertia for model in models]),
            viscous=np.array([model.viscous for model in models]),
            coulomb=np.array([model.coulomb for model in models]),
            play=np.full(len(models), BACKLASH),
            stall_torque=np.array([model.stall_torque for model in models]),
            drag=np.full(len(models), DRAG),
        )
        joints = [one.joint for one in spec.servos]
        links = (
            PlanarLinks([one.stops for one in spec.servos])
            if rig.plant is None
            else read_plant(rig.plant, joints)
        )
        super().__init__(spec.name, joints, drives, links)
        offset = [
            (one.mounted - CENTRE) * RAD_PER_TICK - one.middle for one in spec.servos
        ]
        body = make_body(spec.home, (CLOSED, OPEN), links)
        self.take(body, np.ones(len(models)), np.array(offset))
        if not spec.is_held:
            self.prop()
        self.show()
        for servo in self.servos:
            servo.power_up()

    def step(self, t: float | None, dt: float) -> None:
        """Advance dt [s] at t [s]."""
        self.step_arm(np.array([servo.step(dt) for servo in self.servos]), t, dt)
        self.show()

    def block(self, joint: str, low: float | None, high: float | None) -> None:
        """Put obstacles in a joint's way, [rad]."""
        index = self.joints.index(joint)
        lower, upper = self.spec.servos[index].stops
        self.arm.lower[index] = lower if low is None else max(low, lower)
        self.arm.upper[index] = upper if high is None else min(high, upper)

    def show(self) -> None:
        """Set the servos' angles and speeds."""
        angles, speeds = self.list_angles()
        for servo, angle, speed in zip(self.servos, angles, speeds, strict=True):
            servo.angle, servo.velocity = angle, speed

    def describe(self) -> dict[str, object]:
        """Return the true joint state."""
        servos = self.servos
        return {
            **super().describe(),
            "position": [servo.position for servo in servos],
            "goal": [servo.memory.get("Goal_Position") for servo in servos],
            "n_goals": [servo.n_goals for servo in servos],
            "torque_on": [servo.is_on for servo in servos],
            "errors": [servo.error for servo in servos],
            "load": [servo.duty for servo in servos],
            "current": [servo.current for servo in servos],
            "voltage": [servo.voltage for servo in servos],
            "temperature": [servo.protection.temperature for servo in servos],
        }


class Rig(ServoRig[Limb]):
    """Arms, servos and buses; a port per arm."""

    def __init__(self, spec: RigSpec) -> None:
        self.spec = spec
        limbs = {one.name: Limb(one, spec) for one in spec.limbs}
        self.buses = {name: Bus(limb.servos) for name, limb in limbs.items()}
        self.foreign = {name: ForeignMaster(bus) for name, bus in self.buses.items()}
        self._heard = dict.fromkeys(limbs, b"")
        self._goals: deque[dict[str, object]] = deque(maxlen=MOST_GOALS)
        for name, limb in limbs.items():
            for joint, servo in zip(limb.joints, limb.servos, strict=True):
                servo.on_goal = partial(self._note, name, joint, servo)
        super().__init__(limbs, self.buses)

    def _note(self, limb: str, joint: str, servo: Servo, goal: int) -> None:
        t = self.now_ns * 1e-9 + servo.ahead
        self._goals.append({"t": t, "limb": limb, "joint": joint, "goal": goal})

    def report(self) -> dict[str, object]:
        """Return true state and new goals."""
        goals = list(self._goals)
        self._goals.clear()
        return {**self.describe(), "goals": goals}

    def find_port(self, limb: str) -> str:
        """Return a limb's port."""
        return limb

    def overhear(self, port: str) -> bytes:
        """Return another master's traffic."""
        heard, self._heard[port] = self._heard[port], b""
        return heard

    def _garble(self, port: str, data: bytes) -> bytes:
        return self.foreign[port].garble(data)

    def _step(self, t: float | None, before_ns: int, dt: float) -> None:
        is_due = before_ns // HEALTH_PERIOD_NS != self.now_ns // HEALTH_PERIOD_NS
        for name, limb in self.limbs.items():
            limb.step(t, dt)
            heard = self._heard[name] + self.foreign[name].talk(self.now_ns)
            self._heard[name] = heard[-MOST_HEARD:]
            if is_due:
                for servo in limb.servos:
                    servo.check_health(HEALTH_PERIOD_NS * 1e-9)

    def describe(self) -> dict[str, object]:
        """Return the true state."""
        counts = {
            port: {
                "packets": bus.n_packets,
                "refused": bus.n_refused,
                "skipped": bus.parser.n_skipped,
                "spoilt": self.line_faults[port].n_spoilt,
                "collisions": bus.n_collisions + self.foreign[port].n_collisions,
            }
            for port, bus in self.buses.items()
        }
        limbs = {name: limb.describe() for name, limb in self.limbs.items()}
        return {"t": self.now_ns * 1e-9, "limbs": limbs, "buses": counts}
