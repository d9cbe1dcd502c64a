"""All leaders of a session; a failing one affects its limbs alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from paprle.contracts.errors import SessionError
from paprle.contracts.kit.continuity import TURN
from paprle.contracts.kit.leader_group import name_limb, split_leaders
from paprle.contracts.types import LeaderInfo, Vec
from paprle.ipc.records import Layout, Record, SampleView, split_layout
from paprle.reconstruction.reconstruction import (
    Reconstruction,
    Samples,
    choose_policy,
)
from paprle.retargeting.leader_arms import ArmPoses
from paprle.robot.chain import Limb
from paprle.session.inputs.intake import Intake

HELD_ON = "the dead-man has been held since before"
_LONGEST_BOUND = 0.5  # [s] spec: the largest gate.stale_after
_SOONER = 0.02  # [s] chosen: a tick that is 10 ms late, itself, and a gate's period


class Leaders:
    """The newest usable samples of all leaders.

    Attributes:
        owners: The leader of each limb, shape (k,).
        arrived_ns: Oldest usable arrival, [ns]; without any, the newest.
    """

    def __init__(
        self,
        layout: Layout,
        max_age: float,
        arms: Mapping[str, Limb] | None = None,
        samples: Samples = "auto",
        stale_after: float = math.inf,
        bounds: Vec | None = None,
    ) -> None:
        """Make an intake for each leader.

        ``max_age`` and ``stale_after``, at which the gate brakes, are in [s];
        ``bounds`` have shape (k, j, 4).
        """
        parts = dict(split_leaders(layout.leader))
        if len(parts) > 1:
            max_age = min(max_age, max(stale_after - _SOONER, 0.5 * stale_after))
        self.names, self.infos = tuple(parts), tuple(parts.values())
        self._begins: list[int] = []  # first limb of each leader in the group
        self.intakes: list[Intake] = []
        for (name, info), own in zip(parts.items(), split_layout(layout), strict=True):
            begin = sum(len(one.limbs) for one in self.infos[: len(self.intakes)])
            self._begins.append(begin)
            self.intakes.append(
                Intake(
                    own,
                    max_age,
                    _make_arm_poses(name, info, arms or {}),
                    choose_policy(info, samples),
                    _cut(bounds, begin, own),
                )
            )
        self.owners = [p for p, info in enumerate(self.infos) for _ in info.limbs]
        self.sample: SampleView | None = None
        self.usable = [False] * len(self.intakes)
        self.arrived_ns = 0
        self._is_steady = [False] * len(self.intakes)
        self._merger = _Merger(layout) if len(self.intakes) > 1 else None
        made = Reconstruction(layout, samples)
        self.reconstruction = made if made.is_needed else None

    @property
    def refused(self) -> Counter[str]:
        """Refusals by reason."""
        made = self.reconstruction
        waypoints = Counter[str]() if made is None else made.refused
        return sum((intake.refused for intake in self.intakes), waypoints)

    def update(self, records: Sequence[Record | None], now_ns: int) -> None:
        """Check the newest record of each leader."""
        for p, intake in enumerate(self.intakes):
            record = records[p]
            if self.reconstruction is not None and record is not None:
                self.reconstruction.note(p, record, now_ns)
            intake.update(record, now_ns)
            self.usable[p] = is_usable = intake.is_usable(now_ns)
            self._is_steady[p] = intake.is_steady(now_ns, is_usable=is_usable)
        if self._merger is None:
            self.sample = self.intakes[0].sample
            self.arrived_ns = self.intakes[0].arrived_ns
        else:
            self.sample = self._merger.merge(self.intakes, self.usable)
            self.arrived_ns = self._find_arrival()

    def take_motion(self, sample: SampleView, now_ns: int) -> SampleView:
        """Return the leaders' motion in this tick."""
        if self.reconstruction is None:
            return sample
        seqs = [-1 if i.sample is None else i.sample.seq for i in self.intakes]
        return self.reconstruction.follow(sample, seqs, self.usable, now_ns)

    def pretend(self, sample: SampleView | None) -> None:
        """Use a sample for warm-up."""
        self.sample = sample
        self.usable = [sample is not None] * len(self.intakes)

    def excuse(self, gap_ns: int) -> None:
        """Exclude a standstill of this process, [ns]."""
        for intake in self.intakes:
            intake.excuse(gap_ns)

    @property
    def n_presses(self) -> int:
        """Number of human leaders' counted presses."""
        pairs = zip(self.intakes, self.infos, strict=True)
        return sum(i.dead_man.n_presses for i, info in pairs if info.is_human)

    @property
    def is_spent(self) -> bool:
        """Whether a dead-man's press does not count."""
        return any(intake.is_spent for intake in self.intakes)

    @property
    def is_held(self) -> bool:
        """Whether a person holds a leader."""
        pairs = zip(self.infos, self.usable, strict=True)
        return self.is_spent or any(info.is_human and may for info, may in pairs)

    def spend_presses(self) -> None:
        """Spend all presses."""
        for p, intake in enumerate(self.intakes):
            intake.dead_man.spend()
            self.usable[p] = self.usable[p] and intake.dead_man.is_held

    @property
    def n_unwrapped(self) -> int:
        """Number of removed whole turns."""
        return sum(intake.n_unwrapped for intake in self.intakes)

    def accept_jumps(self, now_ns: int) -> None:
        """Accept positions after jumps."""
        for p, intake in enumerate(self.intakes):
            if intake.jumped:
                intake.accept_jump()
                self.usable[p] = intake.is_usable(now_ns)

    def wind(self, row: int, joint: int, turns: float) -> None:
        """Add turns to a joint of a row from now on."""
        p = self.owners[row]
        self.intakes[p].wind(row - self._begins[p], joint, turns)
        if self._merger is not None and self.sample is not None:
            self.sample.q[row, joint] += turns * TURN

    @property
    def is_usable(self) -> bool:
        """Whether any leader may move a robot."""
        return any(self.usable)

    def describe_loss(self, now_ns: int) -> str:
        """Describe the loss of each leader."""
        told = [
            _describe_loss(intake, now_ns, is_far=info.is_far)
            for intake, info in zip(self.intakes, self.infos, strict=True)
        ]
        if len(set(told)) == 1:
            return told[0]
        named = zip(self.names, told, strict=True)
        return ", ".join(f"{name}: {why}" for name, why in named)

    @property
    def is_steady(self) -> bool:
        """Whether any leader has been usable long enough."""
        return any(self._is_steady)

    def is_leader_steady(self, leader: int) -> bool:
        """Whether a leader has been usable long enough."""
        return self._is_steady[leader]

    def _find_arrival(self) -> int:
        arrived = [
            intake.arrived_ns
            for intake, usable in zip(self.intakes, self.usable, strict=True)
            if usable
        ]
        return min(arrived) if arrived else max(i.arrived_ns for i in self.intakes)

    def get_sample(self) -> SampleView:
        """Return the newest samples.

        Raises:
            SessionError: If there are none.
        """
        if self.sample is None:
            raise SessionError("intake: expected a sample, got none yet")
        return self.sample

    @property
    def asks_to_start(self) -> bool:
        """Whether a person, else every leader, asks to start."""
        return self._is_asked([intake.asks_to_start for intake in self.intakes])

    def asks_to_end(self, now_ns: int) -> bool:
        """Whether a person, else every leader, asks to end."""
        if self.sample is None or not self.sample.end:
            return False
        return self._is_asked(
            [
                i.sample is not None and i.sample.end and i.is_fresh(now_ns)
                for i in self.intakes
            ]
        )

    @property
    def is_exhausted(self) -> bool:
        """Whether no leader will send anything new."""
        return all(i.sample is not None and i.sample.is_exhausted for i in self.intakes)

    def _is_asked(self, asked: Sequence[bool]) -> bool:
        humans = [
            own for own, info in zip(asked, self.infos, strict=True) if info.is_human
        ]
        return any(humans) if humans else all(asked)


