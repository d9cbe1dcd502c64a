"""Guided calibration, a generator of questions."""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle.hardware.dynamixel.bus_thread import BusThread
from paprle.hardware.dynamixel.models import find_model
from paprle.hardware.dynamixel.probe import stand, swing
from paprle.leaders.puppeteer.arm import AnyServo, Arm
from paprle.leaders.puppeteer.config import PuppetSettings
from paprle.leaders.puppeteer.friction import FAR, Excitation, Friction, fit_friction
from paprle.leaders.puppeteer.measures import (
    STILL,
    find_gripper,
    find_offset,
    find_sign,
    wrap,
)
from paprle.leaders.puppeteer.weighing import (
    HEAVY,
    N_POSTURES,
    Scale,
    Swung,
    fit_torques,
)

Dialogue = Generator[str, str, Any]
_WATCH = 0.3  # [s] chosen: a hundred readings
_DIGITS = 4  # chosen: a tenth of a count


def calibrate(
    arms: Sequence[Arm], buses: Mapping[str, BusThread], joints: Sequence[str]
) -> Generator[str, str, dict[str, Any]]:
    """Calibrate ``limb/joint``, or all joints, of an opened, limp rig.

    Yields:
        Questions; expects the answer.

    Returns:
        Keys of the ``leader``, and of the ``rig`` (``feedback.rig``).

    Raises:
        ConfigError: If there is no such joint.
    """
    known = [f"{arm.name}/{joint}" for arm in arms for joint in arm.joint_names]
    unknown = [joint for joint in joints if joint not in known]
    if unknown:
        raise ConfigError(
            f"--joint: expected one of {', '.join(known)}, got '{', '.join(unknown)}'"
        )
    limbs: dict[str, Any] = {}
    frictions: dict[str, Friction] = {}
    for arm in arms:
        chosen = [
            i
            for i, joint in enumerate(arm.joint_names)
            if not joints or f"{arm.name}/{joint}" in joints
        ]
        if chosen:
            session = _ArmSession(arm, buses[arm.settings.port])
            limbs[arm.name] = yield from session.measure(chosen)
            frictions |= yield from session.identify(chosen)
            weighed = yield from session.weigh(chosen, frictions, limbs[arm.name])
            for joint, keys in weighed.items():
                limbs[arm.name]["servos"][joint] |= keys
    found: dict[str, Any] = {"leader": {"limbs": limbs}}
    if frictions:
        found["rig"] = {
            "viscous": {j: _positive(f.viscous) for j, f in frictions.items()},
            "coulomb": {j: _positive(f.coulomb) for j, f in frictions.items()},
        }
    return found


def _positive(friction: float) -> float:
    return max(round(friction, _DIGITS), 10.0**-_DIGITS)


def find_position(angle: float, servo: AnyServo) -> float:
    """Return a joint's position in the turn about 0, [rad]."""
    turned = servo.sign * (angle - servo.offset)
    return float(wrap(np.array(turned)) / servo.gear)


def _find_heaviest(scale: Scale, q: Vec, i: int) -> float:
    places = np.tile(q, (3, 1))
    places[:, i] += (-FAR, 0.0, FAR)
    return max(abs(float(scale.weigh(place)[i])) for place in places)


def _with_keys(
    settings: PuppetSettings, keys: Mapping[str, Mapping[str, Any]]
) -> PuppetSettings:
    servos = {
        joint: replace(servo, **keys.get(joint, {}))
        for joint, servo in settings.servos.items()
    }
    return replace(settings, servos=servos)


