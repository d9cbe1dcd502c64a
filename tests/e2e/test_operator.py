"""An operator collects episodes at a terminal, and is told what happens (issue 13)."""

from __future__ import annotations

import json
import re
import time

import pytest
from terminal import TerminalSession

from paprle.cli import main

KEYBOARD = ["leader=keyboard", "leader.deadman=toggle", "follower=piper"]
KEYBOARD += ["env=kinematic", "record.task=pick the cube", "session.speed=1"]
HELD = 0.3  # [s] how long a motion lasts

SHORT = ("success", "redo", "task", "discard", "reach", "stop", "next")
KEPT = {"success": "success", "task": "next", "reach": "failure", "next": "next"}
LOST = {"redo": "redo", "discard": "discarded", "stop": "stopped: operator_stop"}
ENDS = {"success": b"+", "redo": b"b", "task": b"n", "discard": b"x"}
ENDS |= {"reach": b"-", "next": b"n"}


def read_lines(text):
    """What stood on the status line, one after the other."""
    return [line.replace("\a", "") for line in re.split(r"\r\x1b\[K|\r?\n", text)]


def stop(session):
    """Stop in motion, let go, clear it."""
    session.press(b" ")
    session.wait_for("STOPPED ")
    session.press(b"a")  # the toggle: hands off
    session.wait_for("press c")
    session.press(b"c")


def make_episode(session, kind, n_kept, n_wanted):
    """Do one episode, and look at the screen while it goes."""
    if kind == "task":
        session.press(b"tstack two cups\r")
        session.wait_for("stack two cups")
    session.engage()
    session.press(b"w" if kind == "reach" else b"a")
    session.wait_for(f"ep {n_kept + 1}/{n_wanted} · kept {n_kept}")
    session.wait_for("REC")
    if kind == "reach":
        session.wait_for("out of reach by ", timeout=20.0)
    time.sleep(HELD)
    if kind == "stop":
        stop(session)
    else:
        session.press(ENDS[kind])
        session.wait_for("RESETTING")


def collect(session, kinds):
    """Do all episodes; the session ends by itself after the last kept one."""
    n_wanted = sum(kind in KEPT for kind in kinds)
    n_kept = 0
    session.wait_for("hand drives arm", timeout=60.0)
    session.wait_for("WAITING", timeout=60.0)
    for kind in kinds:
        make_episode(session, kind, n_kept, n_wanted)
        n_kept += kind in KEPT
        if n_kept < n_wanted:
            session.wait_for("WAITING", timeout=40.0)


def check_screen(text, kinds):
    lines = read_lines(text)
    waiting = [line for line in lines if line.startswith("WAITING")]
    assert waiting
    assert not [line for line in waiting if "REC" in line]
    assert text.count("\a") >= 2 * len(kinds), "each begin and each end is heard"


def check_agreement(text, out, kinds, capsys):
    manifests = [
        json.loads(path.read_text()) for path in sorted(out.glob("episode_*.json"))
    ]
    ends = [KEPT.get(kind) or LOST[kind] for kind in kinds]
    assert [m["end_reason"] for m in manifests] == ends
    assert [m["kept"] for m in manifests] == [kind in KEPT for kind in kinds]
    n_discarded = sum(bool(m.get("discarded")) for m in manifests)
    n_redone = sum(m["end_reason"] == "redo" for m in manifests)
    outcomes = [m.get("outcome") for m in manifests]
    summary = (
        f"ended: done, {len(kinds)} episode(s): kept {sum(k in KEPT for k in kinds)}, "
        f"success {outcomes.count('success')}, failure {outcomes.count('failure')}, "
        f"discarded {n_discarded} ({n_redone} to redo), "
        f"broken off {kinds.count('stop')}"
    )
    assert summary in text
    assert re.search(r"not where the hand was for .*out of reach", text)
    for k, (kind, manifest) in enumerate(zip(kinds, manifests, strict=True)):
        is_own = kind == "task"
        assert manifest["task"] == ("stack two cups" if is_own else "pick the cube")
        path = out / f"episode_{k:06d}.mcap"
        assert f"recorded: {path}" in text
        main(["info", str(path)])
        said = capsys.readouterr().out
        assert f"end        {manifest['end_reason']}, " in said
        assert f"task       {manifest['task']}" in said
        assert ("outcome    " in said) is ("outcome" in manifest)


def run(tmp_path, kinds, capsys):
    n_wanted = sum(kind in KEPT for kind in kinds)
    out = tmp_path / "OUT"
    session = TerminalSession([*KEYBOARD, f"session.episodes={n_wanted}"], out, {})
    try:
        collect(session, kinds)
        assert session.wait_gone(60.0) == 0
        text = session.text()
    finally:
        session.end()

    check_screen(text, kinds)
    check_agreement(text, out, kinds, capsys)


@pytest.mark.process
@pytest.mark.timeout(240)
def test_an_operator_reads_what_happens_and_everything_agrees(tmp_path, capsys):
    run(tmp_path, list(SHORT), capsys)


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.timeout(1800)
def test_fifty_kept_episodes_of_all_kinds(tmp_path, capsys):
    kinds = [*SHORT, *(["next", "success", "redo", "next", "discard"] * 16), "next"]
    assert sum(kind in KEPT for kind in kinds) >= 50

    run(tmp_path, kinds, capsys)
