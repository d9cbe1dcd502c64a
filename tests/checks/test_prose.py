"""The check of prose finds docstrings and names that CONTRIBUTING.md asks to reword."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("prose", ROOT / "checks/prose.py")
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)

LONG = "Return the pose.\n\n    Args:\n        q: Joints.\n    "


def find(tmp_path, text):
    path = tmp_path / "one.py"
    path.write_text(text)
    return [one.kind for one in prose.find(path)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('"""What a tick has no time for."""', ["clause"]),
        ('X = 1\n"""What it holds."""', ["clause"]),
        ('X: int = 1\n"""Items of it, [B]."""', []),
        ('class A:\n    """Whoever drives a limb."""', ["clause"]),
        ('def f():\n    """Tell whether it moves."""', ["speech"]),
        (f'def _f(q):\n    """{LONG}"""', ["long"]),
        (f'def f(q):\n    """{LONG}"""', []),
        ('def f():\n    """Return whether it moves."""', []),
        ('class A:\n    """An age that a message tells."""', []),
        ("def f():\n    pass", []),
        ("def test_what_waits_is_read():\n    pass", ["name"]),
        ("def test_a_unit_that_is_none_is_refused():\n    pass", ["name"]),
        ("def test_whole_turns_do_not_count():\n    pass", []),
        ("def test_a_pulled_cable_stops_the_arm():\n    pass", []),
    ],
)
def test_sentences_that_hide_their_statement_are_found(tmp_path, text, kinds):
    assert find(tmp_path, text) == kinds


def test_folder_with_more_findings_than_its_baseline_fails():
    counts = {"paprle/gate": {"clause": 2, "long": 1}}

    assert list(prose.compare(counts, {"paprle/gate": {"clause": 2, "long": 1}})) == []
    assert list(prose.compare(counts, {"paprle/gate": {"clause": 1, "long": 1}})) == [
        ("paprle/gate", "clause", 2, 1)
    ]
    assert len(list(prose.compare(counts, {}))) == 2
