"""A disk that is full, slow or absent stops the recording alone (rows 33, 34)."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from product import measure

from paprle.contracts.types import SessionState
from paprle.hosts.exit_codes import NOT_RECORDED
from paprle.ipc.mailbox import Ring
from paprle.ipc.records import Stream
from paprle.recording.reader import Episode

process = pytest.mark.process
JOURNAL = "paprle.recording.mcap.chunk_file:FileSink"
BREAKER = ["leader=breaker", "leader.time=2.0", "follower=piper"]
BREAKER += ["follower.envs={logged: {}}", "env=logged"]
TWO = ["leader.time=20.0", "session.episodes=2", "session.duration=2.0"]
LOST_NS = 100_000_000  # spec: record.flush is 50 ms, and 20 ms old records are written


def check_motion(log):
    """The arm followed to the end: the follower's own log has no gap and no stop."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    writes = [line for line in lines if line["event"] == "write"]
    t = np.array([line["t_ns"] for line in writes]) * 1e-9
    q = np.array([line["q"] for line in writes])
    moving = np.abs(np.diff(q, axis=0)).max(axis=1) > 1e-7
    assert lines[-1]["event"] == "close"
    return t[1:][moving][-1] - t[1:][moving][0]


def check_before(episode, fault_ns):
    """What came before a fault is there, but for the last moment."""
    assert episode.end_reason == "aborted"
    assert episode.events[0]["event"] == "episode_begin"
    assert (np.diff(episode.ticks["k"]) == 1).all()
    assert fault_ns - int(episode.ticks["stamp_ns"][-1]) < LOST_NS
    assert fault_ns - int(episode.gate["stamp_ns"][-1]) < LOST_NS


def check_saved(session, path):
    """The last line says how to save what is on disk, and nothing else is left."""
    last = session.text().rstrip().splitlines()[-1]
    assert last.endswith(f"paprle recover {path}"), last
    hidden = [one.name for one in path.parent.iterdir() if one.name.startswith(".")]
    assert hidden == []
    assert "kept 1, recording failed 1" in session.text()


