"""Acceptance of samples by order, age, tracking and motion, without repair."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.errors import SessionError
from paprle.contracts.kit.continuity import (
    HAND_SPEED,
    HAND_TURN,
    NOISE_JOINT,
    NOISE_TURN,
    TURN,
    make_free_bounds,
)
from paprle.contracts.kit.sampling import Policy, find_content_age
from paprle.contracts.types import Vec
from paprle.ipc.records import Layout, Record, SampleView
from paprle.retargeting.leader_arms import ArmPoses
from paprle.robot.arrays import Bools, Ints
from paprle.robot.pose_rows import is_pose
from paprle.session.inputs.controls import Controls, has_controls
from paprle.session.inputs.deadman import DeadMan

_BURST = 0.1  # [s] chosen: samples may be held up this long and then come at once
_PAUSE_NS = 1_000_000_000  # chosen: whoever is silent for longer has not just stalled
_STEADY_NS = 200_000_000  # chosen: an automatic leader re-engages after this much data
_NOISE = 0.01  # [m] chosen: jitter of a tracked pose between two close stamps
_MAX_SEQUENCE_JUMP = 1_000_000  # spec: safety.md A3
_FULL = 1.0 + 1e-6  # chosen: full deflection, and rounding of single precision
_REFUSALS = "", "pose", "empty", "jump", "range"


class Intake:
    """The newest usable sample of a leader, its age, and refusals.

    Attributes:
        arrived_ns: Its acceptance, or a slow leader's last sign of life, [ns].
        jumped: It is no plausible motion, or repeats such a one.
        is_spent: The dead-man's press does not count.
        pause: Longest silence within a press, [s]; 0: none.
        turns: Added to each joint, shape (k, j).
    """

    def __init__(
        self,
        layout: Layout,
        max_age: float,
        arm_poses: ArmPoses | None = None,
        policy: Policy | None = None,
        bounds: Vec | None = None,
    ) -> None:
        """Make it; samples older than ``max_age``, [s], move nothing."""
        self._policy = policy
        info = layout.leader
        content_age = max(max_age, find_content_age(info.sampling, info.rate))
        self._content_age_ns = 0 if policy is None else int(content_age * 1e9)
        self._content_ns = self._alive_ns = 0
        self._newest_ns: int | None = None
        self._arm_poses = arm_poses
        self._max_age_ns = int(max_age * 1e9)
        self.sample: SampleView | None = None
        self._next, self._spare = SampleView(layout), SampleView(layout)
        self.arrived_ns = 0
        self.refused: Counter[str] = Counter()
        self.jumped = False
        self._seen = np.zeros(len(layout.leader.limbs), dtype=np.bool_)
        self._usable_since_ns: int | None = None
        self.is_spent, self._is_human = False, info.is_human
        self.pause = 0.0
        is_policy = bool(info.robot) and not (info.motion or info.path)
        self._is_device = not (info.is_human or is_policy)
        self.dead_man = DeadMan(has_deadman=info.has_deadman)
        self._has_axes = bool(info.axes)
        self._controls = Controls(layout) if has_controls(info) else None
        shape = self._next.q.shape
        self._bounds = make_free_bounds(*shape) if bounds is None else bounds
        self.turns: Vec = np.zeros(shape)
        self._n_unwrapped: Ints = np.zeros(1, dtype=np.int64)
        self._landed = b""
        self._find_refusal(self._next, None, 0)  # nothing is compiled in a tick

    @property
    def n_unwrapped(self) -> int:
        """Number of removed whole turns."""
        return int(self._n_unwrapped[0])

    def update(self, record: Record | None, now_ns: int) -> None:
        """Keep the newest record if acceptable."""
        if record is not None:
            self._take(record, now_ns)
        sample = self.sample
        is_good = sample is not None and self._is_good(sample, now_ns)
        is_engaged = sample is not None and sample.engaged
        self.dead_man.update(is_engaged=is_engaged, is_good=is_good)
        self.is_spent = is_good and is_engaged and not self.dead_man.is_held
        if self._controls is not None and not is_good:
            self._controls.lose()

    def _take(self, record: Record, now_ns: int) -> None:
        before, sample = self.sample, self._next
        sample.update(record)
        if before is not None and sample.seq == before.seq:
            if sample.alive_ns > self._alive_ns and self._content_age_ns:
                self._alive_ns, self.arrived_ns = sample.alive_ns, now_ns
            return
        if self._arm_poses is not None:
            self._arm_poses.place(sample)
        refusal = self._find_refusal(sample, before, now_ns)
        if refusal:
            self.refused[refusal] += 1
        if refusal not in {"", "jump"}:
            return
        if self._controls is not None:
            self._controls.mask(sample)
        if refusal or self.jumped:
            self._note_jump(sample, is_new=bool(refusal))
        self._note_pause(sample, before, now_ns)
        self.sample, self._next = sample, before or self._spare
        self.arrived_ns = now_ns
        if self._newest_ns is None or sample.stamp_ns > self._newest_ns:
            self._newest_ns, self._content_ns = sample.stamp_ns, now_ns

    def _note_pause(
        self, sample: SampleView, before: SampleView | None, now_ns: int
    ) -> None:
        if before is None or not (before.engaged and sample.engaged):
            self.pause = 0.0
        elif self._max_age_ns < (silent_ns := now_ns - self.arrived_ns) <= _PAUSE_NS:
            self.pause = max(self.pause, silent_ns * 1e-9)

    def _note_jump(self, sample: SampleView, *, is_new: bool) -> None:
        # A person presses before the robot goes on, whatever the leader says. A policy
        # repeats one answer until it is asked again.
        numbers = sample.numbers.tobytes()
        self.jumped = is_new or (self._is_device and numbers == self._landed)
        if is_new:
            self._landed = numbers

    def accept_jump(self) -> None:
        """Accept the position after a jump."""
        self.jumped = False

    def wind(self, row: int, joint: int, turns: float) -> None:
        """Add turns to a joint from now on."""
        self.turns[row, joint] += turns
        if self.sample is not None:
            self.sample.q[row, joint] += turns * TURN

    def excuse(self, gap_ns: int) -> None:
        """Exclude a standstill of this process, [ns]."""
        self.arrived_ns += gap_ns
        self._content_ns += gap_ns

    def get_sample(self) -> SampleView:
        """Return the newest accepted sample.

        Raises:
            SessionError: If there is none.
        """
        if self.sample is None:
            raise SessionError("intake: expected a sample, got none yet")
        return self.sample

    def is_fresh(self, now_ns: int) -> bool:
        """Whether the newest sample is young enough (A1)."""
        return self.sample is not None and now_ns - self.arrived_ns <= self._max_age_ns

    def is_usable(self, now_ns: int) -> bool:
        """Whether it is fresh, tracked, plausible and held."""
        sample = self.sample
        is_held = sample is not None and sample.engaged and self.dead_man.is_held
        return is_held and sample is not None and self._is_good(sample, now_ns)

    @property
    def asks_to_start(self) -> bool:
        """Whether it asks to start, a person by a valid press."""
        is_asked = self.sample is not None and bool(self.sample.start)
        return is_asked and (self.dead_man.is_held or not self._is_human)

    def _is_good(self, sample: SampleView, now_ns: int) -> bool:
        return (
            now_ns - self.arrived_ns <= self._max_age_ns
            and bool(sample.valid)
            and not self.jumped
            and not self._is_content_old(now_ns)
        )

    def _is_content_old(self, now_ns: int) -> bool:
        bound_ns = self._content_age_ns
        return bool(bound_ns) and now_ns - self._content_ns > bound_ns

    def is_steady(self, now_ns: int, *, is_usable: bool) -> bool:
        """Whether it has been usable for a while; call once a tick."""
        if not is_usable:
            self._usable_since_ns = None
            return False
        if self._usable_since_ns is None:
            self._usable_since_ns = now_ns
        return now_ns - self._usable_since_ns >= _STEADY_NS

    def _find_refusal(
        self, sample: SampleView, before: SampleView | None, now_ns: int
    ) -> str:
        if before is not None:
            ahead = sample.seq - before.seq
            if not 0 <= ahead <= _MAX_SEQUENCE_JUMP:
                return "sequence"
        last, dt = before or sample, 0.0
        if before is not None:
            arrival = (now_ns - self.arrived_ns) * 1e-9
            dt = (sample.stamp_ns - before.stamp_ns) * 1e-9
            if dt < 0.0 and self._policy == "latest":
                return "late"
            dt = abs(dt) if self._policy == "ordered" else dt
            dt = min(max(dt, 0.0), max(arrival, _BURST))  # stamps alone allow nothing
        found = find_refusal(
            sample.pose,
            sample.q,
            last.pose,
            last.q,
            self._seen,
            dt,
            before is not None and bool(last.valid),
            self._bounds,
            self.turns,
            self._n_unwrapped,
        )
        refusal = _REFUSALS[found]
        return judge_axes(sample, refusal) if self._has_axes else refusal


def judge_axes(sample: SampleView, refusal: str) -> str:
    """Return the refusal of deflections, given that of the rest."""
    sizes = np.abs(sample.axes)
    if (sizes > _FULL).any():
        return "axes"
    has_any = bool(np.isfinite(sizes).any())
    return "" if refusal == "empty" and has_any else refusal


@compiled
def find_refusal(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    pose: Vec,
    q: Vec,
    pose_last: Vec,
    q_last: Vec,
    seen: Bools,
    dt: float,
    was_valid: bool,
    bounds: Vec,
    turns: Vec,
    n_unwrapped: Ints,
) -> int:
    """Return the place among ``_REFUSALS`` of a sample and its motion (A5).

    Poses have shape (k, 7), joints (k, j), NaN if absent, ``bounds`` (k, j, 4); ``dt``
    is in [s]; without ``was_valid`` nothing is a jump. ``seen``, limbs that have had a
    pose, (k,), ``turns``, (k, j), and ``n_unwrapped``, (1,), are updated.
    """
    found = judge_numbers(pose, q)
    if found != 0:
        return found
    n_unwrapped[0] += unwrap_joints(q, q_last, dt, bounds, turns)
    is_leap = find_leap(pose, q, pose_last, q_last, seen, dt, bounds)
    if (is_leap or not was_valid) and is_beyond(q, bounds):
        return 4
    return 3 if is_leap and was_valid else 0


@compiled
def unwrap_joints(q: Vec, q_last: Vec, dt: float, bounds: Vec, turns: Vec) -> int:
    """Return the number of removed steps of nearly one turn.

    ``q`` and ``turns``, shape (k, j), are updated; ``dt`` is in [s].
    """
    n = 0
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            q[i, j] += TURN * turns[i, j]
            step = q[i, j] - q_last[i, j]
            bound = min(bounds[i, j, 0] * dt + NOISE_JOINT, bounds[i, j, 1])
            if abs(abs(step) - TURN) <= bound:
                turn = math.copysign(1.0, step)
                turns[i, j] -= turn
                q[i, j] -= turn * TURN
                n += 1
    return n


@compiled
def is_beyond(q: Vec, bounds: Vec) -> bool:
    """Return whether a joint value is implausible in radians."""
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            if q[i, j] < bounds[i, j, 2] or q[i, j] > bounds[i, j, 3]:
                return True
    return False


@compiled
def judge_numbers(pose: Vec, q: Vec) -> int:
    """Return 1 for an invalid pose, 2 for infinite or missing values, else 0."""
    has_any = False
    for i in range(len(pose)):
        is_absent = True
        for k in range(7):
            is_absent = is_absent and math.isnan(pose[i, k])
        if not is_absent and not is_pose(pose[i]):
            return 1
        has_any = has_any or not is_absent
        for value in q[i]:
            if math.isinf(value):
                return 2
            has_any = has_any or math.isfinite(value)
    return 0 if has_any else 2


@compiled
def find_leap(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    pose: Vec,
    q: Vec,
    pose_last: Vec,
    q_last: Vec,
    seen: Bools,
    dt: float,
    bounds: Vec,
) -> bool:
    """Return whether a limb moved farther than a hand can, or reappeared.

    Arguments as in ``find_refusal``; ``seen`` is updated.
    """
    found = False
    for i in range(len(pose)):
        is_there, was_there = is_pose(pose[i]), is_pose(pose_last[i])
        if is_there and was_there:
            found = found or _is_too_far(pose[i], pose_last[i], dt)
        elif is_there:
            found = found or seen[i]
        for j in range(q.shape[1]):
            if abs(q[i, j] - q_last[i, j]) > bounds[i, j, 0] * dt + NOISE_JOINT:
                found = True
        seen[i] = seen[i] or is_there
    return found


@compiled
def _is_too_far(row: Vec, last: Vec, dt: float) -> bool:
    step2, dot, norm2, norm2_last = 0.0, 0.0, 0.0, 0.0
    for a in range(3):
        step2 += (row[a] - last[a]) ** 2
    for a in range(3, 7):
        dot += row[a] * last[a]
        norm2 += row[a] ** 2
        norm2_last += last[a] ** 2
    turn = 2.0 * math.acos(min(abs(dot) / math.sqrt(norm2 * norm2_last), 1.0))
    is_far = math.sqrt(step2) > HAND_SPEED * dt + _NOISE
    return is_far or turn > HAND_TURN * dt + NOISE_TURN
