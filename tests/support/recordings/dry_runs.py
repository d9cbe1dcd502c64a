"""Inputs that are typed as a user types them, as dry runs, and what each leads to."""

from __future__ import annotations

import re

from paprle.cli import main
from paprle.ipc.process import WORKSPACE

PAGE = WORKSPACE / "docs/public_reports.md"
OUTCOMES = ("refused", "reported", "handled")


class Cases(dict):
    """Inputs by name: the report, the outcome, the words, and what makes the input."""

    def add(self, report, outcome, *words):
        """Note one; its maker returns what is typed, or looks at a reader itself."""
        assert outcome in OUTCOMES

        def note(make):
            name = make.__name__.replace("_", " ")
            assert name not in self
            self[name] = report, outcome, words, make
            return make

        return note

    def check(self, name, folder, capsys):
        _, outcome, words, make = self[name]
        typed = make(folder)
        if typed is None:
            return

        code = main(["run", *typed, "env=kinematic", "--dry-run"])

        shown = capsys.readouterr()
        assert (code != 0) == (outcome == "refused"), shown
        lines = [shown.err] if code else (shown.out + shown.err).splitlines()
        assert any(all(word in line for word in words) for line in lines), shown
        if outcome == "handled":
            assert "CHECK:" not in shown.out, shown

    def list_rows(self):
        """Return report, input and outcome of each."""
        return {(row[0], name, row[1]) for name, row in self.items()}


def read_rows(test):
    """Return report, input and outcome of the page's rows that name a test."""
    rows = set()
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and f"`{test}`" in cells[4]:
            rows.add((re.sub(r"[\[\]`]", "", cells[0]), cells[1], cells[2]))
    return rows
