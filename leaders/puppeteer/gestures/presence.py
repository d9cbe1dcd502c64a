"""Presence of a rig's arms; pure.

A lost arm returns only while the session aligns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

_LONGEST_LAG_NS = 500_000_000
"""An arm whose newest reading is older than this, compared with those of other ports,
is stale, [ns]. chosen: longer than a host pauses; A1 brakes before."""


class Presence(Enum):
    """Presence of an arm."""

    UNSEEN = "no reading yet"
    PRESENT = "answers, and drives"
    STALE = "answers, but its newest reading is older than those of other ports"
    ABSENT = "its port is closed, or a servo is silent"
    RETURNING = "answers again, and waits for the session to stop driving"


class Event(Enum):
    """Result of a reading for an arm."""

    ANSWERS = "all its servos answer, and nobody drives"
    ANSWERS_WHILE_ENGAGED = "all its servos answer, and the session drives"
    LAGS = "its port has fallen behind the others"
    IS_SILENT = "its port is closed, or a servo does not answer"


TRANSITIONS: Mapping[tuple[Presence, Event], Presence] = MappingProxyType(
    {
        (Presence.UNSEEN, Event.ANSWERS): Presence.PRESENT,
        (Presence.UNSEEN, Event.ANSWERS_WHILE_ENGAGED): Presence.PRESENT,
        (Presence.UNSEEN, Event.LAGS): Presence.STALE,
        (Presence.UNSEEN, Event.IS_SILENT): Presence.ABSENT,
        (Presence.PRESENT, Event.ANSWERS): Presence.PRESENT,
        (Presence.PRESENT, Event.ANSWERS_WHILE_ENGAGED): Presence.PRESENT,
        (Presence.PRESENT, Event.LAGS): Presence.STALE,
        (Presence.PRESENT, Event.IS_SILENT): Presence.ABSENT,
        (Presence.STALE, Event.ANSWERS): Presence.PRESENT,
        (Presence.STALE, Event.ANSWERS_WHILE_ENGAGED): Presence.RETURNING,
        (Presence.STALE, Event.LAGS): Presence.STALE,
        (Presence.STALE, Event.IS_SILENT): Presence.ABSENT,
        (Presence.ABSENT, Event.ANSWERS): Presence.PRESENT,
        (Presence.ABSENT, Event.ANSWERS_WHILE_ENGAGED): Presence.RETURNING,
        (Presence.ABSENT, Event.LAGS): Presence.STALE,
        (Presence.ABSENT, Event.IS_SILENT): Presence.ABSENT,
        (Presence.RETURNING, Event.ANSWERS): Presence.PRESENT,
        (Presence.RETURNING, Event.ANSWERS_WHILE_ENGAGED): Presence.RETURNING,
        (Presence.RETURNING, Event.LAGS): Presence.STALE,
        (Presence.RETURNING, Event.IS_SILENT): Presence.ABSENT,
    }
)
_LOST = frozenset({Presence.STALE, Presence.ABSENT, Presence.RETURNING})


class Look(NamedTuple):
    """An arm in its port's newest snapshot.

    Attributes:
        stamp_ns: Of the request, [ns].
        is_answering: All its servos answered.
    """

    seq: int
    stamp_ns: int
    is_answering: bool


class ArmPresence:
    """Presence of every arm, and times of samples.

    Attributes:
        lost: Missing arms that may not drive.
    """

    def __init__(self, arms: Iterable[str]) -> None:
        self.states = dict.fromkeys(arms, Presence.UNSEEN)
        self.lost: frozenset[str] = frozenset()
        self._sampled: Mapping[str, int] = {}

    def update(self, looks: Mapping[str, Look], *, is_engaged: bool) -> bool:
        """Return whether a sample is due.

        It is once all driving arms are new, or one was lost or returned.
        """
        newest_ns = max(look.stamp_ns for look in looks.values())
        for arm, look in looks.items():
            event = _judge(look, newest_ns, is_engaged=is_engaged)
            self.states[arm] = TRANSITIONS[self.states[arm], event]
        lost = frozenset(arm for arm, state in self.states.items() if state in _LOST)
        there = {arm: look.seq for arm, look in looks.items() if arm not in lost}
        is_new = all(seq != self._sampled.get(arm) for arm, seq in there.items())
        is_due = lost != self.lost or (bool(there) and is_new)
        self.lost = lost
        if is_due:
            self._sampled = there
        return is_due


def _judge(look: Look, newest_ns: int, *, is_engaged: bool) -> Event:
    if not look.is_answering:
        return Event.IS_SILENT
    if newest_ns - look.stamp_ns > _LONGEST_LAG_NS:
        return Event.LAGS
    return Event.ANSWERS_WHILE_ENGAGED if is_engaged else Event.ANSWERS