def _cut(bounds: Vec | None, begin: int, layout: Layout) -> Vec | None:
    k, j = SampleView(layout).q.shape
    return None if bounds is None else bounds[begin : begin + k, :j].copy()


def _describe_loss(intake: Intake, now_ns: int, *, is_far: bool) -> str:
    sample = intake.sample
    if sample is None or not intake.is_fresh(now_ns):
        return "leader lost"
    if not sample.valid:
        return "tracking or link lost" if is_far else "tracking lost"
    if not sample.engaged:
        return "let go"
    if intake.jumped:
        return "the leader jumped"
    return _describe_spent(intake) if intake.is_spent else "leader lost"


def _describe_spent(intake: Intake) -> str:
    if not intake.pause:
        return HELD_ON
    bound = (
        math.ceil(intake.pause * 30.0 - 1e-6) / 20.0
    )  # half as long again, in 0.05 s
    if bound > _LONGEST_BOUND:
        return f"{HELD_ON} a pause of {intake.pause:.2f} s"
    return (
        f"{HELD_ON} a pause of {intake.pause:.2f} s; session.max_gap={bound:g} "
        f"gate.stale_after={bound:g} bear it"
    )


def _make_arm_poses(
    name: str, info: LeaderInfo, arms: Mapping[str, Limb]
) -> ArmPoses | None:
    own = {
        limb: arms[whole]
        for limb in info.limbs
        if (whole := name_limb(name, limb)) in arms
    }
    return ArmPoses(info, own) if own else None


