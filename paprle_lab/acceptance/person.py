"""The person at the rig, absent with ``--yes``."""

from __future__ import annotations

import subprocess
import sys
import termios
from collections.abc import Callable, Sequence

from paprle.cli.verb import say
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.text import make_printable

_PATIENCE = 20.0  # [s] chosen: a command that stands in for a hand takes no longer


class Quit(Exception):
    """The person leaves; results so far are kept."""


def read_answer(question: str) -> str:
    """Return a typed line, at the end ``q``."""
    if sys.stdin.isatty():  # keys that led the robot are no answer
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stdout.write(f"{make_printable(question)} ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip() if line else "q"


class Person:
    """Questions to the person at the rig.

    Attributes:
        is_absent: Checks begin unasked; nothing is confirmed.
        n_unconfirmed: Unanswered questions.
    """

    def __init__(
        self, *, is_absent: bool, read: Callable[[str], str] = read_answer
    ) -> None:
        self.is_absent = is_absent
        self.n_unconfirmed = 0
        self._read = read

    def agrees(self, question: str) -> bool:
        """Return whether a check may begin.

        Raises:
            Quit: If the person leaves.
        """
        return self.is_absent or self._choose(f"{question} [y/skip/quit]", "skip")

    def sees(self, question: str) -> bool:
        """Return False if the person denies; an absent one does not.

        Raises:
            Quit: If the person leaves.
        """
        self.n_unconfirmed += self.is_absent
        return self.is_absent or self._choose(f"{question} [y/n/quit]", "no")

    def _choose(self, question: str, other: str) -> bool:
        while True:
            answer = self._read(question).lower()
            if answer and "quit".startswith(answer):
                raise Quit
            if answer and "yes".startswith(answer):
                return True
            if answer and other.startswith(answer):
                return False

    def act(self, text: str, hook: Sequence[str] | None) -> None:
        """Have a person or command act at the rig.

        Raises:
            ConfigError: If the command fails.
        """
        if hook is not None:
            try:
                subprocess.run(hook, timeout=_PATIENCE, check=True)
            except (OSError, subprocess.SubprocessError) as err:
                raise ConfigError(f"accept --hook: {err}") from err
        elif not self.is_absent:
            say(text)

    def name(self, question: str) -> str:
        """Return a typed line; empty without a person."""
        return "" if self.is_absent else self._read(question)
