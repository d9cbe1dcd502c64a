"""What the operator says with the grippers, by what the session is doing.

There is no dead-man switch: a hand that holds an arm is one. The start signal is also
the deliberate press that S3 asks for after a silence; opened grippers are hands off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaders.puppeteer.signals import CLOSED, HOLD_NS, Hold, step_end, step_start
from paprle.contracts.types import SessionState, Vec

_ENGAGED, _CLUTCHED = SessionState.ENGAGED, SessionState.CLUTCHED
_STOPPED = SessionState.STOPPED
_PRESS_NS = 100_000_000  # chosen: a session sees a press that lasts twenty periods


@dataclass(frozen=True, slots=True)
class Hands:
    """What the operator does at one instant.

    Attributes:
        openings: Opening of every gripper, 0 closed … 1 open.
        arms: Joints of every arm, [rad].
        distances: Largest joint distance of every arm to its reset pose, [rad].
    """

    openings: Sequence[float]
    arms: Sequence[Vec]
    distances: Sequence[float]


@dataclass(frozen=True, slots=True)
class Says:
    """What that means: the fields of that name in a sample."""

    engaged: bool
    start: bool = False
    end: bool = False


class Grip:
    """Remembers how long what is held."""

    def __init__(self, box: float) -> None:
        self._box = box
        self._hold = Hold()
        self._was_engaged = False
        self._must_ask = False

    def lose(self) -> None:
        """Note that an arm is lost: it does not engage again by coming back (S3)."""
        self._must_ask = True

    def step(self, state: SessionState | None, hands: Hands, now_ns: int) -> Says:
        """Read the hands at this moment.

        Args:
            state: The session's; None before it is known.
            hands: What they do.
            now_ns: This moment, [ns].

        Returns:
            What they say.
        """
        is_engaged = state == _ENGAGED
        if is_engaged != self._was_engaged:
            self._was_engaged, self._hold = is_engaged, Hold()
        if state not in {_ENGAGED, _CLUTCHED}:
            self._must_ask = False
        openings = hands.openings
        if is_engaged:
            self._hold, end = step_end(
                self._hold, openings, hands.distances, self._box, now_ns
            )
            return Says(engaged=not self._must_ask, end=end)
        self._hold, start = step_start(self._hold, openings, hands.arms, now_ns)
        if state == _STOPPED:
            is_held = any(1.0 - opening > CLOSED for opening in openings)
            return Says(engaged=is_held)
        if state != _CLUTCHED:
            return Says(engaged=True, start=start)
        self._must_ask = self._must_ask and not start
        return Says(engaged=not self._must_ask and not self._is_pressing(now_ns))

    def _is_pressing(self, now_ns: int) -> bool:
        """Whether the signal is about to be complete: the press begins released."""
        since_ns = self._hold.since_ns
        return since_ns is not None and 0 < since_ns + HOLD_NS - now_ns <= _PRESS_NS