def check_next(episode):
    """The second episode of a session is whole, from its very beginning."""
    assert episode.is_complete, episode.note
    assert episode.manifest["session_episode"] == 1
    assert episode.events[0]["event"] == "episode_begin"
    assert (np.diff(episode.ticks["k"]) == 1).all()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1.5 MB."""
    folder = tmp_path / "out0"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(folder)]
    mount = subprocess.run(command, capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("mounting a small tmpfs needs root and the right to mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@process
def test_a_full_disk_stops_the_recording_not_the_robot(
    start, outside, small_disk, tmp_path
):
    log = tmp_path / "commands.jsonl"
    session = start(
        *BREAKER, *TWO, f"env.log={log}", "record.planned_time=0.1", env=outside
    )
    session.wait_for("ENGAGED")
    path = small_disk / "episode_000000.mcap"
    while not path.exists():
        time.sleep(0.02)
    other = small_disk / "other"
    with contextlib.suppress(OSError):  # the recording grows meanwhile
        other.write_bytes(bytes(free_bytes(small_disk) - 8192))
    full_at = time.monotonic_ns()
    session.wait_for("RECORDING FAILED")
    told = (time.monotonic_ns() - full_at) * 1e-9
    other.unlink()

    assert session.wait_gone() == NOT_RECORDED
    assert told < 1.3, "one second after the first write that did not fit"
    assert "the robot is unaffected" in session.text()
    assert "ended: done, 2 episode(s)" in session.text()
    manifests = [path.name for path in small_disk.glob("*.json")]
    assert manifests == ["episode_000001.json"], "no manifest: it is not whole"
    check_saved(session, path)
    check_before(session.episode(0), full_at)
    check_next(session.episode(1))
    assert check_motion(log) > 1.5


def free_bytes(folder):
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize


@process
@pytest.mark.nightly  # a disk that is full is in every run
@pytest.mark.parametrize("call", ["flush", "write", "close"])
def test_a_failing_disk_is_told_within_a_second(start, outside, tmp_path, call):
    """As the full disk, where nobody may mount one."""
    log = tmp_path / "commands.jsonl"
    session = start(
        *BREAKER, *TWO, f"env.log={log}", f"leader.site={JOURNAL}.{call}",
        "leader.action=once enospc", f"leader.after={0 if call == 'close' else 50}",
        env=outside,
    )  # fmt: skip
    session.wait_for("RECORDING FAILED")
    told_ns = time.monotonic_ns()

    assert session.wait_gone() == NOT_RECORDED

    fault_ns = int(re.search(r"the disk is full at (\d+)", session.text())[1])
    assert told_ns - fault_ns < 1.3e9
    assert "No space left" in session.text()
    assert "ended: done, 2 episode(s)" in session.text()
    manifests = [path.name for path in session.out.glob("*.json")]
    assert manifests == ["episode_000001.json"]
    check_before(session.episode(0), fault_ns)
    check_next(session.episode(1))
    assert check_motion(log) > 1.5


@pytest.mark.nightly
@process
def test_a_disk_that_blocks_for_two_seconds_holds_up_nothing(start, outside, tmp_path):
    log = tmp_path / "commands.jsonl"
    session = start(
        *BREAKER, f"env.log={log}", f"leader.site={JOURNAL}.flush",
        "leader.action=once 2.0", "leader.after=40", "leader.time=3.0",
        "session.duration=3.0", "session.episodes=1", env=outside,
    )  # fmt: skip

    assert session.wait_gone(40.0) == 0

    episode = session.episode()
    assert (np.diff(episode.ticks["k"]) == 1).all(), "no tick was lost or late for it"
    assert (np.diff(episode.gate["k"]) == 1).all()
    assert SessionState.ENGAGED in episode.ticks["state"]
    assert episode.manifest["dropped"] == {"tick": 0, "gate": 0, "event": 0}


@process
@pytest.mark.nightly
def test_a_recorder_that_stands_still_loses_records_that_are_counted(
    start, outside, tmp_path
):
    """Rings of one second: ticks make room for events, and both say what is missing."""
    log = tmp_path / "commands.jsonl"
    session = start(
        *BREAKER, "leader.time=4.0", f"env.log={log}", "leader.ring=150000",
        env=outside,
    )  # fmt: skip
    session.wait_for("ENGAGED")
    session.find_pids()
    session.kill("recorder", signal.SIGSTOP)
    time.sleep(2.2)
    session.kill("recorder", signal.SIGCONT)
    session.wait_for("the disk is too slow")

    assert session.wait_gone() == NOT_RECORDED, session.text()

    assert "kept 0, recording failed 1" in session.text()
    episode = session.episode()
    dropped = episode.manifest["dropped"]
    assert f"episode 1: {sum(dropped.values())} records are missing" in session.text()
    assert dropped["event"] == 0
    for name, rows in (("tick", episode.ticks), ("gate", episode.gate)):
        assert dropped[name] > 50, name
        missing = int(rows["k"][-1]) - int(rows["k"][0]) + 1 - len(rows)
        assert dropped[name] >= missing, name
    after = [e["after"] for e in episode.events if e["event"] == "state"]
    assert {"ALIGNING", "ENGAGED", "RESETTING"} <= set(after)
    assert measure(session.out)["gate"]["violations"] == 0
    assert check_motion(log) > 3.5
    assert "records lost, the disk was too slow: gate" in session.text()


EPISODES = ["leader=breaker", "leader.time=6.0", "follower=piper", "env=kinematic"]


@pytest.mark.nightly
@process
def test_a_disk_too_slow_to_close_a_file_leaves_one_to_recover(start, outside):
    session = start(
        *EPISODES, f"leader.site={JOURNAL}.close", "leader.action=once 60.0",
        "leader.after=0", "session.duration=2.0", "session.episodes=1", env=outside,
    )  # fmt: skip

    assert session.wait_gone(60.0) == NOT_RECORDED

    path = session.out / "episode_000000.mcap"
    assert "kept 0, recording failed 1" in session.text()
    assert not path.with_suffix(".json").exists()
    assert session.text().rstrip().splitlines()[-1].endswith(f"paprle recover {path}")
    assert [one.name for one in session.out.iterdir()] == [path.name]


def wait_to_be_told(session, text, since_ns):
    session.wait_for(text)
    return (time.monotonic_ns() - since_ns) * 1e-9


@pytest.mark.nightly
@process
def test_a_recorder_that_hangs_is_told_and_the_next_episode_is_recorded(start, outside):
    session = start(
        "leader=autopilot", "leader.size=0.05", "leader.laps=100", "follower=piper",
        "env=kinematic", "session.episodes=2", "session.duration=6.0", env=outside,
    )  # fmt: skip
    session.wait_for("ENGAGED")
    session.find_pids()
    time.sleep(1.0)
    stopped_ns = session.kill("recorder", signal.SIGSTOP)

    words = "RECORDING FAILED: the recorder stands still"
    told = wait_to_be_told(session, words, stopped_ns)

    assert told < 2.0
    session.wait_for("a new recorder was started")
    assert session.wait_gone(60.0) == NOT_RECORDED, session.text()
    check_saved(session, session.out / "episode_000000.mcap")
    check_before(session.episode(0), stopped_ns)
    check_next(session.episode(1))
    summary = session.text().split("ended: ")[1]
    assert "RECORDING FAILED: episode 0: the last " in summary
    assert "[s] are lost: the recorder stands still" in summary


@process
def test_a_recorder_that_hangs_to_the_end_is_told_there(start, outside):
    session = start(*EPISODES, env=outside)
    session.wait_for("ENGAGED")
    session.find_pids()
    session.kill("recorder", signal.SIGSTOP)
    session.wait_for("RECORDING FAILED")

    assert session.wait_gone(40.0) == NOT_RECORDED

    assert "RECORDING FAILED: episode 0: the last " in session.text()


@process
@pytest.mark.nightly  # one that hangs is in every run
def test_a_killed_recorder_has_a_successor_at_the_next_episode(start):
    session = start(
        "leader=autopilot", "leader.size=0.05", "leader.laps=100", "follower=piper",
        "env=kinematic", "session.episodes=2", "session.duration=3.0",
    )  # fmt: skip
    session.wait_for("ENGAGED")
    session.find_pids()
    time.sleep(1.0)
    killed_ns = session.kill("recorder")

    told = wait_to_be_told(session, "RECORDING FAILED: ", killed_ns)

    assert told < 2.0
    assert session.wait_gone(60.0) == NOT_RECORDED, session.text()
    check_before(session.episode(0), killed_ns)
    check_next(session.episode(1))
    assert "RECORDING FAILED: episode 0: the last " in session.text()


@pytest.mark.nightly
@process
@pytest.mark.parametrize("how", ["moved", "unlinked", "folder moved"])
def test_a_file_that_vanishes_is_told_within_a_second(start, outside, how):
    session = start(*EPISODES, *TWO, env=outside)
    session.wait_for("ENGAGED")
    path = session.out / "episode_000000.mcap"
    while not path.exists():
        time.sleep(0.02)
    time.sleep(0.5)
    vanished_ns = time.monotonic_ns()
    now_at = path.with_name("mine.mcap")
    if how == "unlinked":
        path.unlink()
    elif how == "moved":
        path.rename(now_at)
    else:
        now_at = session.out.rename(session.out.with_name("elsewhere")) / path.name

    told = wait_to_be_told(session, "the file was moved or removed", vanished_ns)

    assert session.wait_gone() == NOT_RECORDED
    assert told < 1.3, "a second, and the status line's own period"
    assert "ended: done, 2 episode(s): kept 1, recording failed 1" in session.text()
    assert "all of it is lost, unless the file was moved" in session.text()
    assert "paprle recover" not in session.text(), "nothing is there to recover"
    if how != "unlinked":
        check_before(Episode.open(now_at), vanished_ns)
    check_next(session.episode(0))


@process
@pytest.mark.nightly  # by day, tests/faults/processes/test_stopping.py sends one
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_group_leaves_the_recorder_to_finish(start, outside, number):
    session = start(*EPISODES, env=outside)
    session.wait_for("ENGAGED")
    session.find_pids()
    time.sleep(1.0)

    at_ns = session.kill_group(number)

    assert session.wait_gone() == 128 + number, session.text()
    episode = session.episode()
    assert episode.is_complete, episode.note
    assert episode.end_reason == "quit"
    after = episode.gate["stamp_ns"] > at_ns
    assert after.sum() > 0, "the braking is in it, however short"
    assert np.abs(episode.gate["dq_cmd"][-1]).max() == 0.0


@process
def test_a_folder_that_cannot_be_written_is_refused_before_anything_moves(
    start, tmp_path
):
    (tmp_path / "out0").write_text("a file where the folder should be")

    session = start("leader=autopilot", "follower=piper", "env=kinematic")

    assert session.wait_gone() == 2
    assert "record.dir" in session.text()


@process
def test_a_disk_too_small_for_the_plan_is_refused(start, small_disk):
    session = start("leader=autopilot", "follower=piper", "env=kinematic")

    assert session.wait_gone() == 2
    assert "MB free" in session.text()
    assert "ENGAGED" not in session.text()
    assert not list(small_disk.glob("*.mcap"))


def test_a_full_ring_keeps_room_for_what_has_more_weight():
    ring = Ring(10_000)
    while ring.push(Stream.TICK, bytes(100), spare=2000):
        pass
    events = [b"{}"] * 200

    assert all(ring.push(Stream.EVENT, event) for event in events)

    kept = ring.drain()
    assert [data for kind, data in kept if kind == Stream.EVENT] == events
    assert ring.dropped == {Stream.TICK: 1}


def test_a_full_ring_drops_and_counts_by_stream_and_never_waits():
    ring = Ring(10_000)
    began = time.monotonic()
    for _ in range(1000):
        ring.push(Stream.TICK, bytes(100))
        ring.push(Stream.GATE, bytes(200))
    kept = ring.drain()

    assert time.monotonic() - began < 1.0
    by_kind = {kind: sum(k == kind for k, _ in kept) for kind in Stream}
    assert ring.dropped[Stream.TICK] == 1000 - by_kind[Stream.TICK]
    assert ring.dropped[Stream.GATE] == 1000 - by_kind[Stream.GATE]
    assert sum(len(data) + 8 for _, data in kept) <= 10_000
    ring.push(Stream.EVENT, b"{}")
    assert ring.drain() == [(Stream.EVENT, b"{}")], "it takes more once emptied"
