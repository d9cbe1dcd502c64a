"""A spring in the servo (mode 5) beside the host's (mode 0).

``python -m benchmarks.devices.servo_springs``: an emulated XC330-T288; the bus writes
at 400 Hz, 2.5 ms late. In mode 5, current-based position control, Goal Position is the
rest, P Gain the stiffness, Goal Current the cap; it commands a voltage, so back-EMF
brakes motions up to the cap.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable

import numpy as np

from paprle.hardware.dynamixel.inspection import TORQUE_SHARE, ServoSpec
from paprle.hardware.dynamixel.models import find_model
from paprle.hardware.dynamixel.servo import Servo as Driver
from paprle_emulators.dynamixel.models import find_model as find_emulated
from paprle_emulators.dynamixel.servo import RAD_PER_TICK, Servo
from paprle_emulators.dynamixel.table import PWM_MAX

NAME, K, WEIGHT = "xc330-t288", 2.85, 0.15
DT, PERIOD = 2.5e-4, 2.5e-3  # [s] of the servo's loop, and of the bus
TABLE = {"mode": 11, "on": 64, "p": 84, "current": 102, "position": 116}

Law = Callable[[float], tuple[float, float, float]]
"""From a position read to a spring's stiffness, its rest, and a torque beside it."""


class Host:
    """Torque by the bus's current alone."""

    def __init__(self) -> None:
        self.servo = make_servo(0)
        self._driver = Driver(ServoSpec(1, NAME), find_model(NAME))
        self._driver.cap = TORQUE_SHARE * find_model(NAME).stall_torque

    def write(self, q: float, stiffness: float, rest: float, beside: float) -> None:
        """Write the law's torque at a read position."""
        tau = stiffness * (rest - q) + beside
        put(self.servo, "current", "<h", self._driver.encode(tau))


class InServo:
    """Spring in the servo; ``beside`` moves its rest."""

    def __init__(self) -> None:
        self.servo = make_servo(5)
        model = find_model(NAME)
        most = TORQUE_SHARE * model.stall_torque
        self._cap = int(model.torques.find_current(most) / model.current_unit)

    def write(self, q: float, stiffness: float, rest: float, beside: float) -> None:
        """Write the spring; without torque the cap is zero."""
        if not stiffness and not beside:
            put(self.servo, "current", "<h", 0)
            return
        if not stiffness:  # as soft as the register allows, from where it was read
            stiffness, rest = K / 20.0, q
        gain = round(128 * PWM_MAX * stiffness * RAD_PER_TICK / self._stall)
        place = rest + beside / stiffness
        put(self.servo, "p", "<H", gain)
        put(self.servo, "position", "<i", round(place / RAD_PER_TICK) + 2048)
        put(self.servo, "current", "<h", self._cap)

    @property
    def _stall(self) -> float:
        return self.servo.model.stall_torque


def make_servo(mode: int) -> Servo:
    """Return an emulated servo with torque on."""
    servo = Servo(1, find_emulated(NAME))
    put(servo, "mode", "<B", mode)
    put(servo, "on", "<B", 1)
    return servo


def put(servo: Servo, name: str, kind: str, value: int) -> None:
    """Write a register; raise ValueError if refused."""
    error = servo.write(TABLE[name], struct.pack(kind, value))
    if error:
        raise ValueError(f"{name}: expected a register that takes {value}, got {error}")


def feel(kind: type[Host | InServo], law: Law, motion: Callable[[float], float]):
    """Return times, positions and torques of 3 s, rows (3,)."""
    side, rows, read = kind(), [], deque([motion(0.0)] * 2, maxlen=2)
    for k in range(round(3.0 / DT)):
        t = k * DT
        side.servo.angle = motion(t)
        side.servo.velocity = (motion(t + 1e-5) - motion(t - 1e-5)) / 2e-5
        if k % round(PERIOD / DT) == 0:
            read.append(round(side.servo.angle / RAD_PER_TICK) * RAD_PER_TICK)
            side.write(read[0], *law(read[0]))
        rows.append((t, side.servo.angle, side.servo.step(DT)))
    return np.array(rows)


def wave(size: float, rate: float) -> Callable[[float], float]:
    """Return a hand's motion, [rad] by [s]."""
    return lambda t: size * np.sin(2 * np.pi * rate * t)


def measure(kind: type[Host | InServo]) -> list[str]:
    """Return stiffness, lateness, and drag by weight."""
    rate, size = 4.0, 0.02
    felt = feel(kind, lambda _q: (K, -0.05, 0.0), wave(size, rate))[4000:]
    turn = np.exp(-2j * np.pi * rate * felt[:, 0])
    answer = -(felt[:, 2] @ turn) / (felt[:, 1] @ turn)
    still = feel(kind, lambda _q: (K, -0.05, 0.0), lambda _t: 0.02)
    free = feel(kind, lambda _q: (0.0, 0.0, 0.0), wave(0.33, 1.0))[:, 2]
    heavy = feel(kind, lambda _q: (0.0, 0.0, WEIGHT), wave(0.33, 1.0))[400:, 2] - WEIGHT
    late = 1e3 * np.angle(answer) / (-2 * np.pi * rate)
    rms = [f"{1e3 * np.sqrt(np.mean(tau**2)):.1f}" for tau in (free, heavy)]
    return [f"{-still[-400:, 2].mean() / 0.07:.2f}", f"{late:.1f}", *rms]


def main() -> None:
    """Print the table of decision 0014."""
    print(
        "| spring | K at rest, N·m/rad | late by, ms | free motion, 1 Hz, "
        f"mN·m rms | the same with {WEIGHT} N·m carried |\n|---|---|---|---|---|"
    )
    for name, kind in (("host, mode 0", Host), ("servo, mode 5", InServo)):
        print(f"| {name} | {' | '.join(measure(kind))} |")
    servo = make_servo(0)
    error = servo.write(TABLE["mode"], b"\x05")
    print(f"\nmode 0 to 5 with torque on: error {error} (torque has to go off)")


if __name__ == "__main__":
    main()
