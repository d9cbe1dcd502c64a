"""Questions at the terminal with defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paprle.cli.verb import say
from paprle_lab.acceptance.person import Quit, read_answer

_LEAVE = "q leaves"


class Dialogue:
    """The person at the terminal; ``is_brief``: all defaults are taken."""

    def __init__(
        self,
        *,
        is_brief: bool = False,
        read: Callable[[str], str] = read_answer,
        say: Callable[[str], None] = say,
    ) -> None:
        self.is_brief = is_brief
        self.say = say
        self._read = read

    def title(self, number: int, text: str, what: str) -> None:
        """Print the title and content of a step."""
        self.say(f"\n{number}. {text}\n   {what}")

    def ask(self, question: str, default: str = "") -> str:
        """Return a typed line, or the default.

        Raises:
            Quit: If the person leaves.
        """
        if self.is_brief:
            return default
        shown = f" [{default}]" if default else ""
        answer = self._read(f"{question}{shown} ({_LEAVE}):")
        if answer.lower() == "q":
            raise Quit
        return answer or default

    def agrees(self, question: str, *, default: bool = True) -> bool:
        """Return whether the person agrees; raises as ``ask``."""
        while True:
            answer = self.ask(f"{question} (y/n)", "y" if default else "n").lower()
            if answer and ("yes".startswith(answer) or "no".startswith(answer)):
                return answer.startswith("y")
            self.say("y or n")

    def choose(self, question: str, options: Sequence[str], default: int = 0) -> int:
        """Return the index of the chosen option; raises as ``ask``."""
        self.say(question)
        for number, option in enumerate(options, 1):
            self.say(f"   {number}  {option}")
        while True:
            answer = self.ask("Number", str(default + 1))
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return int(answer) - 1
            self.say(f"expected a number from 1 to {len(options)}, got '{answer}'")


__all__ = ["Dialogue", "Quit"]
