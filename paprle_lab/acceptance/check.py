"""Checks, their outcomes and shared state."""

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
from paprle_lab.acceptance.rig import Rig

Verdict = Literal["passed", "failed", "skipped"]


class Skipped(Exception):
    """A check that does not apply to this rig; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Figures and problems of a check; it passed without problems."""

    figures: Sequence[str] = ()
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A check's line of the report; ``reason``: of a skipped one."""

    name: str
    title: str
    criterion: str
    verdict: Verdict
    figures: Sequence[str] = ()
    problems: Sequence[str] = ()
    remedy: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recorded session: exit code, report entry and last lines."""

    code: int
    entry: Mapping[str, Any]
    shown: Sequence[str]


@dataclass(kw_only=True)
class Kit:
    """A rig under acceptance, shared by its checks.

    Attributes:
        hooks: Commands in place of a person's hands, by ``HOOKS``.
        seconds: Duration of the recorded session, [s].
        make_rig: Opens the follower behind a gate of scaled limits.
        folder: Folder of recordings, removed at the end.
        lag: Declared delay of the robot, [s]; None: not opened yet.
        power_off: Declared behaviour without power.
        recorded: Session shared by latency, recording and end.
    """

    words: Sequence[str]
    resolved: Resolved
    robot: RobotModel
    leaders: Mapping[str, Leader]
    person: Person
    folder: Path
    make_rig: Callable[[Resolved], Rig] = Rig
    hooks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float = 20.0
    lag: float | None = None
    power_off: str = ""
    recorded: Recorded | None = None

    def open_rig(self) -> Rig:
        """Open the robot behind a gate at a tenth of its speed."""
        rig = self.make_rig(self.resolved)
        self.lag, self.power_off = rig.info.lag, rig.info.power_off
        return rig

    @contextmanager
    def lead(self, *words: str) -> Iterator[LedSession]:
        """Run a session, engaged and led by the person, for the context.

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
    """A row of the table of checks.

    Attributes:
        asks: Part of the person.
        criterion: Condition to pass.
        remedy: Advice on failure.
        is_needed: Its failure prevents the later checks.
    """

    name: str
    title: str
    asks: str
    measures: str
    criterion: str
    remedy: str
    run: Callable[[Kit], Outcome]
    is_needed: bool = False
