"""Pose and holding causes for a remote leader."""

from __future__ import annotations

from paprle.config import Resolved
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.session_view import HeldHand
from paprle.contracts.types import LeaderInfo
from paprle.haptics.contact.contact_direction import HeldHands
from paprle.hosts.factories import make_leader_info
from paprle.hosts.plan import make_robot, make_through
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.ports import split_name
from paprle.ipc.process import Role
from paprle.ipc.records import Layout, Record
from paprle.retargeting.anchor_record import make_anchors_dtype, unpack_anchors
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import make_pairing


class Holding:
    """Reads gate statuses in a leader's process."""

    def __init__(
        self, role: Role, resolved: Resolved, leader: LeaderInfo, layout: Layout
    ) -> None:
        _, name = split_name(role.payload["name"])
        robot = make_robot(resolved)
        group = leader if name == ALONE else make_leader_info(resolved, robot.info)
        arms = load_arms(group, make_through(resolved))
        pairing = make_pairing(robot, group, resolved.retarget, arms)
        self._hands = HeldHands(
            resolved.feedback, robot, leader, pairing.of_leader(name), layout
        )
        anchors = Mailbox(make_anchors_dtype(len(layout.limbs)), role.fds["anchors"])
        self._anchors = Newest(anchors, unpack_anchors)
        self._status = Newest(Mailbox(layout.status, role.fds["status"]), _keep)
        self._seen: Record | None = None

    def look(self) -> None:
        """Read the newest status."""
        status = self._status.read()
        if status is not None and status is not self._seen:
            self._seen = status
            self._hands.update(status)

    def find(self, now_ns: int) -> tuple[HeldHand, ...]:
        """Return leading hands with holding causes."""
        self.look()
        return self._hands.find(now_ns, self._anchors.read())


def _keep(record: Record) -> Record:
    return record
