"""A leader whose session is at the robot: captures go there, its words come back."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample
from paprle.link.capture_sender import CaptureSender
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import LEADER_CUT
from paprle.link.robot_side import make_leader_terms
from paprle.link.robot_view import RobotView, unpack_view

_SILENT_NS = 6_000_000_000  # [ns] chosen: the robot has given us up a second ago
_N_BYES = 5  # chosen: some may be lost


def describe_remote(info: LeaderInfo, *, has_forces: bool = False) -> str:
    """Return the words that name such a leader at the robot.

    Args:
        info: What crosses (``make_far_info``).
        has_forces: Its operator feels what holds the robot.
    """
    words = ["leader=remote", f"leader.limbs='[{', '.join(info.limbs)}]'"]
    words += [f"leader.gripper={str(info.has_gripper).lower()}"]
    words += ["leader.forces=true"] if has_forces else []
    words += [] if info.is_human else ["leader.human=false"]
    words += [] if info.emits == "pose" else [f"leader.emits={info.emits}"]
    for key, names in (("joints", info.joint_names), ("axes", info.axes)):
        words += [
            f"leader.{key}.{limb}='[{', '.join(own)}]'" for limb, own in names.items()
        ]
    return " ".join(words)


class OperatorSide:
    """The operator's end of the link, without a socket or a clock.

    Attributes:
        end: The end of the link.
        sender: Sends captures.
        view: What the session did last; None before it has said anything.
        view_ns: When that came, our time, [ns].
    """

    def __init__(self, key: bytes, info: LeaderInfo, repeats: int) -> None:
        """Make it.

        Args:
            key: The secret that both hosts share.
            info: What crosses (``make_far_info``).
            repeats: How many captures before the newest share its datagram.
        """
        self.view: RobotView | None = None
        self.view_ns = 0
        self._key, self._info, self._repeats = key, info, repeats
        self._begin()

    def step(
        self, data: list[bytes], sample: LeaderSample | None, now_ns: int
    ) -> RobotView | None:
        """Take datagrams, send the newest sample; return what came of the session."""
        end = self.end
        end.take(data, now_ns)
        is_silent = end.heard_ns and now_ns - end.heard_ns > _SILENT_NS
        if end.has_left or is_silent:  # the next session there knows nothing of this
            self._begin()
            return None
        self.sender.step(sample, now_ns)
        packet = end.whole.pop("tick", None)
        view = None if packet is None else unpack_view(packet.payload)
        if view is not None:
            self.view, self.view_ns = view, now_ns
        return view

    def _begin(self) -> None:
        terms: Mapping[str, str] = make_leader_terms(self._info)
        self.end = LeaderEnd(self._key, LEADER_CUT, terms, is_recorded=False)
        self.sender = CaptureSender(self.end, self._info, self._repeats)

    def say_goodbye(self, now_ns: int) -> None:
        """Say that the operator leaves."""
        for _ in range(_N_BYES):
            self.end.send_bye(now_ns)

    def take_outbox(self) -> list[bytes]:
        """Return the datagrams to send; each is returned once."""
        outbox, self.end.outbox = self.end.outbox, []
        return outbox


def make_feedback(view: RobotView, now_ns: int) -> Feedback:
    """Return what lets the operator's device know how its session is."""
    return Feedback(
        stamp_ns=now_ns,
        state=view.state,
        episode=view.episode,
        is_engaged=view.is_engaged,
        rumble=view.rumble,
        touch=view.touch,
        warning=view.warning,
    )
