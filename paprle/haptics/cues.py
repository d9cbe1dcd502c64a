"""Cues of contact, limit and clearance for leaders without motors.

Contact is the distance from the commands within the longest lag, or the effort.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paprle.contracts.gate_status import GateStatus
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.types import Cues, Feedback, GateState, RobotInfo, Vec
from paprle.haptics.contact.effort_contact import TouchDetector
from paprle.haptics.follower_model import CONTACT_TOLERANCE
from paprle.haptics.reason_bits import BLOCKED, LIMITED, NEAR
from paprle.ipc.records import HeadCodec, Layout, Record

_FULL_CONTACT = 0.2  # [rad] chosen: a firm press; a spring of 0.3 N·m/rad gives 60 mN·m
_FULL_BACKLOG = 0.2  # [rad] chosen: as much as a firm press
_SPEED_ONSET = 0.9  # chosen: share of V from which the limit shows
_MARGIN = 0.15  # [rad] chosen: as the law `wall` has it
_MARGIN_SHARE = 0.05  # chosen: of the range; a slide of 0.4 m has a margin of 20 mm
_FAR = 1e6  # [rad] chosen: stands for no limit; stays finite when subtracted
_SLOWED = 0.5  # chosen: the gate slows down long before the clearance it keeps
_SMALL = 1e-6  # chosen: the margin of a joint without range
_GAP = 0.1  # [s] spec: safety.md A1, T_stale; a longer pause starts the lag anew

_ON, _OFF = 0.3, 0.1  # chosen: amplitudes a motor can be felt at, and can hold
_TOUCH_ON, _TOUCH_OFF = 0.05, 0.02  # chosen: a touch is felt from its begin on
_PULSE_NS = 150_000_000  # chosen: of a better suggestion; felt, and no alarm
_RELEASE = 0.3  # [s] chosen: reasons that come and go with periods are felt as one

_largest = np.maximum.reduce  # half the time of ``max`` on a few joints

NO_CUES = Cues()


class CueLimits(NamedTuple):
    """Limits by joint, shape (n,), [rad] or [m]; infinite: does not count.

    Attributes:
        per_margin: Inverse distance at which a limit shows, [1/rad].
        per_speed: 1 / V, [s/rad].
        kept: Clearance of the gate, [m].
    """

    q_min: Vec
    q_max: Vec
    per_margin: Vec
    per_speed: Vec
    tolerance: Vec
    kept: float


class CueInput(NamedTuple):
    """Status of the gate; arrays of shape (n,), [rad] or [m].

    Attributes:
        clearance: Smallest clearance, [m]; NaN or +inf if unknown.
        q_late: Commands behind half the longest lag and all of it, shape (2, n).
    """

    reasons: int
    clearance: float
    q_des: Vec
    q_cmd: Vec
    dq_cmd: Vec
    q_meas: Vec
    q_late: Vec


def make_cue_limits(robot: RobotInfo, drives: Sequence[bool], kept: float) -> CueLimits:
    """Return the limits of driven arm joints; ``kept`` in [m]."""
    driven = [
        one for one, is_driven in zip(robot.limbs, drives, strict=True) if is_driven
    ]
    counted = {name for limb in driven for name in limb.joint_names}
    counts = np.array([name in counted for name in robot.joint_names])
    q_min = np.where(counts, np.maximum(robot.q_min, -_FAR), -_FAR)
    q_max = np.where(counts, np.minimum(robot.q_max, _FAR), _FAR)
    margin = np.minimum(_MARGIN, _MARGIN_SHARE * (q_max - q_min))
    return CueLimits(
        q_min=q_min,
        q_max=q_max,
        per_margin=1.0 / np.maximum(margin, _SMALL),
        per_speed=np.where(counts, 1.0 / robot.dq_max, 0.0),
        tolerance=np.where(counts, CONTACT_TOLERANCE, _FAR),
        kept=kept,
    )


def compute_cues(now: CueInput, limits: CueLimits) -> Cues:
    """Return the cues of one status."""
    half, late = now.q_late
    low = np.minimum(np.minimum(half, late), now.q_cmd)
    high = np.maximum(np.maximum(half, late), now.q_cmd)
    outside = np.maximum(low - now.q_meas, now.q_meas - high) - limits.tolerance
    room = np.minimum(now.q_cmd - limits.q_min, limits.q_max - now.q_cmd)
    limit = 1.0 + float(_largest(-limits.per_margin * room))
    speed = float(_largest(np.abs(now.dq_cmd) * limits.per_speed))
    limit = max(limit, (speed - _SPEED_ONSET) / (1.0 - _SPEED_ONSET))
    if now.reasons & LIMITED:
        backlog = np.abs(now.q_des - now.q_cmd) - limits.tolerance
        limit = max(limit, float(_largest(backlog)) / _FULL_BACKLOG)
    is_blocked, is_near = now.reasons & BLOCKED, now.reasons & NEAR
    return Cues(
        contact=_clip(float(_largest(outside)) / _FULL_CONTACT)
        if not is_blocked
        else 1.0,
        limit=_clip(limit),
        clearance=_approach(now.clearance, limits.kept) if is_near else 0.0,
    )


def _approach(clearance: float, kept: float) -> float:
    if not clearance < 2.0 * kept:
        return _SLOWED
    return min(max(2.0 - clearance / kept, _SLOWED), 1.0)


def _clip(value: float) -> float:
    return 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0)


class Rumble:
    """Rumble with quick attack, slow release, hysteresis."""

    def __init__(self, on: float = _ON, off: float = _OFF) -> None:
        self._on, self._off = on, off
        self.reset()

    def reset(self) -> None:
        """Silence it at once."""
        self._level, self._is_on = 0.0, False

    def step(self, cues: Cues, dt: float) -> float:
        """Return the amplitude, 0 … 1, after ``dt``, [s]."""
        self._level = max(*cues, self._level - dt / _RELEASE)
        self._is_on = self._level >= (self._off if self._is_on else self._on)
        return self._level if self._is_on else 0.0


class CueSource:
    """Source of one leader's cues; not thread-safe.

    Silent unless the leader drives.
    """

    def __init__(
        self,
        robot: RobotInfo,
        layout: Layout,
        settings: FeedbackSettings,
        kept: float,
    ) -> None:
        """Prepare; ``kept`` is ``gate.clearance_scene``, [m]."""
        rig, usual = settings.rig, (settings.rig.dead_time, settings.rig.time_constant)
        lags = [sum(rig.lags.get(name, usual)) for name in robot.joint_names]
        self._lags = np.outer((0.5, 1.0), lags) * (1.0 + rig.lag_spread)
        self._robot, self._kept = robot, kept
        self._stale_ns = round(1e9 * settings.stale_after)
        self._codec = HeadCodec(GateStatus, layout.status)
        self._cues = NO_CUES
        self._touch = TouchDetector(robot.ddq_max, settings.touch_effort)
        self._rumbles = Rumble(), Rumble(_TOUCH_ON, _TOUCH_OFF), Rumble()
        self._amplitudes = [0.0, 0.0, 0.0]
        self._stamp_ns = self._pulse_ns = 0
        self._n_cues = -1  # what was before we listened is nobody's cue
        self._q_late = np.tile(robot.home, (2, 1))
        self.choose_limbs([True] * len(robot.limbs))

    def choose_limbs(self, drives: Sequence[bool]) -> None:
        """Set the driven limbs of the follower."""
        self._limits = make_cue_limits(self._robot, drives, self._kept)
        self._touch.choose_joints(self._limits.tolerance < _FAR)

    def add(self, told: Feedback, now_ns: int, status: Record | None) -> Feedback:
        """Return the feedback with cues and rumble."""
        oldest_ns = now_ns - self._stale_ns
        if told.n_cues > self._n_cues >= 0:
            self._pulse_ns = now_ns + _PULSE_NS
        self._n_cues = told.n_cues
        if not told.is_engaged or status is None or told.stamp_ns < oldest_ns:
            return self._fall_silent(told)
        head = self._codec.read(status)
        if head.stamp_ns < oldest_ns or head.state != GateState.ENGAGED:
            return self._fall_silent(told)
        if head.stamp_ns != self._stamp_ns:
            self._update(head, status)
        rumble, touch, warning = self._amplitudes
        if now_ns < self._pulse_ns:
            rumble = warning = 1.0
        return replace(
            told, cues=self._cues, rumble=rumble, touch=touch, warning=warning
        )

    def _fall_silent(self, told: Feedback) -> Feedback:
        for one in self._rumbles:
            one.reset()
        self._touch.reset()
        self._stamp_ns = 0
        return told

    def _update(self, head: GateStatus, status: Record) -> None:
        q_cmd, dt = status["q_cmd"], 1e-9 * (head.stamp_ns - self._stamp_ns)
        self._stamp_ns = head.stamp_ns
        if not 0.0 < dt <= _GAP:
            self._q_late, dt = np.tile(status["q_meas"], (2, 1)), 0.0
            self._touch.reset()
        self._q_late = self._q_late + (q_cmd - self._q_late) * (
            dt / (self._lags + dt + _SMALL)
        )
        cues = compute_cues(
            CueInput(
                head.reasons,
                head.clearance,
                status["q_des"],
                q_cmd,
                status["dq_cmd"],
                status["q_meas"],
                self._q_late,
            ),
            self._limits,
        )
        pressed = self._touch.step(status["tau_meas"], status["dq_cmd"], dt)
        self._cues = cues if pressed is None else cues._replace(contact=pressed)
        apart = (
            self._cues,
            Cues(contact=self._cues.contact),
            self._cues._replace(contact=0.0),
        )
        self._amplitudes = [
            one.step(part, dt) for one, part in zip(self._rumbles, apart, strict=True)
        ]
