"""Requests of an operator, made by key, page or device button.

A new key is a row of ``OPERATOR_KEYS``, a last field of ``Actions`` (recordings and
links hold the first six) and a row of docs/operating.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Actions(NamedTuple):
    """Counts of the operator's requests, described in ``OPERATOR_KEYS``.

    ``engage`` also toggles the clutch; a second ``quit`` skips the park.
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
    subtask: int = 0
    mistake: int = 0

    def since(self, before: Actions) -> Actions:
        """Return the requests after ``before``."""
        return Actions(*(now - then for now, then in zip(self, before, strict=True)))


Place = Literal["terminal", "header", "stopped", "episode", "teach", "field"]
"""Parts of the page where a key has a button; ``field``: it goes to a text field of the
page; ``terminal``: the page has no such key."""


class OperatorKey(NamedTuple):
    """A key of the operator, at the terminal and the page.

    ``name`` is a field of ``Actions``, ``task`` or ``note``.
    """

    name: str
    key: str
    help: str
    place: Place
    label: str = ""
    tip: str = ""
    is_vain_stopped: bool = False
    needs_episode: bool = False

    @property
    def cap(self) -> str:
        """Label of the key cap."""
        return "Space" if self.key == " " else self.key


OPERATOR_KEYS = (
    OperatorKey(
        "engage", "Enter", "engage/pause", "episode", "Start",
        "start an episode; pause it and go on", is_vain_stopped=True,
    ),
    OperatorKey(
        "stop", " ", "STOP", "header", "STOP", "stop now, in every state, and latch it",
    ),
    OperatorKey(
        "next_episode", "n", "next", "episode", "End",
        "end the episode and keep it; after a stop go home", is_vain_stopped=True,
    ),
    OperatorKey(
        "success", "+", "success", "episode", "Success",
        "end the episode, keep it, the task was done", needs_episode=True,
    ),
    OperatorKey(
        "failure", "-", "failure", "episode", "Failure",
        "end the episode, keep it, the task was not done", needs_episode=True,
    ),
    OperatorKey(
        "discard", "x", "discard", "episode", "Discard",
        "end the episode and discard it", needs_episode=True,
    ),
    OperatorKey(
        "redo", "b", "back, to redo", "episode", "Redo",
        "end the episode and discard it, to do it again", needs_episode=True,
    ),
    OperatorKey(
        "subtask", ">", "next subtask", "episode", "Next subtask",
        "the next part of the task begins", is_vain_stopped=True, needs_episode=True,
    ),
    OperatorKey(
        "mistake", "!", "mistake", "episode", "Mistake",
        "mark a mistake; the episode goes on", needs_episode=True,
    ),
    OperatorKey("task", "t", "task of the next episode", "field"),
    OperatorKey("note", "#", "note", "field"),
    OperatorKey(
        "reposture", "p", "another posture", "episode", "Other posture",
        "take the posture that is offered",
    ),
    OperatorKey(
        "keep", "e", "keep this pose", "teach", "Keep this pose",
        "add the robot's pose to the kept ones",
    ),
    OperatorKey(
        "play", "y", "play kept poses", "teach", "Play kept poses",
        "play the kept poses, or end that",
    ),
    OperatorKey(
        "clear", "c", "clear a stop", "stopped", "Release",
        "clear the stop; it moves nothing",
    ),
    OperatorKey("quit", "q", "quit", "terminal"),
)  # fmt: skip
"""Every key of any session, in the order in which an operator reads them."""

KEY_CAPS: Mapping[str, str] = {row.name: row.cap for row in OPERATOR_KEYS}
"""Letters of the key cap of each action or text."""
PAGE_KEYS = tuple(row for row in OPERATOR_KEYS if row.place != "terminal")
PAGE_ACTIONS = frozenset(row.name for row in PAGE_KEYS if row.place != "field")
"""Actions that a page may ask for."""
