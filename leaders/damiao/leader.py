"""Leader of Damiao motors, which render torque.

``latest`` and ``apply`` may be called from two threads; each arm has its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.gestures.grip import (
    GripperReading,
    GripperSignals,
    OperatorSignals,
)
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Feedback,
    JointState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
    readonly,
)
from paprle.hardware.damiao.examination import examine
from paprle.hardware.damiao.powered import Reading
from paprle.hardware.vendor_arm.states import ArmError
from paprle.leaders.damiao.config import DamiaoLeaderConfig
from paprle.leaders.damiao.limb import LedLimb

_LOG = logging.getLogger(__name__)
_AT_REST = 0.2  # [rad/s] chosen: above the steps of measured speeds; hands are quicker
_RECENT_NS = 20_000_000  # [ns] chosen: four rounds; older answers are looked into
_ENGAGE_HINT = "open all grippers, then hold them closed for 3 s with the arms still"
_FALLS = (
    "damiao: the leader's arms have no brakes: without torque they fall; hold them "
    "whenever power goes, and lay them down before the end, where they sink slowly"
)
_HOW = f"damiao: {_ENGAGE_HINT} to start; the same at the reset pose ends"

Readings = Mapping[str, tuple[Reading, str]]


class DamiaoLeader(Leader):
    """Emits joints and renders torques of any number of arms."""

    config: DamiaoLeaderConfig
    _state: SessionState | None
    _sample: LeaderSample | None
    _reasons: dict[str, str]
    _told: dict[str, str]
    _seen_ns: int

    def __init__(self, config: DamiaoLeaderConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._limbs = [LedLimb(name, config, clock) for name in config.limbs]
        mistakes = [text for limb in self._limbs for text in limb.find_mistakes()]
        channels = [limb.settings.channel for limb in self._limbs]
        if not channels or len(set(channels)) < len(channels):
            mistakes.append(
                "leader.limbs: expected arms with a channel each, got "
                f"{', '.join(channels) or 'none'}"
            )
        if mistakes:
            raise ConfigError(mistakes)
        self._joint_names = tuple(
            f"{limb.name}/{joint}"
            for limb in self._limbs
            for joint in limb.info.device_joints
        )
        self._lock = threading.Lock()
        self._forget()

    @property
    def info(self) -> LeaderInfo:
        """All arms."""
        arms = {limb.name: limb.info for limb in self._limbs}
        return LeaderInfo(
            limbs=tuple(arms),
            emits="joints",
            joint_names={name: arm.joint_names for name, arm in arms.items()},
            has_gripper=True,
            renders="torque",
            rate=self.config.rate,
            arms=arms,
            engage_hint=_ENGAGE_HINT,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The lack of brakes, and the start of an episode."""
        return (_FALLS, _HOW)

    @property
    def unchecked(self) -> str:
        """Checks that need open channels."""
        return "whether the motors answer and are well"

    def preflight(self) -> tuple[str, ...]:
        """Report missing or inactive channels."""
        found = (limb.find_obstacle() for limb in self._limbs)
        return tuple(f"leader 'damiao': {text}" for text in found if text)

    def open(self) -> None:
        """Connect, and carry the arms' weight in place.

        Raises:
            DeviceError: If a motor is silent, faulty, another, or commanded by others.
        """
        self.close()
        self._forget()
        try:
            problems = [text for limb in self._limbs for text in limb.open()]
            if problems:
                raise DeviceError("\n".join(problems))
        except BaseException:
            self.close()
            raise
        self._is_open = True

    def latest(self) -> LeaderSample | None:
        """Return the newest joints; any thread, never blocks."""
        with self._lock:
            if not self._is_open:
                return self._sample
            arms = {limb.name: limb.arm for limb in self._limbs if limb.arm is not None}
            stamp_ns = min(arm.stamp_ns for arm in arms.values())
            if stamp_ns == self._seen_ns and self.clock() - stamp_ns < _RECENT_NS:
                return self._sample
            self._seen_ns = stamp_ns
            found = {name: arm.read() for name, arm in arms.items()}
            self._reasons = {name: reason for name, (_, reason) in found.items()}
            is_well = not any(self._reasons.values())
            last = self._sample
            if last is None:
                self._sample = self._make(found, stamp_ns, is_well=is_well)
            elif stamp_ns > last.stamp_ns or is_well != last.valid:
                stamp_ns = max(stamp_ns, last.stamp_ns)
                self._sample = self._make(found, stamp_ns, is_well=is_well)
            return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Post torques to the arms; any thread, never blocks."""
        self._state = feedback.state
        for limb in self._limbs:
            tau = feedback.tau.get(limb.name)
            if tau is not None and limb.arm is not None:
                limb.arm.post(np.asarray(tau, dtype=np.float64), feedback.stamp_ns)

    @property
    def is_at_rest(self) -> bool:
        """Whether session and arms are idle."""
        return self._state == SessionState.WAITING and self._is_quiet

    def close(self) -> None:
        """Let all arms sink."""
        with self._lock:
            self._is_open = False
        ends = [
            threading.Thread(target=self._close_limb, args=(limb,))
            for limb in self._limbs
        ]
        for end in ends:
            end.start()
        for end in ends:
            end.join()

    def take_warnings(self) -> Sequence[str]:
        """Return arms that stopped or resumed leading."""
        told, self._told = self._told, dict(self._reasons)
        return [
            f"{name}: {reason or 'well again; give the start signal to go on'}"
            for name, reason in self._told.items()
            if reason != told.get(name, "")
        ]

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the motors without torque or motion."""
        for limb in self._limbs:
            try:
                bus = limb.make_arm().bus
            except ArmError as err:
                yield False, f"{limb.name}: {err}"
                continue
            yield from examine(bus, limb.name)

    def _forget(self) -> None:
        self._is_open = self._is_quiet = False
        self._state = self._sample = None
        self._signals = GripperSignals(self.config.reset_box)
        self._reasons, self._told = {}, {}
        self._seen_ns = -1

    def _close_limb(self, limb: LedLimb) -> None:
        try:
            limb.close()
        except OSError:  # one arm must not keep the others open
            _LOG.exception("leader 'damiao': %s could not be left", limb.name)

    def _make(self, found: Readings, stamp_ns: int, *, is_well: bool) -> LeaderSample:
        readings = [reading for reading, _ in found.values()]
        signals = self._read_signals(readings, is_well=is_well)
        state = np.array(
            [np.concatenate([getattr(r, key) for r in readings]) for key in _MEASURED]
        )
        q, dq, tau = map(readonly, state)
        last = self._sample
        return LeaderSample(
            stamp_ns=stamp_ns,
            seq=0 if last is None else last.seq + 1,
            limbs={
                limb.name: LimbCommand(
                    q=readonly(reading.q[: limb.model.n]),
                    opening=limb.find_opening(reading),
                )
                for limb, reading in zip(self._limbs, readings, strict=True)
            },
            valid=is_well,
            engaged=signals.engaged,
            start=signals.start,
            end=signals.end,
            leader_state=JointState(joint_names=self._joint_names, q=q, dq=dq, tau=tau),
        )

    def _read_signals(
        self, readings: Sequence[Reading], *, is_well: bool
    ) -> OperatorSignals:
        if not is_well:
            self._is_quiet = False
            self._signals.require_press()
            return OperatorSignals(engaged=False)
        both = list(zip(self._limbs, readings, strict=True))
        at = GripperReading(
            openings=[limb.find_opening(reading) for limb, reading in both],
            arms=[reading.q[: limb.model.n] for limb, reading in both],
            distances=[limb.find_distance(reading) for limb, reading in both],
        )
        signals = self._signals.step(self._state, at, self.clock())
        is_still = all(np.abs(reading.dq).max() <= _AT_REST for reading in readings)
        self._is_quiet = is_still and not self._signals.is_holding
        return signals


_MEASURED = ("q", "dq", "tau")
