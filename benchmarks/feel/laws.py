# ruff: noqa: SLF001 - what is posted is told apart by whom it renders
"""Felt contact: this product's laws beside FACTR's and upstream's.

One XC330-T288 joint by its supply's current, 0.3 m from the hand; a bus 2.5 ms late; a
follower of 20 ms dead time and 40 ms of lag at a wall of 600 N·m/rad. FACTR's law:
``torque_feedback``, −gain / 94.57 of an ideal external torque, gain 3, no damping, 400
Hz (the maker's: 500). Upstream's: PAPRLE's Eq. 8 at 100 Hz, K = 1 N·m/rad
(unpublished). Both use this product's torque map and caps; without, they would be
stronger, but off.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path

import feel_rig as rig_of
import numpy as np

from paprle.config.laws import make_feedback_class
from paprle.contracts.settings.feedback import RigSettings
from paprle.hardware.dynamixel.inspection import TORQUE_SHARE, ServoSpec
from paprle.hardware.dynamixel.models import find_model
from paprle.hardware.dynamixel.servo import Servo
from paprle_emulators.dynamixel.models import find_model as find_emulated

ROOT = Path(__file__).resolve().parents[2]

NAME, LEVER, WALL, WALL_K = "xc330-t288", 0.3, 0.3, 600.0
VISCOUS, DRY, CAP = 0.016, 0.035, 0.3
HANDS = {"tight": (27.0, 0.9), "normal": (9.0, 0.3), "loose": (3.6, 0.135)}
FACTR = 3.0 / 94.57
LAWS = ("ours", "ours, identified", "FACTR", "upstream")
N_PRESSES = 60  # drawn at random


class Motors(rig_of.Motors):
    """Servos whose current is their supply's."""

    def __init__(self):
        super().__init__([0.0], viscous=VISCOUS, coulomb=DRY)
        self._servo = Servo(ServoSpec(1, NAME), find_model(NAME))
        self._servo.cap = TORQUE_SHARE * find_model(NAME).stall_torque
        self._emulated = find_emulated(NAME)

    def make(self, tau):
        """Return the torque delivered for a request."""
        count = self._servo.encode(float(tau[0]))
        return np.array([self._emulated.make_torque(1e-3 * count)])


class Rig(rig_of.FeelRig):
    """A rig with the servo's own torque map.

    Attributes:
        work: Net work of sent torques on the hand, without friction.
        worst: Its maximum.
        given: Net work of the whole leader, gears included.
        most_given: Its maximum.
        felt: Rendered torques by step, [N·m].
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.law, self.felt = "ours", []
        self.work = self.worst = self.given = self.most_given = 0.0
        self._own = deque(maxlen=self._posted.maxlen)

    def _render(self):
        super()._render()
        if self.law == "ours":
            return
        q = self._sample.leader_state.q
        if self.law == "FACTR":
            met = self._down[0]["tau_meas"] if self._down else 0.0 * q
            self.tau = FACTR * met
        elif self.n % 4 == 1:
            there = self._down[0]["q_meas"] if self._down else q
            self._held = 1.0 * (there - q)
        if self.law == "upstream":
            self.tau = self._held
        self.tau = np.clip(self.tau, -CAP, CAP)
        self._posted.pop()
        self._posted.append(self.tau)

    def _move(self):
        dt, made = self.period / rig_of.SUBSTEPS, self.motors.make(self._posted[0])
        composer = self.haptics.composer
        self._own.append(composer.tau - composer._reflected)
        own = self._own[0] if self.law == "ours" else 0.0 * made
        self.felt.append(float(self.tau[0] - own[0]))
        for i in range(rig_of.SUBSTEPS):
            before, pull = self.motors.q, 0.0
            if self.hand is not None:
                at = self.motors.q, self.motors.dq
                pull = self.hand.pull(self.t + i * dt, *at)
            self.motors.step(made + pull, dt)
            moved = self.motors.q - before
            self.work += float((made[0] - own[0]) * moved[0])
            self.given -= float(np.sum(pull * moved))
            self.true = self.true - self.tau * moved
            self._sense((i + 1) * dt)
        self.worst = max(self.worst, self.work)
        self.most_given = max(self.most_given, self.given)


def make_rig(law, motion, grip, delay, *, is_walled=True):
    known = {"damping": VISCOUS}
    if law == "ours, identified":
        known |= {
            "viscous": {"arm/joint1": VISCOUS},
            "coulomb": {"arm/joint1": DRY},
            "leader_delay": 0.005,
        }
    settings = make_feedback_class()(rig=RigSettings(**known))
    touch = rig_of.wall_at(WALL) if is_walled else None
    rig = Rig(
        settings,
        motors=Motors(),
        hand=rig_of.Hand(motion, *HANDS[grip]),
        servos=rig_of.Servos([0.0], touch=touch),
        delay=delay,
        bus_delay=0.0025,
    )
    rig.law = law.split(",")[0]
    if is_walled:  # the external torque that a stiff wall makes, known at once
        rig.tau_meas = lambda _q_cmd, _q: (
            -WALL_K * np.maximum(rig.servos._free - WALL, 0.0)
        )
    else:
        rig.tau_meas = lambda _q_cmd, q: 0.0 * q
    rig.haptics.composer.caps[:], rig.haptics.composer._rise[:] = CAP, CAP / 0.03
    return rig


def press(speed, depth, back=np.inf):
    def motion(t):
        there = min(speed * max(t - 1.0, 0.0), WALL + depth)
        return np.array([max(there - max(t - back, 0.0), 0.0)])

    return motion


def wave(t):
    return np.array([0.33 * np.sin(2 * np.pi * t)])


def measure_free(law, delay):
    rig = make_rig(law, wave, "tight", delay, is_walled=False)
    rig.run(4.0)
    return 1e3 * float(np.sqrt(np.mean(np.square(rig.felt[600:]))))


def measure_press(law, delay):
    """Return time to 15 mN·m, and stiffness 1 cm in."""
    felt = make_rig(law, press(0.3, 0.4), "tight", delay).run(4.0)
    t, tau = felt["t"], -felt["tau"][:, 0]
    met = t[felt["q_follower"][:, 0] >= WALL - 1e-9][0]
    before = tau[t < met].max(initial=0.0)
    is_felt = (t > met) & (tau > 0.015)
    when = 1e3 * (t[is_felt][0] - met) if is_felt.any() else np.inf
    depth = 0.01 / LEVER
    felt = make_rig(law, press(0.3, depth + 0.003), "tight", delay).run(4.0)
    way = felt["q"][-200:, 0].mean() - WALL
    K = -felt["tau"][-200:, 0].mean() / way
    return {
        "felt_ms": 0.0 if before > 0.015 else when,
        "K": K,
        "at_1cm_N": K * depth / LEVER,
        "always": bool(before > 0.015),
    }


def measure_energy(law, grip, delay):
    """Return the hand's most energy gain, [mJ]."""
    if grip == "released":
        rig = make_rig(law, press(0.3, 0.4), "normal", delay)
        rig.run(3.5)
        rig.hand = None
    else:
        rig = make_rig(law, press(0.3, 0.4, 3.5), grip, delay)
        rig.run(3.5)
    rig.run(1.5)
    return -1e3 * rig.worst


