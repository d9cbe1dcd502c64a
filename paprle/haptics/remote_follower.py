"""A follower on another host as feedback has it: what held the hand, and how long ago.

The wall that ``contact`` renders stands where the robot was held, in the leader's own
axes, so that the spring's loop is the leader's bus alone, however long the way is. What
the way adds is that what holds the robot may yield: a wall that follows the hand by a
share α after a round trip τ has Re Z = −K Re[(1 − α e^{−jωτ}) / jω], that is, takes
−α K sin(ωτ) / ω of damping away, at most 0.217 α K τ. F2 counts that as delay of the
bus (``Delays.of``), for round trips up to ``FULL_FORCE_RTT``; beyond it the wall fades
faster than τ grows, to nothing at ``NO_FORCE_RTT``. The observer (F3) stands at the
leader's joints and needs to know nothing of the way.
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
    """The newest state received from the robot.

    Attributes:
        heard_ns: Time of arrival, our time, [ns].
        is_following: The robot followed this leader.
        share: Share that is rendered, given its age, 0 … 1.
        hands: What held hands back, by their place among the leader's limbs.
    """

    heard_ns: int
    is_following: bool
    share: float
    hands: dict[int, HeldHand]


class FollowerAfar:
    """Stands where ``FollowerSide`` does, for a leader whose robot is far away.

    ``hear`` is called by whoever has the link; all else by the feedback's thread.
    """

    clearance, is_near = math.inf, False
    q_robot = _NOTHING, _NOTHING, _NOTHING

    def __init__(self) -> None:
        self._told = Told(0, False, 0.0, {})
        self._rows: list[slice] = []
        self._n = 0
        self._age = 0.0

    def list_poses(self, limbs: Sequence[LeaderLimb]) -> list[PoseAfar]:
        """Take the leader's limbs; return where each one's hand is led."""
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
        """Take what came of the robot.

        Args:
            now_ns: Our time, [ns].
            age_ns: How old our motion is that the robot had when it spoke; None: nobody
                knows, [ns].
            hands: What holds it.
            is_following: It follows this leader.
        """
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
        """Return how much of a contact would be rendered at this time, 0 … 1."""
        told = self._told
        is_fresh = now_ns - told.heard_ns <= SILENT_NS
        return told.share if is_fresh and told.is_following else 0.0

    def find_hand(self, place: int) -> HeldHand | None:
        """Return what holds the hand of a limb, by its place; None: nothing."""
        return self._told.hands.get(place)

    def update(self, status: Record) -> None:
        """Take a status of the gate: there is no gate on this host."""

    def is_following(self, now_ns: int, stale_ns: int) -> bool:  # noqa: ARG002 - a way is longer
        """Whether the robot follows, near enough to be felt, and was heard of."""
        return self.find_share(now_ns) > 0.0

    def find_free(self) -> npt.NDArray[np.bool_]:
        """Return that no joint of the leader has a contact of its own, shape (M,)."""
        return np.ones(self._n, dtype=np.bool_)

    def find_held(self) -> tuple[Vec, Vec]:
        """Return that no joint is held, and how sure it is of each arm; shape (M,)."""
        told, by_part = self._told, np.zeros(self._n)
        for place, hand in told.hands.items():
            if place < len(self._rows):
                by_part[self._rows[place]] = told.share * hand.share
        return np.zeros(self._n), by_part

    def find_gate_held(self, q: Vec, dt: float) -> Vec:  # noqa: ARG002 - it is far away
        """Return that nobody knows whether the gate holds back, shape (M,)."""
        return np.zeros(self._n)

    def mirror(self) -> FollowerInLeaderJoints:
        """Return that no joint of the robot stands for one of the leader's."""
        return FollowerInLeaderJoints(*np.full((4, self._n), np.nan))


class PoseAfar:
    """Pose mirror of one limb of a remote robot; stands in for ``PoseMirror``.

    Attributes:
        is_driving: The limb's pose drives.
        is_scaled: ``retarget.scale`` counts; it is undone beside the robot.
    """

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
        """Return how far the hand is from where the robot is held, and in which way."""
        hand = self._follower.find_hand(self._place)
        if hand is None:
            return NOWHERE
        T, back = pin.XYZQUATToSE3(hand.pose), at.R.T
        moved, turned = T.translation - at.p, pin.log3(T.rotation @ back)
        away = np.concatenate([back @ moved, back @ turned])
        way = np.concatenate([back @ hand.way[:3], back @ hand.way[3:]])
        return Displacements(np.zeros(6), away, way)
