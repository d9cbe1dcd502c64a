"""The feedback thread of a leader with motors."""

from __future__ import annotations

from collections.abc import Callable

from paprle.config import Resolved
from paprle.config.layers import TRIPLE
from paprle.config.measured import say_others
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.plugins import Leader
from paprle.contracts.types import Feedback
from paprle.haptics.haptics import make_haptics
from paprle.haptics.thread import FeedbackThread, Sources
from paprle.hosts.factories import make_leader_info
from paprle.hosts.plan import make_feedback, make_robot, make_through
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.ports import split_name
from paprle.ipc.process import Role
from paprle.ipc.records import Layout, Record
from paprle.retargeting.anchor_record import make_anchors_dtype, unpack_anchors


def make_thread(
    resolved: Resolved,
    leader: Leader,
    layout: Layout,
    role: Role,
    read_feedback: Callable[[], Feedback | None],
) -> tuple[FeedbackThread, list[str]]:
    """Return the feedback thread, not started, and notes.

    Raises:
        ConfigError: If its laws would not be stable.
    """
    _, name = split_name(role.payload["name"])
    robot = make_robot(resolved)
    haptics = make_haptics(
        make_feedback(resolved, leader.info),
        robot,
        leader.info if name == ALONE else make_leader_info(resolved, robot.info),
        resolved.retarget,
        layout,
        make_through(resolved),
        name,
    )
    anchors = Mailbox(make_anchors_dtype(len(layout.limbs)), role.fds["anchors"])
    status = Mailbox(layout.status, role.fds["status"])
    thread = FeedbackThread(
        haptics,
        leader,
        Sources(
            read_feedback,
            Newest(anchors, unpack_anchors).read,
            Newest(status, _keep).read,
        ),
        resolved.feedback.rate,
        lambda text: role.report("trouble", message=f"feedback: {text}"),
    )
    return thread, [haptics.describe(), *_say_measured(resolved, haptics.is_measured)]


def _say_measured(resolved: Resolved, is_measured: bool) -> list[str]:
    names = {part: getattr(resolved, f"{part}_name") for part in TRIPLE}
    others = list(say_others(resolved.feedback.rig.measured_with, names))
    if is_measured or others:
        return others
    triple = " ".join(f"{part}={name}" for part, name in names.items())
    return [f"feedback: measure this rig to feel more: paprle identify {triple}"]


def _keep(record: Record) -> Record:
    return record
