"""Feedback of a leader with motors whose robot is remote.

Contact is limited by the round trip (``paprle.haptics.remote_follower``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paprle.config import Resolved
from paprle.contracts.plugins import Leader
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.types import Feedback, GateState, LeaderInfo, SessionState
from paprle.haptics.haptics import Haptics
from paprle.haptics.laws import make_laws
from paprle.haptics.remote_follower import FULL_FORCE_RTT, NO_FORCE_RTT, FollowerAfar
from paprle.haptics.thread import FeedbackThread, Sources
from paprle.hosts.plan import make_feedback
from paprle.ipc.records import make_layout
from paprle.link.remote_leader.operator_side import make_feedback as make_told
from paprle.link.remote_leader.robot_view import RobotView
from paprle.retargeting.pairing import Pairing
from paprle.robot import RobotModel
from paprle.robot.empty_robot import NOBODY
from paprle.robot.urdf import read_urdf

_OF_A_HAND = frozenset({"contact", "damping", "wall"})
"""Laws of the follower that need no more than what holds the hand."""


def make_far_haptics(
    settings: FeedbackSettings, leader: LeaderInfo
) -> tuple[Haptics, FollowerAfar]:
    """Return a leader's feedback, and the input for the robot's state.

    Raises:
        ConfigError: If laws are above the bound (F2), or settings name unknown parts.
    """
    off = {
        one.name: None
        for one in make_laws(settings)
        if one.law.needs_follower and one.name not in _OF_A_HAND
    }
    rig = replace(settings.rig, lags={}, drive_stiffness={})
    own = replace(settings, laws=replace(settings.laws, **off), rig=rig)
    nobody = RobotModel(NOBODY, {}, read_urdf(NOBODY.urdf_path))
    pairing, layout = Pairing(limbs={}, arms={}), make_layout(NOBODY, leader)
    afar = FollowerAfar()
    haptics = Haptics(own, nobody, leader, pairing, layout, afar)
    haptics.check_stability()
    return haptics, afar


class Forces:
    """The feedback thread of ``paprle lead``."""

    def __init__(self, resolved: Resolved, leader: Leader) -> None:
        """Prepare; the leader is closed.

        Raises:
            ConfigError: If its laws would not be stable.
        """
        settings = make_feedback(resolved, leader.info)
        self._haptics, self._follower = make_far_haptics(settings, leader.info)
        self._told = Feedback(
            stamp_ns=0, state=SessionState.WAITING, episode=0, is_engaged=False
        )
        self._words: list[str] = []
        self._thread = FeedbackThread(
            self._haptics,
            leader,
            Sources(lambda: self._told, lambda: None, lambda: None),
            settings.rate,
            lambda text: self._words.append(f"feedback: {text}"),
        )

    @property
    def notes(self) -> Sequence[str]:
        """Notes on the feedback for the operator."""
        return (
            f"{self._haptics.describe()}; contact is felt up to "
            f"{1e3 * FULL_FORCE_RTT:.0f} ms there and back, fading to nothing at "
            f"{1e3 * NO_FORCE_RTT:.0f} ms",
        )

    def start(self) -> None:
        """Start rendering; the leader is open."""
        self._thread.start()

    def step(self, view: RobotView | None, now_ns: int) -> None:
        """Take a view of the robot, or keep the last."""
        if view is None:  # the leader is told that this host lives
            self._told = replace(self._told, stamp_ns=now_ns)
            return
        follows = view.is_engaged and view.gate_state is GateState.ENGAGED
        age_ns = now_ns - view.captured_ns if view.captured_ns else None
        self._follower.hear(now_ns, age_ns, view.holds, is_following=follows)
        self._told = make_told(view, now_ns)

    def describe(self, now_ns: int) -> str:
        """Return the rendered share of contact as text."""
        return f"contact felt {self._follower.find_share(now_ns):.0%}"

    def take_words(self) -> list[str]:
        """Return new problems."""
        words, self._words = self._words, []
        return words

    def close(self) -> str:
        """End the thread; return a summary of its timing."""
        self._thread.close()
        return self._thread.summarise()
