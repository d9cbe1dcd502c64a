"""The status line in words, with the most urgent fact alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from paprle.contracts.operator.state_words import HELD, STATE_WORDS
from paprle.contracts.types import SessionState

_STOP: Final = "stopped: "
_LOST: Final = "LOST"
_GOOD: Final = "link good"
_RECORDS: Final = "REC"
_SHOWN_NS = 5_000_000_000  # [ns] chosen: a missed deadline that is over concerns nobody


class LineFacts(NamedTuple):
    """Everything that a line may show.

    Attributes:
        note: Reason of the state, or the next step.
        held: Reasons why the robot stands.
        short: Reasons why the robot does not follow.
        rest: Facts that matter where nothing else does.
    """

    state: SessionState
    is_still: bool
    note: str
    episode: str
    time: str
    recording: str
    lost: Sequence[str]
    link: str
    held: Sequence[str]
    short: Sequence[str]
    overruns: str
    rest: Sequence[str]


def describe_line(facts: LineFacts, width: int) -> str:
    """Return state, episode, time, recording and the most urgent fact.

    Args:
        facts: Present facts.
        width: Letters that fit; the episode and the time give way to the fact.

    Returns:
        A line that may be longer than ``width`` where the fact alone is.
    """
    is_driving = facts.state is SessionState.ENGAGED
    word = HELD if is_driving and facts.is_still else STATE_WORDS[facts.state].word
    sign = _RECORDS if facts.recording.startswith(_RECORDS) else ""
    urgent = find_urgent(facts)
    choices = (
        (word, facts.episode, facts.time, sign, urgent),
        (word, facts.time, sign, urgent),
        (word, sign, urgent),
    )
    lines = [" · ".join(filter(None, parts)) for parts in choices]
    return next((line for line in lines if len(line) <= width), lines[-1])


def find_urgent(facts: LineFacts) -> str:
    """Return the most urgent fact; may be empty."""
    stop = facts.note if facts.state is SessionState.STOPPED else ""
    is_lost = _LOST in facts.link
    is_poor = not is_lost and not facts.link.startswith(_GOOD)
    ranked = (
        stop.removeprefix(_STOP),
        _describe_failure(facts.recording),
        f"{', '.join(facts.lost)} lost" if facts.lost else "",
        facts.link if is_lost else "",
        *facts.held,
        facts.link if is_poor else "",
        *facts.short,
        facts.overruns,
        facts.note,
        *facts.rest,
    )
    return next(filter(None, ranked), "")


class OverrunCounter:
    """Describes missed deadlines while they are new."""

    def __init__(self) -> None:
        self._n, self._since_ns = 0, 0

    def describe(self, n: int, now_ns: int) -> str:
        """Return the count of ``n`` if it grew within 5 s; else an empty text."""
        if n != self._n:
            self._n, self._since_ns = n, now_ns
        is_new = n > 0 and now_ns - self._since_ns < _SHOWN_NS
        return f"{n} deadlines missed: the computer is busy" if is_new else ""


def _describe_failure(recording: str) -> str:
    if not recording or recording == _RECORDS:
        return ""
    records = recording.removeprefix(f"{_RECORDS}, ")
    return "not recording" if records == recording else records.replace(_LOST, "lost")
