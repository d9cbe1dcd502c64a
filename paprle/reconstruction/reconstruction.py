"""Continuous motions of leaders with slow samples.

Flags and counters are those of the newest sample, never delayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from paprle.contracts.kit.leader_group import list_rows, split_leaders
from paprle.contracts.kit.sampling import SLOW_RATE, Policy
from paprle.contracts.types import LeaderInfo, Vec
from paprle.ipc.records import Layout, Record, SampleView
from paprle.reconstruction.cadence import Cadence
from paprle.reconstruction.path import Path, find_delay_ns
from paprle.reconstruction.waypoints import Waypoints

Samples = Literal["auto", "off", "latest", "ordered"]
_BLOCKS = ("pose", "q", "opening", "axes")
_LEAST = {"opening": 0.0, "axes": -1.0}  # of a range that ends at 1
_QUAT = slice(3, 7)


def choose_policy(info: LeaderInfo, samples: Samples) -> Policy | None:
    """Return the waypoints' policy; None: samples are targets."""
    if samples == "off" or (samples == "auto" and info.rate >= SLOW_RATE):
        return None
    return info.sampling.policy if samples == "auto" else samples


class Delay(NamedTuple):
    """Delay of a leader's reconstruction, [s], at a rate of captures, [Hz]."""

    leader: str
    policy: Policy
    rate: float
    delay: float


def describe_delay(one: Delay) -> str:
    """Return a leader's delay as text."""
    who = f"{one.leader}: " if one.leader else ""
    return (
        f"{who}{one.rate:.0f} [Hz] made a motion of ({one.policy} samples), "
        f"{1e3 * one.delay:.0f} ms late (retarget.samples)"
    )


class Reconstruction:
    """Motions of all leaders that need it."""

    def __init__(self, layout: Layout, samples: Samples) -> None:
        parts = dict(split_leaders(layout.leader))
        self._view = SampleView(layout)
        self._motions: dict[int, _Motion] = {}
        for p, (name, rows) in enumerate(list_rows(parts).items()):
            policy = choose_policy(parts[name], samples)
            if policy is not None:
                self._motions[p] = _Motion(name, rows, policy, parts[name].rate)

    @property
    def is_needed(self) -> bool:
        """Whether any leader needs it."""
        return bool(self._motions)

    def covers(self, leader: int) -> bool:
        """Return whether it makes a leader's motion."""
        return leader in self._motions

    @property
    def delays(self) -> list[Delay]:
        """Delays of all leaders, at present rates."""
        return [motion.delay for motion in self._motions.values()]

    @property
    def refused(self) -> Counter[str]:
        """Samples that are no waypoints, by reason."""
        counts = (motion.refused for motion in self._motions.values())
        return sum(counts, Counter[str]())

    def note(self, leader: int, record: Record, now_ns: int) -> None:
        """Note a leader's newest record, valid or not."""
        motion = self._motions.get(leader)
        if motion is not None and (seq := int(record["seq"])) != motion.heard_seq:
            motion.heard_seq = seq
            motion.cadence.note(int(record["stamp_ns"]), now_ns)

    def start(self) -> None:
        """Reset: motions begin at rest."""
        for motion in self._motions.values():
            motion.has_begun = False

    def follow(
        self,
        sample: SampleView,
        seqs: Sequence[int],
        usable: Sequence[bool],
        now_ns: int,
    ) -> SampleView:
        """Return the reconstructed sample, overwritten by the next call.

        Its stamps are the reached capture times; leaders not ``usable`` begin anew.
        """
        view = self._view
        view.update(sample.record)
        for p, motion in self._motions.items():
            if usable[p]:
                motion.follow(sample, view, seqs[p], now_ns)
            else:
                motion.has_begun = False
        view.stamp_ns = int(view.limb_ns.max())
        return view


class _Motion:
    def __init__(self, name: str, rows: range, policy: Policy, rate: float) -> None:
        self.cadence = Cadence(rate)
        self.has_begun, self.heard_seq = False, -1
        self._name, self._policy = name, policy
        self._rows = slice(rows.start, rows.stop)
        self._path = Path(Waypoints(policy))
        self._seq, self._now_ns = -1, 0

    @property
    def refused(self) -> Counter[str]:
        return self._path.waypoints.refused

    @property
    def delay(self) -> Delay:
        period_ns = self.cadence.period_ns
        late = find_delay_ns(period_ns) * 1e-9
        return Delay(self._name, self._policy, 1e9 / period_ns, late)

    def follow(
        self, sample: SampleView, view: SampleView, seq: int, now_ns: int
    ) -> None:
        cadence, path = self.cadence, self._path
        period_ns, stamp_ns = cadence.period_ns, int(sample.limb_ns[self._rows.start])
        wanted_ns = now_ns - cadence.delay_ns - find_delay_ns(period_ns)
        dt_ns = now_ns - self._now_ns
        if not self.has_begun:
            path.start(self._read(sample), stamp_ns, wanted_ns)
            self.has_begun, dt_ns = True, 0
        elif seq != self._seq:
            row = _turn_alike(self._read(sample), path.row, self._shape(sample))
            path.add(row, stamp_ns, period_ns)
        self._seq, self._now_ns = seq, now_ns
        self._write(view, path.advance(wanted_ns, dt_ns, period_ns))
        view.limb_ns[self._rows] = path.content_ns

    def _shape(self, view: SampleView) -> int:
        return int(view.pose[self._rows].size)

    def _read(self, view: SampleView) -> Vec:
        blocks = [getattr(view, name)[self._rows].ravel() for name in _BLOCKS]
        return np.concatenate(blocks)

    def _write(self, view: SampleView, row: Vec) -> None:
        at = 0
        for name in _BLOCKS:
            block = getattr(view, name)[self._rows]
            if not block.size:
                continue
            block[...] = row[at : at + block.size].reshape(block.shape)
            at += block.size
            if name in _LEAST:  # a slope goes on beyond its range, a gripper does not
                np.minimum(np.maximum(block, _LEAST[name], out=block), 1.0, out=block)
        quats = view.pose[self._rows][:, _QUAT]
        quats /= np.sqrt(np.add.reduce(np.square(quats), axis=1, keepdims=True))


def _turn_alike(row: Vec, like: Vec, n_pose: int) -> Vec:
    quats = row[:n_pose].reshape(-1, 7)[:, _QUAT]
    others = like[:n_pose].reshape(-1, 7)[:, _QUAT]
    quats[(quats * others).sum(axis=1) < 0.0] *= -1.0
    return row
