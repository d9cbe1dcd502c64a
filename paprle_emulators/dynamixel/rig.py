"""A rig in virtual time: buses, servos and arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.dynamixel.bus import BAUDS, Answer, Bus
from paprle_emulators.dynamixel.config import LimbSpec, RigSpec, ServoSpec
from paprle_emulators.dynamixel.hand import Body, ProgramPlayer, read_program
from paprle_emulators.dynamixel.line_faults import LineFaults
from paprle_emulators.dynamixel.models import find_model
from paprle_emulators.dynamixel.plant import FAR, Arm, Links, make_drives
from paprle_emulators.dynamixel.servo import Servo

Vec = NDArray[np.float64]

HEALTH_PERIOD_NS = 100_000_000  # chosen: temperature and supply change slowly [ns]
WATCHDOG_PERIOD_NS = 10_000_000  # chosen: half of the watchdog's unit [ns]
HAND_STIFFNESS = 300.0  # chosen: a relaxed hand at a handle [N/m]
LEAST_STIFFNESS = 2.0  # chosen: a wrist or fingers turning a joint [N·m/rad]
REACH = 0.2  # chosen: from a joint to the handle where there is no URDF [m]
LIFT_TIME = 0.5  # chosen: in which a person gets used to a weight [s]
AIM_PERIOD = 0.005  # chosen: a hand aims slowly; between, it goes straight on [s]
HAND_TIME = 0.025  # chosen: damping of the hand by its stiffness, well damped [s]


def make_servo(spec: ServoSpec, baud: int) -> Servo:
    """Return a servo set up as its leader does."""
    servo = Servo(spec.number, find_model(spec.model))
    if servo.model.current_unit:
        servo.table.put("Operating Mode", 0)
    servo.table.put("Baud Rate", BAUDS.index(baud))
    servo.table.put("Return Delay Time", 0)
    return servo


def make_twin(spec: ServoSpec, number: int, baud: int) -> Servo:
    """Return a second, mirrored servo that obeys the first one's ID."""
    twin = make_servo(spec, baud)
    twin.table.put("ID", number)
    twin.table.put("Secondary(Shadow) ID", spec.number)
    twin.table.put("Drive Mode", 1)
    return twin


