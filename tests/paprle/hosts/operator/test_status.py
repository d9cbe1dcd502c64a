"""What the operator is told reaches the terminal."""

import io
import itertools
import sys
import threading

import pytest

from paprle.hosts.operator import status
from paprle.hosts.operator.status import StatusLine


@pytest.mark.parametrize("enabled", [True, False], ids=["shown", "switched off"])
def test_the_last_message_is_shown_at_the_end(enabled, capsys):
    line = StatusLine(lambda: "ENGAGED", enabled=enabled)
    line.open()
    line.tell("a servo is hot")
    line.close()

    assert capsys.readouterr().err == "a servo is hot\n"


@pytest.mark.parametrize("columns", [40, 200])
def test_a_line_too_long_for_the_terminal_is_written_in_full_once(columns, monkeypatch):
    text = "STOPPED   · stopped: state_lost (nothing usable comes); press c to clear"
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(status, "find_width", lambda: columns - 1)
    monkeypatch.setattr(status, "_PERIOD", 0.001)
    n_shown = itertools.count()
    has_shown = threading.Event()

    def compose():
        if next(n_shown) > 3:
            has_shown.set()
        return text

    line = StatusLine(compose, enabled=True)
    line.open()
    assert has_shown.wait(10.0)
    line.close()

    rewritten = f"\r\x1b[K{text[: columns - 1]}"
    assert shown.getvalue().count(text + "\n") == (columns == 40)
    assert shown.getvalue().count(rewritten) >= 3


def show(monkeypatch, heard, *, is_terminal, told=()):
    """Return what reaches a terminal or a file while these things are to be heard."""
    shown, rest = io.StringIO(), list(heard)
    shown.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(status, "_PERIOD", 0.001)
    has_heard = threading.Event()

    def find_attention():
        if len(rest) == 1:
            has_heard.set()
        return rest[0] if len(rest) == 1 else rest.pop(0)

    line = StatusLine(lambda: "X", enabled=True, find_attention=find_attention)
    line.open()
    assert has_heard.wait(10.0)
    for text in told:
        line.tell(text)
    line.close()
    return shown.getvalue()


@pytest.mark.parametrize(
    ("heard", "n_rings"),
    [
        (["", "", ""], 0),
        (["", "ENGAGED", "ENGAGED", ""], 1),
        (["WAITING", "ENGAGED", "STOPPED", ""], 3),
        (["ENGAGED", "", "ENGAGED", ""], 2),
    ],
)
def test_the_bell_rings_once_for_each_thing_to_hear(heard, n_rings, monkeypatch):
    assert show(monkeypatch, heard, is_terminal=True).count("\a") == n_rings


def test_a_log_never_rings(monkeypatch):
    heard = ["WAITING", "ENGAGED", ""]
    assert "\a" not in show(monkeypatch, heard, is_terminal=False, told=["x"])


def test_a_warning_rings(monkeypatch):
    assert "\a" in show(monkeypatch, [""], is_terminal=True, told=["a servo is hot"])
