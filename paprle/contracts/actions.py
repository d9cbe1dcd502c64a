"""Requests of an operator, made by key, page or a button of a device."""

from __future__ import annotations

from typing import NamedTuple


class Actions(NamedTuple):
    """Counters of the operator's requests so far, one for each action.

    Attributes:
        engage: Start an episode, or open and close the clutch.
        stop: Stop now, and latch it.
        next_episode: End the episode and keep it.
        discard: End the episode and mark it discarded.
        clear: Clear a latched stop; moves nothing.
        quit: End the session; a second one skips the park.
        redo: End the episode, mark it discarded, and do the same one again.
        success: End the episode, keep it and mark that the task was done.
        failure: End the episode, keep it and mark that the task was not done.
        reposture: Change to the posture that is offered.
        keep: Keep the pose that the robot is in (leader ``teach``).
        play: Play the poses that were kept, or end that.
    """

    engage: int = 0
    stop: int = 0
    next_episode: int = 0
    discard: int = 0
    clear: int = 0
    quit: int = 0
    redo: int = 0
    success: int = 0
    failure: int = 0
    reposture: int = 0
    keep: int = 0
    play: int = 0

    def since(self, before: Actions) -> Actions:
        """Return what was asked for after ``before``."""
        return Actions(*(now - then for now, then in zip(self, before, strict=True)))
