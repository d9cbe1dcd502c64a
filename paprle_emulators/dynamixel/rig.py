"""A rig in virtual time."""

from __future__ import annotations

from collections import deque
from functools import partial

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.dynamixel.bus import BAUDS, Bus
from paprle_emulators.dynamixel.config import LimbSpec, RigSpec, ServoSpec
from paprle_emulators.dynamixel.links import make_drives, make_links
from paprle_emulators.dynamixel.models import find_model
from paprle_emulators.dynamixel.servo import Servo
from paprle_emulators.servo_rig.arm import Links
from paprle_emulators.servo_rig.hand import Body
from paprle_emulators.servo_rig.held_arm import HeldArm, make_body
from paprle_emulators.servo_rig.rig import ServoRig

Vec = NDArray[np.float64]

MOST_GOALS = 10_000  # chosen: more than are written between two reports
HEALTH_PERIOD_NS = 100_000_000  # chosen: temperature and supply change slowly [ns]
WATCHDOG_PERIOD_NS = 10_000_000  # chosen: half of the watchdog's unit [ns]


def make_servo(spec: ServoSpec, baud: int | None, is_driven: bool = False) -> Servo:
    """Return a servo as configured; as delivered without a rate."""
    servo = Servo(spec.number, find_model(spec.model))
    if baud is None:
        return servo
    if servo.model.current_unit and not is_driven:
        servo.table.put("Operating Mode", 0)
    servo.table.put("Drive Mode", int(spec.is_reversed))
    if spec.limits is not None:
        low, high = spec.limits
        servo.table.put("Min Position Limit", low)
        servo.table.put("Max Position Limit", high)
    servo.table.put("Baud Rate", BAUDS.index(baud))
    servo.table.put("Return Delay Time", 0)
    return servo


def make_twin(
    spec: ServoSpec, number: int, baud: int | None, is_driven: bool = False
) -> Servo:
    """Return a mirrored servo that obeys the first."""
    twin = make_servo(spec, baud, is_driven)
    twin.table.put("ID", number)
    twin.table.put("Secondary(Shadow) ID", spec.number)
    twin.table.put("Drive Mode", int(not spec.is_reversed))
    return twin


class Limb(HeldArm):
    """An arm with servos and hand."""

    def __init__(self, spec: LimbSpec, baud: int | None) -> None:
        self.spec = spec
        driven = spec.is_driven
        self.servos = [make_servo(servo, baud, driven) for servo in spec.servos]
        self.twins = {
            place: make_twin(servo, servo.twin, baud, driven)
            for place, servo in enumerate(spec.servos)
            if servo.twin is not None
        }
        joints = [servo.joint for servo in spec.servos]
        links = make_links(spec)
        gear = np.array([float(s.sign * s.gear) for s in spec.servos])
        models = [servo.model for servo in self.servos]
        drives = make_drives(models, gear.tolist(), links)
        super().__init__(spec.name, joints, drives, links)
        body = find_body(spec, links)
        self.take(body, gear, np.array([s.offset for s in spec.servos]))
        if driven:
            self.prop()
        self.show()
        for servo in self.all_servos:
            servo.reboot()

    @property
    def all_servos(self) -> list[Servo]:
        """Servos of joints, then twins."""
        return [*self.servos, *self.twins.values()]

    def step(self, t: float | None, dt: float) -> None:
        """Advance dt [s] at t [s]."""
        tau = np.array([servo.step(dt) for servo in self.servos])
        for place, twin in self.twins.items():
            tau[place] -= twin.step(dt)
        self.step_arm(tau, t, dt)
        self.show()

    def show(self) -> None:
        """Set the servos' angles and speeds."""
        angles, speeds = self.list_angles()
        for servo, angle, speed in zip(self.servos, angles, speeds, strict=True):
            servo.angle, servo.velocity = angle, speed
        for place, twin in self.twins.items():
            first = self.servos[place]
            twin.angle, twin.velocity = -first.angle, -first.velocity

    def describe(self) -> dict[str, object]:
        """Return the true joint state."""
        return {
            **super().describe(),
            "torque_on": [bool(s.table.memory[64]) for s in self.servos],
            "errors": [s.table.memory[70] for s in self.servos],
        }


def find_body(spec: LimbSpec, links: Links | None) -> Body:
    """Return an arm's geometry.

    Raises:
        ValueError: If the reset pose has a wrong length.
    """
    n_arm = len(spec.servos) - (spec.gripper is not None)
    home = list(spec.reset_q) or [0.0] * n_arm
    if len(home) != n_arm:
        msg = f"limb '{spec.name}': expected reset_q of {n_arm} joints, got {len(home)}"
        raise ValueError(msg)
    return make_body(home, spec.gripper, links)


class Rig(ServoRig[Limb]):
    """Arms, servos and buses."""

    def __init__(self, spec: RigSpec) -> None:
        self.spec = spec
        baud = None if spec.is_factory else spec.baud
        limbs = {limb.name: Limb(limb, baud) for limb in spec.limbs}
        self._goals: deque[dict[str, object]] = deque(maxlen=MOST_GOALS)
        for name, limb in limbs.items():
            for joint, servo in zip(limb.joints, limb.servos, strict=True):
                servo.on_goal = partial(self._note, name, joint, servo)
        self.buses = {
            port: Bus(
                servo
                for limb in limbs.values()
                if limb.spec.port == port
                for servo in limb.all_servos
            )
            for port in spec.ports
        }
        super().__init__(limbs, self.buses)
        for limb in self.limbs.values():
            if spec.is_factory:
                limb.hold(False)
            for servo in limb.all_servos:
                servo.is_ideal = spec.watchdog == "ideal"
                if spec.firmware is not None and servo.model.is_small:
                    servo.table.put("Firmware Version", spec.firmware)

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
        return self.limbs[limb].spec.port

    def _step(self, t: float | None, before_ns: int, dt: float) -> None:
        for limb in self.limbs.values():
            limb.step(t, dt)
        if before_ns // WATCHDOG_PERIOD_NS != self.now_ns // WATCHDOG_PERIOD_NS:
            self._look_after(before_ns)

    def _look_after(self, before: int) -> None:
        is_slow = before // HEALTH_PERIOD_NS != self.now_ns // HEALTH_PERIOD_NS
        for limb in self.limbs.values():
            for servo in limb.all_servos:
                servo.check_watchdog(self.now_ns)
                if is_slow:
                    servo.check_health(HEALTH_PERIOD_NS * 1e-9)

    def describe(self) -> dict[str, object]:
        """Return the true state."""
        counts = {
            port: {
                "packets": bus.n_packets,
                "refused": bus.n_refused,
                "unstuffed": bus.parser.n_unstuffed,
                "skipped": bus.parser.n_skipped,
                "spoilt": self.line_faults[port].n_spoilt,
            }
            for port, bus in self.buses.items()
        }
        limbs = {name: limb.describe() for name, limb in self.limbs.items()}
        return {"t": self.now_ns * 1e-9, "limbs": limbs, "buses": counts}