class _ArmSession:
    def __init__(self, arm: Arm, bus: BusThread) -> None:
        self._arm, self._bus = arm, bus
        self._names = tuple(f"{arm.name}/{joint}" for joint in arm.joint_names)

    def measure(self, chosen: Sequence[int]) -> Dialogue:
        """Ask for poses; return the keys of this limb."""
        arm_joints = [i for i in chosen if i < self._arm.n_arm]
        keys: dict[str, Any] = {}
        if arm_joints:
            keys["servos"] = yield from self._measure_arm(arm_joints)
        if len(arm_joints) < len(chosen):
            keys["gripper"] = yield from self._measure_gripper()
        return keys

    def identify(self, chosen: Sequence[int]) -> Dialogue:
        """Swing joints; return their friction by name."""
        found: dict[str, Friction] = {}
        caps = self._bus.caps[self._arm.place]
        for i in [i for i in chosen if caps[i] > 0.0]:
            friction = yield from self._identify_joint(i, float(caps[i]))
            if friction is not None:
                found[self._names[i]] = friction
        return found

    def weigh(
        self, chosen: Sequence[int], swung: Container[str], keys: Mapping[str, Any]
    ) -> Dialogue:
        """Swing joints with weight; return the keys of their torques."""
        own = _with_keys(self._arm.settings, keys.get("servos", {}))
        arm = Arm(self._arm.name, own, self._arm.place.start)
        scale = Scale(own, arm.joint_names)
        found: dict[str, Any] = {}
        for i in [i for i in chosen if i < arm.n_arm and self._names[i] in swung]:
            if _find_heaviest(scale, self._find_q(arm), i) < HEAVY:
                continue  # wherever it swings from here there is nothing to weigh
            torques = yield from self._weigh_joint(arm, scale, i)
            if torques is not None:
                found[arm.joint_names[i]] = {
                    "torque_map": torques.kind,
                    "torque_gain": round(torques.gain, _DIGITS),
                }
        return found

    def _weigh_joint(self, arm: Arm, scale: Scale, i: int) -> Dialogue:
        spec, servo, swings = arm.servo_specs[i], arm.servos[i], []
        cap = float(self._bus.caps[arm.place][i])
        for k in range(N_POSTURES):
            answer = yield (
                f"weight of {self._names[i]}, posture {k + 1} of {N_POSTURES}: hold "
                "the other joints so that what it moves hangs free, away from its "
                "stops, each time elsewhere, and keep hands off that; type s to skip it"
            )
            if answer == "s":
                return None
            q = self._find_q(arm)
            moved = swing(self._bus, arm.place.start + i, Excitation(cap))
            current = [spec.torques.find_current(float(tau)) for tau in moved.torque]
            weights = []
            for angle in moved.angle:
                q[i] = find_position(float(angle), servo)
                weights.append(scale.weigh(q)[i])
            swings.append(
                Swung(
                    moved.t,
                    servo.sign * moved.velocity / servo.gear,
                    servo.sign * np.array(current),
                    # what the servo carries of it
                    np.array(weights) / servo.gear,
                )
            )
        try:
            return fit_torques(find_model(servo.model).torques, swings)
        except ValueError as err:
            yield f"{err}\nits model's torque stays"
            return None

    def _find_q(self, arm: Arm) -> Vec:
        angle = stand(self._bus, _WATCH).angle[arm.place]
        return np.array(
            [
                find_position(float(a), servo)
                for a, servo in zip(angle, arm.servos, strict=True)
            ]
        )

    def _measure_arm(self, joints: Sequence[int]) -> Dialogue:
        listed = ", ".join(self._names[i] for i in joints)
        rest = np.array2string(self._arm.reset_q, precision=2, separator=", ")
        text = (
            f"put {listed} at 0, as the URDF draws it, and hold the arm still; type r "
            f"to show the rest pose {rest} instead"
        )
        zero, answer = yield from self._ask(text)
        q = self._arm.reset_q if answer == "r" else np.zeros(self._arm.n_arm)
        keys: dict[str, Any] = {}
        for i in joints:
            sign = yield from self._find_sign(i)
            servo = self._arm.servos[i]
            offset = find_offset(float(zero[i]), float(q[i]), sign, servo.gear)
            joint = self._arm.joint_names[i]
            keys[joint] = {"sign": sign, "offset": round(offset, _DIGITS)}
        return keys

    def _find_sign(self, i: int) -> Dialogue:
        n = self._arm.n_arm
        while True:
            before, _ = yield from self._ask(
                f"hold {self._names[i]} anywhere in the middle of its range"
            )
            after, _ = yield from self._ask(
                f"turn {self._names[i]} alone in its positive sense (counter-clockwise "
                "about its axis in the URDF) by about 30 degrees"
            )
            try:
                return find_sign(before[:n], after[:n], i, self._names[:n])
            except ValueError as err:
                yield from self._tell(err)

    def _measure_gripper(self) -> Dialogue:
        gripper, name = self._arm.settings.gripper, self._names[-1]
        if gripper is None:
            return {}
        while True:
            shut, _ = yield from self._ask(f"hold {name} fully closed")
            wide, _ = yield from self._ask(f"hold {name} fully open")
            try:
                keys = find_gripper(
                    float(shut[-1]),
                    float(wide[-1]),
                    gripper.closed,
                    gripper.open,
                    gripper.gear,
                )
            except ValueError as err:
                yield from self._tell(err)
                continue
            return {key: round(value, _DIGITS) for key, value in keys.items()}

    def _identify_joint(self, i: int, cap: float) -> Dialogue:
        servo = self._arm.servos[i]
        place = self._arm.place.start + i
        while True:
            answer = yield (
                f"friction of {self._names[i]}: hold all other joints still, keep "
                "hands off what this one moves: its motor will swing it for 10 s; type "
                "s to skip it"
            )
            if answer == "s":
                return None
            moved = swing(self._bus, place, Excitation(cap))
            q = servo.sign * (moved.angle - servo.offset) / servo.gear
            dq = servo.sign * moved.velocity / servo.gear
            tau = servo.sign * moved.torque * servo.gear
            try:
                return fit_friction(moved.t, q, dq, tau)
            except ValueError as err:
                yield from self._tell(err)

    def _ask(self, text: str) -> Generator[str, str, tuple[Vec, str]]:
        while True:
            answer = yield text
            found = stand(self._bus, _WATCH)
            angle, sway = found.angle[self._arm.place], found.sway[self._arm.place]
            if np.isfinite(angle).all() and sway.max() <= STILL:
                return angle, answer
            moving = self._names[int(np.nan_to_num(sway, nan=np.inf).argmax())]
            text = f"{text} (expected it to be still, got {moving} moving)"

    def _tell(self, err: ValueError) -> Generator[str, str, None]:
        yield f"{err}\nonce more"
