from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading

import pytest

from paprle.hosts.operator import slow_work
from paprle.hosts.operator.slow_work import SlowWork
from paprle.ipc.process import WORKSPACE


@pytest.fixture
def quick(monkeypatch):
    """Let 20 ms be long."""
    monkeypatch.setattr(slow_work, "_FIRST", 0.02)
    monkeypatch.setattr(slow_work, "_LINE_EVERY", 0.02)


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


@pytest.mark.usefixtures("quick")
def test_a_log_has_the_count_and_the_time_that_is_left(capsys):
    with SlowWork("packing") as work:
        for k in range(4):
            work.count(k, 10, "cells")
            threading.Event().wait(0.02)
        told = wait_for("3 of 10 cells", capsys)

    assert re.search(r"0 s: packing, 3 of 10 cells, about 0:00:0\d left\n", told)


@pytest.mark.usefixtures("quick")
def test_a_new_step_forgets_the_count_of_the_last(capsys):
    with SlowWork("reading") as work:
        work.count(1, 2, "meshes")
        work.note("cutting")
        told = wait_for("cutting", capsys)

    assert "0 s: cutting\n" in told


TERMINAL = """
import sys, time
from paprle.hosts.operator import slow_work
slow_work._FIRST = 0.05
with slow_work.SlowWork("packing recordings") as work:
    for k in range(8):
        work.count(k, 8, "recordings")
        print("line", k)
        time.sleep(0.15 if k < 7 else 0.45)  # the bar is drawn every 0.2 s
    work.note("writing [the] table")
    time.sleep(0.5)
print("done")
"""


def test_a_terminal_shows_a_bar_that_disappears():
    shown = watch_terminal([sys.executable, "-c", TERMINAL])

    assert "packing recordings" in shown
    assert "7 of 8 recordings" in shown
    assert "writing [the] table" in shown
    assert all(f"line {k}" in shown for k in range(8))
    assert shown.rstrip().endswith("done")


def test_piped_output_has_no_progress_bar(tmp_path):
    with (tmp_path / "out").open("w") as out:
        shown = watch_terminal([sys.executable, "-c", TERMINAL], stdout=out)

    assert "packing recordings" in shown
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines == [*(f"line {k}" for k in range(8)), "done"]


def watch_terminal(words, stdout=None):
    """Run a program in a terminal of 100 columns; return what it wrote there."""
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        words, stdout=stdout or theirs, stderr=theirs, env=env, cwd=WORKSPACE
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.wait(20) == 0
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
