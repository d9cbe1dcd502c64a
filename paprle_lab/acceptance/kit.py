"""Run of the table of checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from paprle.cli.verb import say
from paprle.contracts.errors import PaprleError
from paprle_lab.acceptance.check import Check, Kit, Outcome, Result, Skipped
from paprle_lab.acceptance.person import Quit
from paprle_lab.acceptance.report import clean_result


@dataclass
class Run:
    """Results so far; ``is_whole`` after the last check."""

    results: list[Result] = field(default_factory=list)
    is_whole: bool = False

    def go(self, kit: Kit, table: Iterable[Check], only: Collection[str]) -> None:
        """Do the checks; a person may skip each.

        Raises:
            Quit: If the person leaves.
            SystemExit: At Ctrl-C.
        """
        failed = ""
        for check in table:
            if failed:
                self._note(check, reason=f"not before {failed} passes")
                continue
            if only and check.name not in only:
                self._note(check, reason="not among --only")
                continue
            say(f"\n{check.title} ({check.name})\n  {check.asks}")
            say(f"  measured: {check.measures}\n  passes: {check.criterion}")
            try:
                if not kit.person.agrees("  Begin?"):
                    self._note(check, reason="skipped by the person")
                    continue
                self._judge(check, kit)
                if check.is_needed and self.results[-1].verdict == "failed":
                    failed = check.name
            except (SystemExit, Quit):
                self._note(check, reason="ended by the person")
                raise
        self.is_whole = True

    def _judge(self, check: Check, kit: Kit) -> None:
        try:
            outcome = check.run(kit)
        except Skipped as reason:
            self._note(check, reason=str(reason))
        except PaprleError as err:
            self._note(check, Outcome(problems=str(err).splitlines()))
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self._note(check, Outcome(problems=[f"{type(err).__name__}: {err}"]))
        else:
            self._note(check, outcome)

    def _note(
        self, check: Check, outcome: Outcome | None = None, reason: str = ""
    ) -> None:
        verdict = "skipped" if outcome is None else "passed"
        if outcome is not None and outcome.problems:
            verdict = "failed"
        outcome = outcome or Outcome()
        result = clean_result(
            Result(
                name=check.name,
                title=check.title,
                criterion=check.criterion,
                verdict=verdict,  # type: ignore[arg-type]
                figures=tuple(outcome.figures),
                problems=tuple(outcome.problems),
                remedy=check.remedy,
                reason=reason,
            )
        )
        self.results.append(result)
        say(f"{verdict.upper()}: {check.name}{f' ({reason})' if reason else ''}")
        for line in result.figures:
            say(f"  {line}")
        for line in result.problems:
            say(f"  FAULT {line}")
