"""Feedback of a remote follower.

A wall that follows the hand by a share α after a round trip τ takes at most 0.217 α K τ
of damping, which F2 counts as bus delay (``Delays.of``; decision 0014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import Vec
from paprle.haptics.arm import Posture
from paprle.haptics.follower_side import FollowerInLeaderJoints
from paprle.haptics.joints import LeaderLimb
from paprle.haptics.mirror import NOWHERE, Displacements
from paprle.ipc.records import Record
from paprle.retargeting.state import Anchors

FULL_FORCE_RTT = 0.1
"""Round trip up to which contact is felt as it is, [s], chosen: F2 is checked there."""
NO_FORCE_RTT = 0.2
"""Round trip from which on nothing of it is left, [s], chosen: a hand of 0.3 m/s is
6 cm behind a wall before it meets it."""
SILENT_NS = 100_000_000
"""A link that says nothing for so long renders nothing, [ns], spec: safety.md A1."""
_CALMS = 0.05  # [s/s] chosen: what jitters by 60 ms is judged by its worst second
_NOTHING: Vec = np.zeros(0)


class Told(NamedTuple):
    """Newest state received, at local ``heard_ns``; ``share``: rendered, 0 … 1."""

    heard_ns: int
    is_following: bool
    share: float
    hands: dict[int, HeldHand]


class FollowerAfar:
    """Remote ``FollowerSide``; only ``hear`` may run on another thread."""

    clearance, is_near = math.inf, False
    q_robot = _NOTHING, _NOTHING, _NOTHING

    def __init__(self) -> None:
        self._told = Told(0, False, 0.0, {})
        self._rows: list[slice] = []
        self._n = 0
        self._age = 0.0

    def list_poses(self, limbs: Sequence[LeaderLimb]) -> list[PoseAfar]:
        """Set the leader's limbs; return their pose mirrors."""
        self._rows = [limb.arm_rows for limb in limbs]
        self._n = sum(len(limb.joint_names) for limb in limbs)
        return [PoseAfar(self, i, limb) for i, limb in enumerate(limbs)]

    def hear(
        self,
        now_ns: int,
        age_ns: int | None,
        hands: Sequence[HeldHand],
        *,
        is_following: bool,
    ) -> None:
        """Take a state, with the age of our motion there."""
        is_known = age_ns is not None and age_ns >= 0
        passed = 1e-9 * (now_ns - self._told.heard_ns)
        age = 1e-9 * age_ns if age_ns is not None and is_known else math.inf
        calmed = self._age - _CALMS * passed if math.isfinite(self._age) else 0.0
        self._age = max(age, calmed)
        share = min(
            max((NO_FORCE_RTT - self._age) / (NO_FORCE_RTT - FULL_FORCE_RTT), 0.0), 1.0
        )
        held = {one.limb: one for one in hands}
        self._told = Told(now_ns, is_following and is_known, share, held)

    def find_share(self, now_ns: int) -> float:
        """Return the rendered share of a contact, 0 … 1."""
        told = self._told
        is_fresh = now_ns - told.heard_ns <= SILENT_NS
        return told.share if is_fresh and told.is_following else 0.0

    def find_hand(self, place: int) -> HeldHand | None:
        """Return a limb's held hand."""
        return self._told.hands.get(place)

    def update(self, status: Record) -> None:
        """Do nothing: this host has no gate."""

    def is_following(self, now_ns: int, stale_ns: int) -> bool:  # noqa: ARG002 - a way is longer
        """Return whether the robot follows, fresh and near."""
        return self.find_share(now_ns) > 0.0

    def find_free(self) -> npt.NDArray[np.bool_]:
        """Return True for all joints, shape (M,)."""
        return np.ones(self._n, dtype=np.bool_)

    def find_held(self) -> tuple[Vec, Vec]:
        """Return no held joints, and certainties, (M,)."""
        told, by_part = self._told, np.zeros(self._n)
        for place, hand in told.hands.items():
            if place < len(self._rows):
                by_part[self._rows[place]] = told.share * hand.share
        return np.zeros(self._n), by_part

    def find_gate_held(self, q: Vec, dt: float) -> Vec:  # noqa: ARG002 - it is far away
        """Return 0 for all joints, shape (M,)."""
        return np.zeros(self._n)

    def mirror(self) -> FollowerInLeaderJoints:
        """Return NaN for all joints."""
        return FollowerInLeaderJoints(*np.full((4, self._n), np.nan))


class PoseAfar:
    """Pose mirror of a remote robot's limb."""

    is_scaled = False

    def __init__(self, follower: FollowerAfar, place: int, limb: LeaderLimb) -> None:
        self.is_driving = limb.arm is not None
        self._follower, self._place = follower, place

    def find(
        self,
        at: Posture,
        anchors: Anchors | None,  # noqa: ARG002 - they are beside the robot
        q_robot: tuple[Vec, Vec, Vec],  # noqa: ARG002 - likewise
    ) -> Displacements:
        """Return the displacement from the hand to the held pose."""
        hand = self._follower.find_hand(self._place)
        if hand is None:
            return NOWHERE
        T, back = pin.XYZQUATToSE3(hand.pose), at.R.T
        moved, turned = T.translation - at.p, pin.log3(T.rotation @ back)
        away = np.concatenate([back @ moved, back @ turned])
        way = np.concatenate([back @ hand.way[:3], back @ hand.way[3:]])
        return Displacements(np.zeros(6), away, way)
