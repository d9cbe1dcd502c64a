"""One PiPER: connection, checks, reading and writing."""

from __future__ import annotations

import numpy as np

from paprle.contracts.errors import DeviceError, DeviceTimeout, MissingDependency
from paprle.contracts.plugins import Clock
from paprle.contracts.types import LimbInfo, Vec
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.reasons import (
    ENABLED,
    STICKY_MODES,
    TEACHING,
    describe_fault,
    describe_idleness,
    describe_stroke,
)
from paprle.followers.piper.temperature import Warmth
from paprle.followers.piper.units import (
    Units,
    is_too_old,
    parse_version,
    to_finger,
    to_opening,
)
from paprle.hardware.can_channel.channels import BIT_RATE, BusError
from paprle.hardware.piper.bus import PiperBus
from paprle.hardware.piper.protocol import STICKY_BELOW
from paprle.hardware.piper.readings import ArmReading

N_ARM = 6
_JOINTS = range(1, N_ARM + 1)  # spec: the arm counts its joints from 1
_INSTALL = "pip install 'paprle[piper]'"

_FIRST_TIME = 3.0  # [s] chosen: for the first frames; an adapter may be slow to start
_ANSWER_TIME = 0.5  # [s] chosen: for an answer, which may be lost: asked three times
_N_ASKED = 3  # chosen: see above
_ENABLE_TIME = 5.0  # [s] chosen: motors come one by one, brakes open
_LISTEN_TIME = 0.25  # [s] chosen: another master speaks at 20 Hz or more
_SILENCE_NS = 100_000_000  # [ns] chosen: 20 reports of motion that did not come
_CONDITION_AGE_NS = 250_000_000  # [ns] chosen: reported every 5 ms
_MOTORS_AGE_NS = 500_000_000  # [ns] chosen: reported every 50 ms
_MODE_EVERY = 20  # chosen: ten times a second at 200 Hz, as a reminder
_STROKE_TIME = 0.1  # [s] chosen: it was asked with the limits, which have come
_FOREIGN_NS = 1_000_000_000  # [ns] chosen: how long another master is remembered
_SAME_PLACE = 0.05  # [rad] chosen: a command that far from the arm is no jump