class Limb:
    """An arm with its servos and the hand that holds it."""

    def __init__(self, spec: LimbSpec, baud: int) -> None:
        self.spec = spec
        self.servos = [make_servo(servo, baud) for servo in spec.servos]
        self.twins = {
            place: make_twin(servo, servo.twin, baud)
            for place, servo in enumerate(spec.servos)
            if servo.twin is not None
        }
        joints = [servo.joint for servo in spec.servos]
        links = Links(spec.urdf, joints, spec.base_rpy) if spec.urdf else None
        self._gear = np.array([float(s.sign * s.gear) for s in spec.servos])
        self._offset = np.array([s.offset for s in spec.servos])
        models = [servo.model for servo in self.servos]
        drives = make_drives(models, self._gear.tolist(), links)
        body = make_body(spec, links)
        self.arm = Arm(drives, links, body.home)
        self.hand = ProgramPlayer(body, [f"{spec.name}/{joint}" for joint in joints])
        n_arm = len(joints) - (spec.gripper is not None)
        reach = np.full(len(joints), REACH)
        if links is not None:
            reach = links.measure_reach(body.home, n_arm - 1)
        stiffness = np.maximum(HAND_STIFFNESS * reach**2, LEAST_STIFFNESS)
        self.set_hand(stiffness, HAND_TIME * stiffness)
        self._aim_t = 0.0
        self._show()
        for servo in self.all_servos:
            servo.reboot()

    @property
    def all_servos(self) -> list[Servo]:
        """Servos of the joints, then twins."""
        return [*self.servos, *self.twins.values()]

    def set_hand(self, stiffness: Vec, damping: Vec) -> None:
        """Set the hand's stiffness [N·m/rad] and damping [N·m·s/rad]."""
        self._grip = stiffness, damping
        self.hold(self.hand.is_holding)

    def hold(self, is_holding: bool) -> None:
        """Let the hand hold or release the arm."""
        self.hand.is_holding = is_holding
        share = 1.0 if is_holding else 0.0
        self.arm.hand_stiffness, self.arm.hand_damping = (
            share * self._grip[0],
            share * self._grip[1],
        )
        self.arm.hand_lift = share * self._weigh()

    def step(self, t: float | None, dt: float) -> None:
        """Advance a step, with the hand's program time [s]."""
        tau = np.array([servo.step(dt) for servo in self.servos])
        for place, twin in self.twins.items():
            tau[place] -= twin.step(dt)
        arm = self.arm
        if t is not None and t >= self._aim_t:
            arm.hand_dq = (self.hand.sample(t + AIM_PERIOD) - arm.hand_q) / AIM_PERIOD
            self._aim_t = t + AIM_PERIOD
            self._lift(AIM_PERIOD)
        arm.hand_q = arm.hand_q + dt * arm.hand_dq
        arm.step(self._gear * tau, dt)
        self._show()

    def _lift(self, dt: float) -> None:
        """Adapt the hand's share of the arm's weight."""
        if not self.hand.is_holding:
            return
        arm, weight = self.arm, self._weigh()
        sag = arm.hand_stiffness * (arm.hand_q - arm.q)
        lift = arm.hand_lift + sag * dt / LIFT_TIME
        arm.hand_lift = np.clip(lift, np.minimum(weight, 0.0), np.maximum(weight, 0.0))

    def _weigh(self) -> Vec:
        """Return the hand's maximum load, shape (n,), [N·m]."""
        links = self.arm.links
        if links is None:
            return np.zeros(len(self.servos))
        return np.where(self._grip[0] > 0.0, links.compute_gravity(self.arm.q), 0.0)

    def mount(self, index: int, sign: int, offset: float) -> tuple[int, float]:
        """Mount a horn.

        Args:
            index: Of the joint.
            sign: 1 or -1.
            offset: Servo angle at joint position 0, [rad].

        Returns:
            Previous sign and offset.
        """
        before = int(np.sign(self._gear[index])), float(self._offset[index])
        self._gear[index] = sign * abs(self._gear[index])
        self._offset[index] = offset
        self._show()
        return before

    def _show(self) -> None:
        angles = (self._gear * self.arm.q + self._offset).tolist()
        speeds = (self._gear * self.arm.dq).tolist()
        for servo, angle, speed in zip(self.servos, angles, speeds, strict=True):
            servo.angle, servo.velocity = angle, speed
        for place, twin in self.twins.items():
            first = self.servos[place]
            twin.angle, twin.velocity = -first.angle, -first.velocity

    def describe(self) -> dict[str, object]:
        """Return the true state at the joints."""
        arm = self.arm
        return {
            "joints": [servo.joint for servo in self.spec.servos],
            "q": arm.q.tolist(),
            "dq": arm.dq.tolist(),
            "q_hand": arm.hand_q.tolist(),
            "tau_motor": arm.tau_motor.tolist(),
            "tau_hand": arm.tau_hand.tolist(),
            "motor_work": arm.motor_work.tolist(),
            "hand_work": arm.hand_work.tolist(),
            "torque_on": [bool(s.table.memory[64]) for s in self.servos],
            "errors": [s.table.memory[70] for s in self.servos],
        }


def make_body(spec: LimbSpec, links: Links | None) -> Body:
    """Return an arm's geometry for the hand.

    Raises:
        ValueError: If the reset pose has a wrong number of joints.
    """
    n_arm = len(spec.servos) - (spec.gripper is not None)
    home = list(spec.reset_q) or [0.0] * n_arm
    if len(home) != n_arm:
        msg = f"limb '{spec.name}': expected reset_q of {n_arm} joints, got {len(home)}"
        raise ValueError(msg)
    closed, opened = spec.gripper or (None, None)
    if opened is not None:
        home.append(opened)
    n = len(home)
    lower = links.lower if links else np.full(n, -FAR)
    upper = links.upper if links else np.full(n, FAR)
    return Body(np.array(home), closed, lower, upper)


