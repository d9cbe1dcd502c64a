"""Robot's side of a remote leader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample
from paprle.link.follower_end import FollowerEnd
from paprle.link.guards import Guard
from paprle.link.mirror import LEADER_CUT
from paprle.link.remote_leader.capture_guard import CaptureGuard
from paprle.link.remote_leader.error_report import ErrorsGuard
from paprle.link.remote_leader.robot_view import pack_view

MOST_RATE = 100.0
"""Captures a second that cross, [Hz], chosen: reconstruction makes the rest."""
_CONTENT_AGE = 0.2  # [s] spec: safety.md A2, the longest that anything may be told
_FORMAT = "5"  # of ``captures``, ``robot_view`` and ``error_report`` beside this file
_GONE_NS = 5_000_000_000  # [ns] chosen: then somebody else may come
_TELL_NS = 5_000_000_000  # [ns] chosen: refusals come by the hundred
_N_BYES = 5  # chosen: some may be lost
_REMEDY = (
    "install the same paprle on both hosts, and give leader=remote at the robot what "
    "`paprle lead` says it gives"
)


def make_far_info(info: LeaderInfo, rate: float = MOST_RATE) -> LeaderInfo:
    """Return a leader's info as it crosses, at most ``rate`` captures, [Hz]."""
    has_arms = bool(info.arms)
    return LeaderInfo(
        limbs=info.limbs,
        emits="pose" if has_arms else info.emits,
        joint_names={} if has_arms else info.joint_names,
        axes=info.axes,
        axis_speeds=info.axis_speeds,
        is_absolute=info.is_absolute,
        relative=info.relative,
        is_human=info.is_human,
        has_gripper=info.has_gripper,
        has_deadman=info.has_deadman,
        has_trigger=info.has_trigger,
        has_buttons=True,
        rate=min(info.rate, rate),
        sampling=Sampling("ordered", _CONTENT_AGE),
        renders="rumble",
        is_far=True,
    )


def list_absolute(info: LeaderInfo) -> list[str]:
    """Return limbs with poses in the robot's base."""
    posed = filter(info.emits_poses, info.limbs)
    return [limb for limb in posed if info.emits_places(limb)]


def make_leader_terms(info: LeaderInfo) -> Mapping[str, str]:
    """Return the shared terms on captures."""
    names = {**info.joint_names, **info.axes}
    absolute = list_absolute(info)
    sizes = [str(len(names.get(limb, ()))) for limb in info.limbs]
    return {
        "captures": _FORMAT,
        "limbs": str(len(info.limbs)),
        "emits": info.emits,
        info.emits: "+".join(sizes) if names else "each",
        "gripper": str(info.has_gripper).lower(),
        "absolute": "+".join(str(limb in absolute).lower() for limb in info.limbs),
        "deadman": str(info.has_deadman).lower(),
        "trigger": str(info.has_trigger).lower(),
    }


class RobotSide:
    """Robot's end of the link, without socket or clock."""

    def __init__(self, key: bytes, info: LeaderInfo) -> None:
        self.guard, self.errors = CaptureGuard(info), ErrorsGuard()
        guards: dict[str, Guard] = {"sample": self.guard, "errors": self.errors}
        terms = make_leader_terms(info)
        self.end = FollowerEnd(key, LEADER_CUT, guards, terms, rate=info.rate)
        self.end.remedy = _REMEDY
        self.told: Feedback | None = None
        self._sample: LeaderSample | None = None
        self._lived_ns = 0
        self._was_open = False
        self._words: list[str] = []
        self._counted: Counter[str] = Counter()
        self._counted_ns = 0

    def step(self, data: list[bytes], now_ns: int) -> LeaderSample | None:
        """Take datagrams; return the next or last sample."""
        end = self.end
        end.receive(data, now_ns)
        if end.is_open != self._was_open:
            self._was_open = end.is_open
            self._words.append(f"an operator {'came' if end.is_open else 'left'}")
            end.send_report({"event": "ready"}, now_ns)
        is_gone = end.heard_ns and now_ns - end.heard_ns > _GONE_NS
        if end.heard_ns and (is_gone or not end.is_open):
            if end.is_open:
                self._words.append("an operator has been silent for 5 s, and may leave")
            end.close()
            self._was_open = False
        self._release(now_ns)
        self._sample = self.guard.pop() or self._sample
        return self._sample

    def _release(self, now_ns: int) -> None:
        is_unheard = self.end.is_unheard(now_ns)
        if is_unheard == self.guard.is_released:
            return
        self.guard.set_released(is_released=is_unheard)
        age = self.end.clock.find_echo_age(now_ns) * 1e-9
        self._words.append(
            f"the operator confirmed no state of the robot for {age:.1f} s: released"
            if is_unheard
            else "the operator confirms state of the robot again: engage to go on"
        )

    def take_life(self) -> bool:
        """Return whether the leader was received anew."""
        lives = self.guard.heard_ns > self._lived_ns
        self._lived_ns = self.guard.heard_ns
        return lives

    def send_view(self, view: SessionView, now_ns: int) -> None:
        """Send the session's state."""
        sent_ns = self.guard.find_sent(view.captured_ns)
        packed = pack_view(view, self.told, sent_ns, self.guard.n_lost)
        self.end.send("tick", packed, now_ns)

    def send_disconnects(self, now_ns: int) -> None:
        """Announce the end of the session."""
        for _ in range(_N_BYES):
            self.end.send_bye(now_ns)

    def take_outbox(self) -> list[bytes]:
        """Return the datagrams to send, each once."""
        outbox, self.end.outbox = self.end.outbox, []
        return outbox

    def take_words(self, now_ns: int) -> Sequence[str]:
        """Return new notes for the operator."""
        words, self._words = self._words, []
        new = self.end.refused - self._counted
        if new and now_ns - self._counted_ns > _TELL_NS:
            self._counted_ns, self._counted = now_ns, self.end.refused.copy()
            counts = ", ".join(f"{why} {n}" for why, n in sorted(new.items()))
            words.append(f"refused: {counts}")
        return words

    def summarise(self) -> str:
        """Return counts of captures."""
        guard = self.guard
        counts = {"lost": guard.n_lost, "late": guard.n_late, **self.end.refused}
        told = ", ".join(f"{why} {n}" for why, n in counts.items() if n)
        return f"of {guard.n_captured} captures: {told or 'none lost'}"
