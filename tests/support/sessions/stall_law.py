"""A feedback law that stalls its thread once: asleep, or busy with Python code."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="Stalls once.",
    config="stall_law:StallConfig",
    factory="stall_law:Stall",
)


def install(folder: Path) -> list[str]:
    """Write its entry point; return what belongs on PYTHONPATH."""
    info = folder / "paprle_stall-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paprle-stall\n")
    entry = "[paprle.feedback]\nstall = stall_law:PLUGIN\n"
    (info / "entry_points.txt").write_text(entry)
    return [str(folder), str(Path(__file__).parent)]


@settings
class StallConfig(LawSettings):
    """When, for how long, and how."""

    after: Annotated[float, Ge(0), Unit("s"), doc("After it first drove.")] = 5.0
    duration: Annotated[float, Ge(0), Unit("s"), doc("So long.")] = 1.0
    how: Annotated[Literal["sleep", "spin"], doc("With or without the GIL.")] = "sleep"
    mark: Annotated[str, doc("File that gets its begin and end, monotonic [ns].")] = ""


class Stall(FeedbackLaw[None]):
    """Silent but for once: not pure, and meant so."""

    config: StallConfig

    def __init__(self, config: StallConfig) -> None:
        super().__init__(config)
        self._begin = 0.0
        self._is_done = False

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:
        """Return nothing, late at times."""
        self._begin = self._begin or time.monotonic()
        is_due = time.monotonic() > self._begin + self.config.after
        if is_due and not self._is_done:
            self._is_done = True
            begin = time.monotonic_ns()
            self._stall()
            if self.config.mark:
                Path(self.config.mark).write_text(f"{begin} {time.monotonic_ns()}")
        return np.zeros(inputs.q.size), state

    def _stall(self) -> None:
        end = time.monotonic() + self.config.duration
        if self.config.how == "sleep":
            time.sleep(self.config.duration)
        while time.monotonic() < end:
            pass
