"""One-Euro filter of poses and joints (Casiez, Roussel, Vogel, CHI 2012)."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.settings.retarget import FilterSettings
from paprle.contracts.types import Vec
from paprle.ipc.records import Layout, SampleView
from paprle.robot.pose_rows import is_pose

_LONGEST = 0.2  # [s] chosen: after a longer silence it starts anew
_SPEED_CUTOFF = 1.0  # [Hz] spec: Casiez et al., dcutoff
_STRAIGHT = 1e-6  # [rad] chosen: half an angle below which an arc is its chord


def compute_share(cutoff: float, dt: float) -> float:
    """Return a first-order low-pass's share of a step; [Hz], [s]."""
    return 1.0 / (1.0 + 1.0 / (2.0 * math.pi * cutoff * dt))


class _Part:
    def __init__(self, min_cutoff: float, beta: float) -> None:
        self._min_cutoff, self._beta = min_cutoff, beta
        self._speed: Vec = np.zeros(0)

    def start(self) -> None:
        self._speed = np.zeros(0)

    def find_share(self, step: Vec, dt: float) -> float:
        if len(self._speed) != len(step):
            self._speed = np.zeros(len(step))
        self._speed += compute_share(_SPEED_CUTOFF, dt) * (step / dt - self._speed)
        speed = float(np.linalg.norm(self._speed))
        return compute_share(self._min_cutoff + self._beta * speed, dt)


class OneEuro:
    """Filter of poses and joints of all limbs."""

    def __init__(self, layout: Layout, settings: FilterSettings) -> None:
        self._view, self._raw = SampleView(layout), SampleView(layout)
        low = settings.min_cutoff
        self._parts = [
            (
                _Part(low, settings.beta),
                _Part(low, settings.beta_turn),
                _Part(low, settings.beta_turn),
            )
            for _ in layout.leader.limbs
        ]
        self._has_begun = False

    def start(self) -> None:
        """Reset: the next sample passes unfiltered."""
        self._has_begun = False
        for i in range(len(self._parts)):
            self._start_limb(i)

    def filter(self, sample: SampleView) -> SampleView:
        """Return a filtered copy of a sample."""
        view, raw = self._view, self._raw
        if self._has_begun and sample.seq == raw.seq:
            return view
        pose, q = view.pose.copy(), view.q.copy()
        view.update(sample.record)
        for i in range(len(self._parts) if self._has_begun else 0):
            dt = float(sample.limb_ns[i] - raw.limb_ns[i]) * 1e-9
            if 0.0 < dt <= _LONGEST:
                self._filter_limb(i, sample, dt, pose[i], q[i])
            elif dt == 0.0:
                view.pose[i], view.q[i] = pose[i], q[i]
            else:
                self._start_limb(i)
        self._has_begun = True
        raw.update(sample.record)
        return view

    def _start_limb(self, i: int) -> None:
        for part in self._parts[i]:
            part.start()

    def _filter_limb(
        self, i: int, sample: SampleView, dt: float, pose: Vec, q: Vec
    ) -> None:
        position, turn, joints = self._parts[i]
        view, raw = self._view, self._raw
        if is_pose(sample.pose[i]) and is_pose(raw.pose[i]):
            poses = sample.pose[i], raw.pose[i], pose
            _filter_pose(position, turn, poses, dt, view.pose[i])
        step = sample.q[i] - raw.q[i]
        share = joints.find_share(np.nan_to_num(step), dt)
        passed = q + share * (sample.q[i] - q)
        view.q[i] = np.where(np.isfinite(step), passed, sample.q[i])


def _filter_pose(
    position: _Part,
    turn: _Part,
    poses: tuple[Vec, Vec, Vec],
    dt: float,
    row: Vec,
) -> None:
    raw, raw_before, before = poses
    share = position.find_share(raw[:3] - raw_before[:3], dt)
    row[:3] = before[:3] + share * (raw[:3] - before[:3])
    share = turn.find_share(_find_turn(raw_before[3:], raw[3:]), dt)
    row[3:] = _turn(before[3:], raw[3:], share)


def _find_turn(start: Vec, end: Vec) -> Vec:
    # Its length is twice the sine of half the angle: what a hand turns in one sample.
    way = start[3] * end[:3] - end[3] * start[:3] - np.cross(start[:3], end[:3])
    nearer: Vec = 2.0 * way * (1.0 if float(start @ end) >= 0.0 else -1.0)
    return nearer


def _turn(start: Vec, end: Vec, share: float) -> Vec:
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    cosine = float(start @ end)
    if cosine < 0.0:
        cosine, end = -cosine, -end
    angle = math.acos(min(cosine, 1.0))
    if angle < _STRAIGHT:
        turned: Vec = start + share * (end - start)
    else:
        turned = math.sin((1.0 - share) * angle) * start + math.sin(share * angle) * end
    return turned / np.linalg.norm(turned)
