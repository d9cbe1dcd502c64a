"""Pose and held displacement of a robot in a hand's axes.

With R_cmd = L R K, p_cmd = p₀ + s L (p − p_l0) the hand's pose is R = Lᵀ R_f Kᵀ,
p = p_l0 + Lᵀ (p_f − p₀) / s.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.session_view import HeldHand
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.haptics.follower_side import FollowerSide
from paprle.haptics.mirror import JointMirror, find_carry_back
from paprle.ipc.records import Layout, Record
from paprle.retargeting.pairing import Pairing
from paprle.retargeting.state import Anchors
from paprle.robot import Limb, RobotModel

_LEAST = 1e-4  # [m] and [rad] chosen: as the law ``contact`` has it


class HeldHands:
    """Finder of held hands."""

    def __init__(
        self,
        settings: FeedbackSettings,
        robot: RobotModel,
        leader: LeaderInfo,
        pairing: Pairing,
        layout: Layout,
    ) -> None:
        self.follower = FollowerSide(layout, settings.rig, JointMirror([], 0), [])
        self._stale_ns = round(1e9 * settings.stale_after)
        places = {name: i for i, name in enumerate(robot.limbs)}
        self._driven: list[tuple[int, int, Limb]] = [
            (place, places[name], robot.limbs[name])
            for place, leader_limb in enumerate(leader.limbs)
            for name, _ in pairing.list_driven(leader_limb)
            if find_carry_back(pairing, name).is_by_pose
        ]

    def update(self, status: Record) -> None:
        """Take a status of the gate."""
        self.follower.update(status)

    def find(self, now_ns: int, anchors: Anchors | None) -> tuple[HeldHand, ...]:
        """Return each driving hand's held state."""
        if anchors is None or not self.follower.is_following(now_ns, self._stale_ns):
            return ()
        found: dict[int, HeldHand] = {}
        held = np.abs(self.follower.model.contact.held)
        for hand, place, limb in self._driven:
            share = float(held[limb.indices].max(initial=0.0))
            is_surest = hand not in found or share > found[hand].share
            if is_surest and np.isfinite(anchors.p_leader0[place, 0]):
                found[hand] = self._find_one(hand, share, limb, anchors, place)
        return tuple(found.values())

    def _find_one(
        self, hand: int, share: float, limb: Limb, anchors: Anchors, place: int
    ) -> HeldHand:
        q_meas, q_free = self.follower.q_meas, self.follower.model.q
        here, free = limb.fk(limb.take(q_meas)), limb.fk(limb.take(q_free))
        back = anchors.L[place].T
        p = back @ (here.translation - anchors.p_0[place]) / anchors.scale[place]
        R = back @ here.rotation @ anchors.K[place].T
        pose = pin.SE3ToXYZQUAT(pin.SE3(R, anchors.p_leader0[place] + p))
        way = np.concatenate(
            [
                _find_way(back @ (here.translation - free.translation)),
                _find_way(back @ pin.log3(here.rotation @ free.rotation.T)),
            ]
        )
        turn = pin.Quaternion(anchors.L[place]).coeffs()
        return HeldHand(hand, share, pose, way, place, turn, anchors.scale[place])


def _find_way(moved: Vec) -> Vec:
    length = float(np.linalg.norm(moved))
    return moved / length if length > _LEAST else 0.0 * moved