class _Merger:
    def __init__(self, layout: Layout) -> None:
        self._view = SampleView(layout)
        self._view.pose[:] = self._view.q[:] = self._view.opening[:] = np.nan
        self._view.ahead[:] = self._view.axes[:] = np.nan
        for name in ("device_q", "device_dq", "device_tau"):
            self._view.record[name][...] = np.nan
        self._seen: dict[int, int] = {}
        limbs = devices = 0
        self._rows, self._device_rows = list[slice](), list[slice]()
        for _, info in split_leaders(layout.leader):
            n, d = len(info.limbs), len(info.device_joints)
            self._rows.append(slice(limbs, limbs + n))
            self._device_rows.append(slice(devices, devices + d))
            limbs, devices = limbs + n, devices + d

    def merge(
        self, intakes: Sequence[Intake], usable: Sequence[bool]
    ) -> SampleView | None:
        view, record = self._view, self._view.record
        for p, intake in enumerate(intakes):
            sample = intake.sample
            if sample is not None and self._seen.get(p) != sample.seq:
                self._seen[p] = sample.seq
                self._put(p, sample)
                record["seq"] += 1
        samples = [intake.sample for intake in intakes if intake.sample is not None]
        if not samples:
            return None
        record["stamp_ns"] = max(sample.stamp_ns for sample in samples)
        record["valid"] = any(usable)
        for name in ("engaged", "start", "end"):
            record[name] = any(getattr(sample, name) for sample in samples)
        record["is_exhausted"] = all(sample.is_exhausted for sample in samples)
        view.update(record)
        return view

    def _put(self, p: int, sample: SampleView) -> None:
        rows, record = self._rows[p], self._view.record
        self._view.pose[rows], self._view.opening[rows] = sample.pose, sample.opening
        self._view.q[rows, : sample.q.shape[1]] = sample.q
        self._view.ahead[rows, : sample.ahead.shape[1]] = sample.ahead
        self._view.axes[rows, : sample.axes.shape[1]] = sample.axes
        self._view.mode[rows, : sample.mode.shape[1]] = sample.mode
        self._view.limb_ns[rows] = sample.limb_ns
        for name in ("device_q", "device_dq", "device_tau"):
            record[name][self._device_rows[p]] = sample.record[name]
