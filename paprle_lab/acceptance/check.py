"""Checks, outcomes and shared state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

from paprle.config import Resolved
from paprle.contracts.plugins import Leader
from paprle.robot import RobotModel
from paprle_lab.acceptance.led_session import LedSession
from paprle_lab.acceptance.person import Person
from paprle_lab.acceptance.rig import AcceptanceRig

Verdict = Literal["passed", "failed", "skipped"]


class Skipped(Exception):
    """An inapplicable check; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Figures and problems of a check; passed without problems."""

    figures: Sequence[str] = ()
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A check's line of the report."""

    name: str
    title: str
    criterion: str
    verdict: Verdict
    figures: Sequence[str] = ()
    problems: Sequence[str] = ()
    remedy: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """Exit code, report entry and last lines of a session."""

    code: int
    entry: Mapping[str, Any]
    shown: Sequence[str]


@dataclass(kw_only=True)
class Kit:
    """A rig under acceptance, shared by its checks.

    Attributes:
        hooks: Commands in place of a person's hands, by ``HOOKS``.
        seconds: Of the recorded session, [s].
        folder: Of recordings, removed at the end.
        lag: Declared delay, [s]; None: not opened yet.
        power_off: Declared behaviour without power.
        recorded: Session shared by several checks.
    """

    words: Sequence[str]
    resolved: Resolved
    robot: RobotModel
    leaders: Mapping[str, Leader]
    person: Person
    folder: Path
    make_rig: Callable[[Resolved], AcceptanceRig] = AcceptanceRig
    hooks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float = 20.0
    lag: float | None = None
    power_off: str = ""
    recorded: SessionOutcome | None = None

    def open_rig(self) -> AcceptanceRig:
        """Open the robot at a tenth of its speed."""
        rig = self.make_rig(self.resolved)
        self.lag, self.power_off = rig.info.lag, rig.info.power_off
        return rig

    @contextmanager
    def lead(self, *words: str) -> Iterator[LedSession]:
        """Run a session, engaged and led by the person.

        Raises:
            SessionError: If it does not engage.
        """
        self.person.act("Take the leader and hold it still until it is engaged.", None)
        folder = Path(mkdtemp(dir=self.folder))
        with LedSession((*self.words, *words), folder) as session:
            session.engage()
            hook = self.hooks.get("lead")
            self.person.act("Lead the robot to and fro, every joint of it.", hook)
            yield session


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row of the table; a failed ``is_needed`` one prevents later checks."""

    name: str
    title: str
    asks: str
    measures: str
    criterion: str
    remedy: str
    run: Callable[[Kit], Outcome]
    is_needed: bool = False
