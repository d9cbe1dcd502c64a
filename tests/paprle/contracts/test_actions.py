from __future__ import annotations

from pathlib import Path

import pytest

from paprle.contracts.operator.actions import (
    KEY_CAPS,
    OPERATOR_KEYS,
    PAGE_ACTIONS,
    PAGE_KEYS,
    Actions,
)
from paprle.hosts.operator.terminal import HELP, KEYS
from paprle.observers.view.messages import Press, parse

PAGE = Path(__file__).resolve().parents[3] / "docs/operating.md"
TEXTS = {"task", "note"}


def test_every_action_has_one_key():
    names = [row.name for row in OPERATOR_KEYS]

    assert sorted(names) == sorted({*Actions._fields, *TEXTS})
    assert len({row.key for row in OPERATOR_KEYS}) == len(names)


@pytest.mark.parametrize("row", OPERATOR_KEYS, ids=lambda row: row.name)
def test_a_key_is_explained_at_the_terminal_and_in_the_manual(row):
    caps = [line.split("|")[1] for line in PAGE.read_text().splitlines() if "|" in line]

    assert f"{row.cap} {row.help}" in HELP
    assert any(
        row.cap in text.replace("`", "").replace(",", " ").split() for text in caps
    )


def test_a_page_cannot_quit_and_asks_for_everything_else():
    assert set(Actions._fields) - {"quit"} == PAGE_ACTIONS
    for action in PAGE_ACTIONS:
        message = parse(f'{{"type": "press", "action": "{action}"}}')
        assert message == Press(type="press", action=action)


def test_a_button_has_a_label_and_a_tooltip():
    for row in PAGE_KEYS:
        assert bool(row.label and row.tip) == (row.place != "field")


def test_the_terminal_takes_both_letters_of_enter():
    assert [letter for letter, name in KEYS.items() if name == "engage"] == ["\r", "\n"]
    assert KEY_CAPS["stop"] == "Space"
