"""An operator collects episodes at a terminal, and is told what happens."""

from __future__ import annotations

import json
import re
import time
from collections import Counter

import pytest
from terminal import TerminalSession

from paprle.cli import main

KEYBOARD = ["leader=keyboard", "leader.deadman=toggle", "follower=piper"]
KEYBOARD += ["env=kinematic", "record.task=pick the cube", "session.speed=1"]
HELD = 0.3  # [s] how long a motion lasts

SHORT = ("success", "redo", "task", "discard", "reach", "regret", "praise", "stop")
SHORT += ("next",)
KEPT = {"success": "success", "task": "next", "reach": "failure", "next": "next"}
KEPT |= {"praise": "next"}
LOST = {"redo": "redo", "discard": "discarded", "stop": "stopped: operator_stop"}
LOST |= {"regret": "redo", "reject": "discarded"}
ENDS = {"success": b"+", "redo": b"b", "task": b"n", "discard": b"x"}
ENDS |= {"reach": b"-", "next": b"n", "regret": b"n", "praise": b"n", "reject": b"+"}
AFTER = {"regret": b"b", "praise": b"+", "reject": b"x"}  # between two episodes


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
        session.wait_for("not reached from this posture, ", timeout=20.0)
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
        if kind in AFTER:
            session.press(AFTER[kind])
            session.wait_for(f"kept {n_kept}")


def check_screen(text, kinds):
    lines = read_lines(text)
    recorded = [line for line in lines if line.startswith("ENGAGED")]
    still = [line for line in lines if line.startswith(("HOMING", "WAITING"))]
    still += [line for line in lines if "· reset " in line]
    assert recorded and all("REC" in line for line in recorded)
    assert still and not [line for line in still if "REC" in line]
    assert text.count("\a") >= 2 * len(kinds), "each begin and each end is heard"


def check_shortfalls(text, manifests):
    """The summary's causes and their times are those of the episodes, added up."""
    said = re.search(r"not where the hand was for [\d.]+ of [\d.]+ s: (.*)", text)[1]
    causes = dict(re.findall(r"([^,(]+?) ([\d.]+) s \(\d+ %[^)]*\)", said))
    of_episodes = Counter()
    for manifest in manifests:
        for one in manifest.get("short", ()):
            of_episodes[one["cause"]] += one["seconds"]
    assert {name.strip(", ") for name in causes} == set(of_episodes)
    for name, seconds in causes.items():
        # the looks beside the last ticks of an episode come after its manifest
        own = of_episodes[name.strip(", ")]
        assert float(seconds) == pytest.approx(own, abs=0.26)
    farthest = max(
        one["farthest"]
        for manifest in manifests
        for one in manifest.get("short", ())
        if one["cause"] == "not reached from this posture"
    )
    told = re.search(
        r"not reached from this posture [^(]*\([^,]*, up to (\d+) mm", said
    )
    assert float(told[1]) >= round(1e3 * farthest)


def check_info(said, manifest):
    """What ``paprle info`` says of an episode is what its manifest says."""
    fate = "kept" if manifest["kept"] else "broken off"
    fate = "discarded by the operator" if manifest.get("discarded") else fate
    assert f"end        {manifest['end_reason']}, {fate}\n" in said
    assert f"task       {manifest['task']}\n" in said
    assert ("outcome    " in said) is ("outcome" in manifest)
    if "outcome" in manifest:
        assert f"outcome    {manifest['outcome']}\n" in said
    short = manifest.get("short", ())
    assert ("  short  " in said) is bool(short)
    for one in short:
        assert f"{one['cause']} {one['seconds']:.1f} s" in said


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
    check_shortfalls(text, manifests)
    for k, (kind, manifest) in enumerate(zip(kinds, manifests, strict=True)):
        is_own = kind == "task"
        assert manifest["task"] == ("stack two cups" if is_own else "pick the cube")
        path = out / f"episode_{k:06d}.mcap"
        mark = manifest.get("outcome") or "kept"
        mark = mark if kind in KEPT else "discarded"
        mark = "broken off: stopped: operator_stop" if kind == "stop" else mark
        told = "" if mark == "kept" else f" ({mark})"
        assert f"recorded: {path}{told}\r\n" in text
        if kind == "reach":
            assert "not reached from this posture" in {
                one["cause"] for one in manifest["short"]
            }
        main(["info", str(path)])
        check_info(capsys.readouterr().out, manifest)


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
    each = ["regret", "next", "reject", "success", "redo", "praise", "discard"]
    kinds = [*SHORT, *(each * 15), "next"]
    assert sum(kind in KEPT for kind in kinds) >= 50

    run(tmp_path, kinds, capsys)