class PiperArm:
    """One PiPER on its channel.

    Attributes:
        stop_reason: Reason against motion, or "".
    """

    def __init__(
        self, config: PiperConfig, limb: LimbInfo, channel: str, clock: Clock
    ) -> None:
        self._config, self._limb, self._clock = config, limb, clock
        self.name = limb.name
        self._where = f"env 'can': {config.interface} '{channel}'"
        self._bus = PiperBus(config.interface, channel, clock, config.rate)
        self._units = Units((1, 5, 2), [(0, 0)] * N_ARM)
        self._version = (0, 0, 0)
        self._q: Vec = np.zeros(N_ARM)
        self._warmth = Warmth()
        self._news: list[str] = []
        self._is_muted = False
        self._n_writes = 0
        self._sent: Vec | None = None
        self._left: Vec | None = None
        self._n_dropped = 0
        self._last: ArmReading | None = None
        self._finger_speed = 0.0
        self._heard_ns = self._again_ns = 0
        self.stop_reason = ""

    def open(self, home: Vec, q_min: Vec, q_max: Vec) -> None:
        """Connect, check and power the arm without motion; arrays are (6,), [rad].

        Raises:
            DeviceError: If it is missing, faulty, or commanded by another.
            MissingDependency: Without the SDK.
        """
        try:
            self._bus.open()
        except ImportError as err:
            msg = f"{self._where}: expected {err.name}, got none; {_INSTALL}"
            raise MissingDependency(msg) from err
        except BusError as err:
            raise DeviceError(f"env 'can': {err}") from err
        self._await_reports()
        self._check_alone()
        self._check_kind(home)
        self._check_limits(q_min, q_max)
        self._check_health()
        self._check_move()
        self._enable()
        self.read()

    def read(self) -> tuple[int, Vec, Vec, Vec]:
        """Return stamp [ns], positions, speeds and efforts; set ``stop_reason``.

        Raises:
            DeviceError: If it is not open.
        """
        self._bus.renew()
        motion = self._bus.motion
        self._last = self._last or motion
        if motion is None or self._last is None:
            raise DeviceError(f"{self._where}: expected an open arm, got a closed one")
        self.stop_reason = self._find_reason(motion)
        if self.stop_reason:
            self._is_muted = True
        self._q = self._units.to_joints(motion.angles)
        q, dq = list(self._q), [1e-3 * speed for speed in motion.speeds]
        tau = list(self._units.to_torques(motion.efforts))
        if self._limb.gripper is not None:
            q.append(to_finger(motion.opening))
            dq.append(self._compute_finger_speed(motion, self._last))
            tau.append(1e-3 * motion.grip / self._config.gripper_lever)
        return motion.stamp_ns, np.array(q), np.array(dq), np.array(tau)

    def take_warnings(self) -> list[str]:
        """Return new warnings."""
        told, self._news = self._news, []
        return told + self._warmth.update(self._bus.motors)

    def write(self, q_cmd: Vec) -> None:
        """Send a target for six joints and any gripper.

        After a stop, commands must first match the position.
        """
        if self._is_muted:
            is_near = np.abs(q_cmd[:N_ARM] - self._q).max() < _SAME_PLACE
            if self.stop_reason or not is_near:
                return
            self._is_muted = False
        if self._n_writes % _MODE_EVERY == 0:
            self._bus.send_mode()
        self._n_writes += 1
        if not self.is_behind:
            self._left = self._sent
        self._sent, self._n_dropped = q_cmd.copy(), self._bus.n_dropped
        self._bus.send_joints(self._units.to_angles(q_cmd[:N_ARM]))
        if self._limb.gripper is not None:
            torque = round(1e3 * self._config.gripper_torque)
            self._bus.send_gripper(to_opening(float(q_cmd[N_ARM])), torque)

    @property
    def is_muted(self) -> bool:
        """Whether targets are dropped until one is at the arm's place."""
        return self._is_muted

    @property
    def is_behind(self) -> bool:
        """Whether a stall delayed the last target."""
        return self._bus.n_dropped > self._n_dropped

    def find_held(self, q: Vec) -> Vec:
        """Return the last target or the position, (n,)."""
        left = self._left if self.is_behind else self._sent
        return q if left is None else left

    def close(self, *, is_powerless: bool) -> None:
        """Leave the arm holding; without power it falls."""
        try:
            if is_powerless and self._bus.motion is not None:
                self._bus.disable()
        finally:
            self._bus.close()

    def _compute_finger_speed(self, motion: ArmReading, before: ArmReading) -> float:
        dt = 1e-9 * (motion.stamp_ns - before.stamp_ns)
        if dt > 0:
            self._last = motion
            away = to_finger(motion.opening) - to_finger(before.opening)
            self._finger_speed = away / dt
        return self._finger_speed

    def _find_reason(self, motion: ArmReading) -> str:
        bus, now = self._bus, self._clock()
        if bus.failure:
            return bus.failure
        if bus.foreign is not None and now - bus.foreign[1] < _FOREIGN_NS:
            return f"another master commands the arm ({bus.foreign[0]:#x}); end it"
        condition = bus.condition
        # a bus that is silent altogether shows as the age of the state instead, and
        # after that, or a standstill of ours, reports of all kinds take a while to come
        heard_ns, self._heard_ns = self._heard_ns, motion.stamp_ns
        if motion.stamp_ns - heard_ns > _SILENCE_NS:
            self._again_ns = motion.stamp_ns
        now = motion.stamp_ns
        if (
            condition is None
            or now - max(condition.stamp_ns, self._again_ns) > _CONDITION_AGE_NS
            or now - max(bus.motors_ns, self._again_ns) > _MOTORS_AGE_NS
        ):
            return "no report of the arm's status; look at its cable"
        bits = motion.gripper_bits if self._limb.gripper else 0
        fault = describe_fault(condition, bus.motors, bits)
        idleness = describe_idleness(condition, bus.motors)
        # an arm gets its power and its mode when it is opened, and not by itself later
        return fault or (idleness and f"{idleness}; start the session again")

    def _await_reports(self) -> None:
        bus = self._bus
        is_complete = bus.wait_for(
            lambda: not bus.name_missing() and bus.motion and bus.motors, _FIRST_TIME
        )
        if is_complete:
            return
        raise DeviceTimeout(
            f"{self._where}: expected the reports of a PiPER within {_FIRST_TIME:g} "
            f"[s], got {bus.failure or bus.name_missing()}; is the arm powered, and "
            f"the bus at {BIT_RATE} [bit/s]? (sudo ip link set CHANNEL up type can "
            f"bitrate {BIT_RATE})"
        )

    def _check_alone(self) -> None:
        self._bus.listen(_LISTEN_TIME)
        if self._bus.foreign is not None:
            raise DeviceError(
                f"{self._where}: expected to be the only master, got the command "
                f"{self._bus.foreign[0]:#x} of another; end it first"
            )

    def _check_kind(self, home: Vec) -> None:
        bus = self._bus

        def has_answered() -> bool:
            return bool(bus.read_firmware()) and bus.angle_limits.keys() >= set(_JOINTS)

        for _ in range(_N_ASKED):
            if bus.wait_for(has_answered, _ANSWER_TIME):
                break
            bus.ask()
        text = bus.read_firmware()
        limits = [bus.angle_limits[i] for i in _JOINTS if i in bus.angle_limits]
        version = parse_version(text)
        if version is None or is_too_old(version) or len(limits) < N_ARM:
            raise DeviceError(
                f"{self._where}: expected firmware S-V1.5-2 or newer and the limits of "
                f"six joints, got {text or 'no version'} and {len(limits)} limits; "
                "update the arm's firmware"
            )
        self._units, self._version = Units(version, limits), version
        self._look_at_gripper()
        if not self._units.allows(home):
            raise DeviceError(
                f"{self._where}: expected joint limits that hold the robot's home, got "
                f"{limits} [0.1°]; restore the arm's own limits (0x474)"
            )

    def _look_at_gripper(self) -> None:
        # Older firmware does not answer; the gripper then has no such setting.
        if self._limb.gripper is None:
            return
        self._bus.wait_for(lambda: self._bus.stroke is not None, _STROKE_TIME)
        told = describe_stroke(self._bus.stroke)
        self._news += [told] if told else []

    def _check_limits(self, q_min: Vec, q_max: Vec) -> None:
        names = self._limb.joint_names
        words = [
            f"follower.limits.{side}.{names[joint]}={value:.4f}"
            for joint, side, value in self._units.find_tighter(q_min, q_max)
        ]
        if words:
            raise DeviceError(
                f"{self._where}: expected joint limits no tighter than the robot's, "
                f"got tighter ones on the arm; add {' '.join(words)}"
            )

    def _check_health(self) -> None:
        condition, motion = self._bus.condition, self._bus.motion
        bits = motion.gripper_bits if motion and self._limb.gripper else 0
        reason = describe_fault(condition, self._bus.motors, bits) if condition else ""
        if condition and not reason and condition.mode == TEACHING:
            reason = "teach mode"
        if reason:
            raise DeviceError(
                f"{self._where}: expected a healthy arm, got: {reason}; end it at the "
                "arm. A reset (0x150) takes its power at once: hold the arm"
            )

    def _check_move(self) -> None:
        # There it would do at once what it is told, and joints have little force. Older
        # firmware is not even asked: it stays, and a zero was seen to move (piper_sdk's
        # issue 114).
        bus = self._bus

        def is_sticky() -> bool:
            return bus.condition is None or bus.condition.move_mode in STICKY_MODES

        def is_out() -> bool:
            bus.send_mode()
            return not is_sticky()

        is_old = self._version < STICKY_BELOW
        if is_sticky() and (is_old or not bus.wait_for(is_out, _ANSWER_TIME)):
            mode = bus.condition.move_mode if bus.condition else 0
            raise DeviceError(
                f"{self._where}: expected an arm in MOVE J, got one that another "
                f"program left in {STICKY_MODES.get(mode)}, and firmware "
                f"{self._bus.read_firmware()} stays in it (below S-V1.8-6 all do); "
                "only a reset (0x150) ends it, and takes its power at once: hold the "
                "arm; or update its firmware"
            )

    def _enable(self) -> None:
        bus, begin = self._bus, self._clock()

        def find_idleness() -> str:
            if bus.condition is None or bus.motors_ns <= begin:
                return "no report"
            return describe_idleness(bus.condition, bus.motors)

        def is_ready() -> bool:
            bus.enable()  # a reset arm needs it twice
            if all(motor.bits & ENABLED for motor in bus.motors):
                bus.send_mode()
            return not find_idleness()

        if not bus.wait_for(is_ready, _ENABLE_TIME):
            raise DeviceTimeout(
                f"{self._where}: expected six joints with power, under CAN control, "
                f"within {_ENABLE_TIME:g} [s], got {bus.failure or find_idleness()}; "
                "look at the arm"
            )
