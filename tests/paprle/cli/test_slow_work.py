from __future__ import annotations

import threading

import pytest

from paprle.cli import slow_work
from paprle.cli.slow_work import SlowWork


@pytest.fixture
def quick(monkeypatch):
    """Let 20 ms be long."""
    monkeypatch.setattr(slow_work, "_FIRST", 0.02)
    monkeypatch.setattr(slow_work, "_NEXT", 0.02)


def wait_for(text, capsys):
    told = ""
    for _ in range(500):
        told += capsys.readouterr().err
        if text in told:
            return told
        threading.Event().wait(0.01)
    raise AssertionError(f"{text!r} was not told: {told!r}")


@pytest.mark.usefixtures("quick")
def test_long_work_says_what_it_does(capsys):
    with SlowWork("reading") as work:
        wait_for("0 s: reading", capsys)
        work.note("fitting")
        wait_for("0 s: fitting", capsys)


def test_short_work_says_nothing(capsys):
    with SlowWork("reading"):
        pass

    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("quick")
def test_an_error_ends_it():
    with pytest.raises(ValueError, match="broken"), SlowWork("reading"):
        raise ValueError("broken")

    assert "slow-work" not in {thread.name for thread in threading.enumerate()}
