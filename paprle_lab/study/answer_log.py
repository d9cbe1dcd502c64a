"""Results and answers of participants: a file a step, written whole, never twice.

No name and no address is kept: a participant is a pseudonym, and the list that pairs
those with people is kept elsewhere. Only recordings state when they were made.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paprle.contracts.errors import (
    ConfigError,
    RecordingError,
    SessionError,
    suggest,
)
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.study.plan import Step, Study

Json = dict[str, Any]


@dataclass(frozen=True)
class Book:
    """The files of one participant.

    Attributes:
        study: The study.
        participant: The pseudonym.
    """

    study: Study
    participant: str

    def __post_init__(self) -> None:
        """Refuse a pseudonym that the study does not have.

        Raises:
            ConfigError: If there is no such participant.
        """
        if self.participant not in self.study.orders:
            told = suggest(self.participant, self.study.orders, "participants")
            raise ConfigError(
                f"study: unknown participant '{self.participant}'; {told}"
            )

    @property
    def folder(self) -> Path:
        """Folder of the participant."""
        return self.study.folder / "participants" / self.participant

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the participant from being led twice at once, until this ends.

        Yields:
            Once nobody else leads them.

        Raises:
            SessionError: If somebody does.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".led").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as err:
                raise SessionError(
                    f"study: expected one terminal for participant "
                    f"'{self.participant}', got another that leads them; end it first"
                ) from err
            yield

    def find(self, step: Step) -> Path:
        """Return the file of a step, which need not be there."""
        return self.folder / f"{step.name}.json"

    def list_open(self) -> list[Step]:
        """Return the steps that were not done yet, in order."""
        steps = self.study.list_steps(self.participant)
        return [step for step in steps if not self.find(step).exists()]

    def note(self, step: Step, found: Json) -> None:
        """Keep what came of a step.

        Raises:
            ConfigError: If it cannot be written.
        """
        text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(self.find(step), text + "\n")

    def read(self, step: Step) -> Json | None:
        """Return what came of a step; None where it was not done.

        Raises:
            RecordingError: If its file is spoiled.
        """
        path = self.find(step)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as err:
            raise RecordingError(f"{path}: expected a step, got {err}") from err
        if not isinstance(found, dict):
            raise RecordingError(f"{path}: expected a step, got {found!r}")
        return found