class Rig:
    """Arms, servos and buses in virtual time.

    Attributes:
        now_ns: Time since the start, [ns].
    """

    def __init__(self, spec: RigSpec) -> None:
        self.spec = spec
        self.limbs = {limb.name: Limb(limb, spec.baud) for limb in spec.limbs}
        self.buses = {
            port: Bus(
                servo
                for limb in self.limbs.values()
                if limb.spec.port == port
                for servo in limb.all_servos
            )
            for port in spec.ports
        }
        self.line_faults = {port: LineFaults() for port in spec.ports}
        for limb in self.limbs.values():
            for servo in limb.all_servos:
                servo.is_ideal = spec.watchdog == "ideal"
                if spec.firmware is not None and servo.model.is_small:
                    servo.table.put("Firmware Version", spec.firmware)
        self.now_ns = 0
        self._play_ns: int | None = None
        self._late: dict[str, list[tuple[int, bytes]]] = {p: [] for p in spec.ports}
        self._planned: list[tuple[int, Callable[[], None]]] = []

    def play(self, program: str, limb: str | None = None) -> None:
        """Play a program, from now or from a client's first packet.

        Raises:
            ValueError: If the program or its joints are unknown.
        """
        parts, t = read_program(program), self._play_time() or 0.0
        hands = [one.hand for n, one in self.limbs.items() if limb in (None, n)]
        known = [hand.play(parts, t) for hand in hands]
        if not any(known):
            raise ValueError(
                f"motion '{program}': expected joints of the rig, got none"
            )

    def pose(self, joints: Mapping[str, float], limb: str | None = None) -> None:
        """Move joints by hand.

        Raises:
            ValueError: If a joint is unknown.
        """
        left = set(joints)
        for name, one in self.limbs.items():
            if limb in (None, name):
                names = [servo.joint for servo in one.spec.servos]
                mine = {names.index(j): q for j, q in joints.items() if j in names}
                one.hand.go_to(mine, self._play_time() or 0.0)
                left -= set(names)
        if left:
            raise ValueError(f"expected joints of the rig, got {', '.join(left)}")

    def _play_time(self) -> float | None:
        """Return the hands' time, [s]; None before the first client."""
        if self._play_ns is None:
            if not any(bus.n_packets for bus in self.buses.values()):
                return None
            self._play_ns = self.now_ns
        return (self.now_ns - self._play_ns) * 1e-9

    def answer(
        self, port: str, data: bytes, baud: int | None = None, ahead: float = 0.0
    ) -> list[Answer]:
        """Return the ordered answers to bytes on a bus."""
        faults = self.line_faults[port]
        for servo in self.buses[port].servos:
            servo.ahead = ahead
        heard = faults.spoil_request(data)
        return faults.spoil(self.buses[port].receive(heard, self.now_ns, baud))

    def exchange(self, port: str, data: bytes, baud: int | None = None) -> bytes:
        """Return the bytes due on a bus after a client's bytes."""
        late, due = self._late[port], self.now_ns
        for one in self.answer(port, data, baud):
            due += round(one.delay * 1e9)
            late.append((due, one.data))
        arrived = [data for due, data in late if due <= self.now_ns]
        self._late[port] = [entry for entry in late if entry[0] > self.now_ns]
        return b"".join(arrived)

    def plan(self, delay: float, action: Callable[[], None]) -> None:
        """Schedule an action, [s]."""
        self._planned.append((self.now_ns + round(delay * 1e9), action))

    def step(self, dt: float) -> None:
        """Advance by a small step, [s]."""
        before, self.now_ns = self.now_ns, self.now_ns + round(dt * 1e9)
        t = self._play_time()
        for limb in self.limbs.values():
            limb.step(t, dt)
        if before // WATCHDOG_PERIOD_NS != self.now_ns // WATCHDOG_PERIOD_NS:
            self._look_after(before)
        due = [action for at, action in self._planned if at <= self.now_ns]
        self._planned = [one for one in self._planned if one[0] > self.now_ns]
        for action in due:
            action()

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
