"""Answers of participants: one file per step, written once."""

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
    """The files of one participant."""

    study: Study
    participant: str

    def __post_init__(self) -> None:
        """Check the pseudonym.

        Raises:
            ConfigError: If unknown.
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
        """Lock the participant.

        Raises:
            SessionError: If already locked.
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
        """Return the path of a step's file."""
        return self.folder / f"{step.name}.json"

    def list_open(self) -> list[Step]:
        """Return the open steps."""
        steps = self.study.list_steps(self.participant)
        return [step for step in steps if not self.find(step).exists()]

    def note(self, step: Step, found: Json) -> None:
        """Write a step's result.

        Raises:
            ConfigError: If writing fails.
        """
        text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(self.find(step), text + "\n")

    def read(self, step: Step) -> Json | None:
        """Return a step's result, or None.

        Raises:
            RecordingError: If damaged.
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