def press_at_random(law, rng):
    """Return the rig after a random press."""
    speed, depth = 10 ** rng.uniform(-1.0, 0.6), 10 ** rng.uniform(-2.0, -0.3)
    stays, leaves = rng.choice([0.0, 0.02, 0.1, 0.3, 0.6]), 10 ** rng.uniform(-0.7, 0.7)
    grip = rng.choice([*HANDS, "released"])
    is_released, delay = grip == "released", rng.choice([0.0, 0.005, 0.02])
    until = 1.0 + (WALL + depth) / speed + stays

    def motion(t):
        there = min(speed * max(t - 1.0, 0.0), WALL + depth)
        return np.array([max(there - leaves * max(t - until, 0.0), 0.0)])

    rig = make_rig(law, motion, "normal" if is_released else grip, delay)
    rig.run(until)
    if is_released:
        rig.hand = None
    rig.run(1.0)
    return rig


def measure_presses(law):
    """Return presses' most energy, [mJ]: torques, and hand."""
    rng = np.random.default_rng(3)
    rigs = [press_at_random(law, rng) for _ in range(N_PRESSES)]
    return {
        "presses": 1e3 * max(rig.worst for rig in rigs),
        "presses_hand": 1e3 * max(rig.most_given for rig in rigs),
    }


def measure_hit(law):
    """Return a wall's force share 2.5 s after a hit of 0.9 m/s."""
    felt = make_rig(law, press(3.0, 0.3), "normal", 0.005).run(4.5)
    return float(-felt["tau"][-400:, 0].mean() / CAP)


def measure_all():
    found = {}
    for law in LAWS:
        one = {f"free_{d}": measure_free(law, 1e-3 * d) for d in (0, 20)}
        for d in (0, 20):
            one |= {f"{k}_{d}": v for k, v in measure_press(law, 1e-3 * d).items()}
            for grip in (*HANDS, "released"):
                one[f"{grip}_{d}"] = measure_energy(law, grip, 1e-3 * d)
        found[law] = one | measure_presses(law) | {"hit": measure_hit(law)}
    return found


def write_rows(found):
    """Return table lines by law."""
    lines = [
        "| law | free motion, 1 Hz: torque rms, mN·m | rendered K, N·m/rad | "
        "at the hand 1 cm in, N | 15 mN·m after contact, ms | most energy given, mJ: "
        "tight, normal, loose, released | "
        f"the same in {N_PRESSES} presses at random: by torques, to the hand | "
        "wall left after a 0.9 m/s hit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for law, one in found.items():
        felt = [
            "always" if one[f"always_{d}"] else f"{one[f'felt_ms_{d}']:.0f}"
            for d in (0, 20)
        ]
        energy = [
            f"{-min(one[f'{g}_0'], one[f'{g}_20']):.1f}" for g in (*HANDS, "released")
        ]
        lines.append(
            f"| {law} | {one['free_0']:.1f}, {one['free_20']:.1f} | {one['K_0']:.2f}, "
            f"{one['K_20']:.2f} | {one['at_1cm_N_0']:.2f}, {one['at_1cm_N_20']:.2f} | "
            f"{', '.join(felt)} | {', '.join(energy)} | "
            f"{one['presses']:.1f}, {one['presses_hand']:.1f} | {one['hit']:.0%} |"
        )
    return lines
