from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cells import spread

from paprle.contracts.errors import RecordingError
from paprle.ipc.records import Stream
from paprle.recording import recorder as recorder_module
from paprle.recording.mcap import chunk_file as sink_module
from paprle.recording.mcap.recover import make_recovered_path, recover
from paprle.recording.reader import Episode
from paprle.recording.recorder import check_free_space, estimate_rate

WALL_NS = 1_700_000_000_000_000_000


def test_only_what_lies_inside_an_episode_is_recorded(make, run, tools, tmp_path):
    recorder = make()

    ticks, gates, _ = run(recorder, 20)

    episode = Episode.open(tmp_path)
    assert not recorder.is_recording
    assert recorder.failure == ""
    assert tools.same_bits(episode.ticks, ticks)
    assert tools.same_bits(episode.gate, gates)
    assert episode.end_reason == "leader_end"
    assert [event["event"] for event in episode.events] == [
        "episode_begin",
        "episode_end",
    ]


def test_manifest_has_episode_task_and_drops(make, run, rings, tmp_path):
    recorder = make()
    rings[1].dropped = {2: 5}
    run(recorder, 8, end="")
    rings[1].dropped = {2: 12}

    recorder.finish("operator_quit", 0)

    manifest = json.loads((tmp_path / "episode_000000.json").read_text())
    assert manifest["end_reason"] == "operator_quit"
    assert manifest["session_episode"] == 4
    assert manifest["task"] == "pick"
    assert manifest["dropped"] == {"event": 0, "tick": 0, "gate": 7}


def test_wall_offset_is_taken_once_an_episode(make, run, tmp_path, tools):
    run(make(), 4)

    episode = Episode.open(tmp_path)

    assert WALL_NS - episode.wall_offset_ns >= tools.START_NS


def test_episodes_are_numbered_by_the_folder(make, run, tmp_path):
    (tmp_path / "episode_000006.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("")
    recorder = make()

    run(recorder, 3)
    run(recorder, 3)

    assert sorted(p.name for p in tmp_path.glob("*.mcap")) == [
        "episode_000007.mcap",
        "episode_000008.mcap",
    ]


def test_two_recorders_on_one_folder_do_not_meet(make, tools, rings, tmp_path):
    a, b = make(), make()
    for recorder in (a, b):
        rings[0].push_event(event="episode_begin", episode=0, t_ns=tools.START_NS)
        recorder.step(tools.START_NS + 20_000_000)

    assert {a.path.name, b.path.name} == {"episode_000000.mcap", "episode_000001.mcap"}
    for recorder in (a, b):
        recorder.finish("end", tools.START_NS)
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_begin_without_end_interrupts_the_episode_before(make, run, tmp_path):
    recorder = make()
    run(recorder, 4, end="")
    run(recorder, 4)

    reasons = [
        json.loads(path.read_text())["end_reason"]
        for path in sorted(tmp_path.glob("*.json"))
    ]
    assert reasons == ["interrupted", "leader_end"]


@pytest.mark.parametrize("after_end", [False, True], ids=["open", "finished"])
def test_discard_marks_the_episode_and_deletes_nothing(
    make, run, rings, tmp_path, after_end
):
    recorder = make()
    _, _, now = run(recorder, 4, end="leader_end" if after_end else "")
    rings[0].push_event(event="discard", t_ns=now)

    recorder.step(now + 100_000_000)

    manifest = json.loads((tmp_path / "episode_000000.json").read_text())
    assert manifest["discarded"] is True
    assert manifest["kept"] is False
    assert Episode.open(tmp_path).is_complete
    assert not recorder.is_recording


def test_malformed_records_do_no_harm(make, run, rings, tmp_path):
    rings[0].push(Stream.EVENT, b"\xff not json")
    rings[0].push(Stream.TICK, b"short")
    rings[1].push(7, b"unknown kind")
    recorder = make()

    ticks, _, _ = run(recorder, 5)

    assert "one config" in recorder.warning
    assert len(Episode.open(tmp_path).ticks) == len(ticks)


class FaultyFile:
    """Stands for os.write: fails from the n-th call on."""

    def __init__(self, n, code):
        self.left, self.code = n, code

    def __call__(self, fd, data):
        self.left -= 1
        if self.left < 0:
            raise OSError(self.code, os.strerror(self.code))
        return self.real(fd, data)

    real = staticmethod(os.write)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("n", range(6))
def test_failing_write_ends_the_recording_not_the_steps(
    make, run, tmp_path, monkeypatch, n, code
):
    monkeypatch.setattr(sink_module.os, "write", FaultyFile(n, code))
    recorder = make()

    _, _, now = run(recorder, 20, end="")
    recorder.finish("end", now)

    assert os.strerror(code) in recorder.failure
    assert "robot is unaffected" in recorder.failure
    assert not recorder.is_recording
    assert not list(tmp_path.glob("*.json"))


def test_a_stale_handle_is_a_failure(make, run, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr(sink_module.FileSink, "is_at", fail)
    recorder = make()

    run(recorder, 100, end="")

    assert os.strerror(errno.ESTALE) in recorder.failure
    assert not list(tmp_path.glob(".*"))


def test_next_episode_tries_again_after_a_failure(make, run, tmp_path, monkeypatch):
    recorder = make()
    with monkeypatch.context() as patch:
        patch.setattr(sink_module.os, "write", FaultyFile(4, errno.ENOSPC))
        run(recorder, 10)
    assert recorder.failure

    run(recorder, 10)

    assert recorder.failure == ""
    assert Episode.open(tmp_path / "episode_000001.mcap").is_complete


@pytest.mark.parametrize("n", range(3))
def test_an_episode_that_could_not_begin_leaves_no_file(
    make, run, tmp_path, monkeypatch, n
):
    (folder := tmp_path / "out").mkdir()
    monkeypatch.setattr(sink_module.os, "write", FaultyFile(n, errno.ENOSPC))

    run(make(folder), 10)

    assert list(folder.iterdir()) == []


def test_failing_sync_is_reported(make, run, monkeypatch):
    def fail(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(sink_module.os, "fdatasync", fail)
    recorder = make()

    run(recorder, 260)

    assert os.strerror(errno.EIO) in recorder.failure


def test_folder_that_cannot_be_made_is_a_failure(make, run, tmp_path):
    (tmp_path / "file").write_text("")
    recorder = make(tmp_path / "file" / "out")

    run(recorder, 3)

    assert recorder.failure.startswith("recording of")


def fake_usage(monkeypatch, share):
    usage = shutil.disk_usage("/")
    fake = type(usage)(total=10**9, used=0, free=int(share * 10**9))
    monkeypatch.setattr(recorder_module.shutil, "disk_usage", lambda _: fake)


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_a_file_that_is_not_there_any_more_is_a_failure(
    make, tools, rings, tmp_path, how
):
    recorder, now = make(), tools.START_NS
    rings[0].push_event(event="episode_begin", episode=0, t_ns=now)
    for i in range(200):
        if i == 100:
            path = recorder.path
            path.rename(tmp_path / "mine.mcap")
            if how == "removed":
                (tmp_path / "mine.mcap").unlink()
            elif how == "replaced":
                path.write_text("another")
        recorder.step(now + i * tools.PERIOD_NS)

    assert "moved or removed" in recorder.failure
    assert len(recorder.losses) == 1
    assert not recorder.is_recording


def test_a_finished_recording_is_the_only_file(make, run, tmp_path):
    run(make(), 20)

    names = {path.name for path in tmp_path.iterdir()} - {"toy.urdf"}
    assert names == {"episode_000000.mcap", "episode_000000.json"}


def test_little_free_space_warns(make, run, monkeypatch):
    fake_usage(monkeypatch, 0.08)
    recorder = make()

    run(recorder, 220)

    assert "only 80 MB free" in recorder.warning
    assert recorder.failure == ""


def test_almost_no_free_space_stops_the_recording(make, run, tmp_path, monkeypatch):
    fake_usage(monkeypatch, 0.015)
    recorder = make()

    run(recorder, 220)

    episode = Episode.open(tmp_path)
    assert "recording stopped" in recorder.failure
    assert episode.end_reason == "disk_full"
    assert episode.is_complete
    assert 190 < len(episode.ticks) < 210


def test_preflight_refuses_what_would_not_fit_twice(tmp_path, layout, monkeypatch):
    rate = estimate_rate(layout, 200.0, 500.0)
    fake_usage(monkeypatch, 0.5)
    check_free_space(tmp_path, rate, 10.0)

    with pytest.raises(RecordingError, match="make room"):
        check_free_space(tmp_path, rate, 1e6)


def test_preflight_refuses_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(RecordingError, match="expected a folder"):
        check_free_space(tmp_path / "file" / "out", 1.0, 1.0)


def test_header_that_is_no_json_is_refused_before_the_loop(robot, leader, tools):
    with pytest.raises(RecordingError, match="expected JSON values"):
        tools.make_recording_header(
            config={"rate": float("nan")},
            names={"leader": "a", "follower": "b", "env": "c"},
            robot=robot,
            leader=leader,
            gate_period=0.005,
        )


def test_late_records_of_the_other_ring_are_kept(make, tools, layout, rings, tmp_path):
    """The begin event may be drained after the gate records that belong to it."""
    recorder, (session, gate) = make(), rings
    gates = tools.make_gates(layout, 2)
    now = tools.START_NS
    gate.push(Stream.GATE, gates[0].tobytes())
    recorder.step(now + 2_000_000)
    session.push_event(event="episode_begin", episode=0, t_ns=now)
    gate.push(Stream.GATE, gates[1].tobytes())
    recorder.step(now + 7_000_000)

    recorder.finish("end", now + 20_000_000)

    assert len(Episode.open(tmp_path).gate) == 2


WRITER = """
import sys, time
sys.path.insert(0, {root!r})
import importlib.util
spec = importlib.util.spec_from_file_location("tools", {conftest!r})
tools = importlib.util.module_from_spec(spec)
sys.modules["tools"] = tools
spec.loader.exec_module(tools)
from pathlib import Path
from paprle.recording.recorder import Recorder
from paprle.contracts.settings.core import RecordSettings
from paprle.ipc.records import Stream
import json

folder = Path({folder!r})
robot = tools.make_robot(folder)
layout = tools.make_layout(robot, tools.POSE_LEADER)
tick, gate = tools.make_ticks(layout, 1)[0], tools.make_gates(layout, 1)[0]
batch = []
class Ring:
    dropped = {{}}
    def drain(self):
        out = list(batch); batch.clear(); return out
recorder = Recorder(RecordSettings(dir=str(folder)), layout,
                    tools.make_header(robot, tools.POSE_LEADER), [Ring()])
now = time.monotonic_ns()
begin = json.dumps({{"event": "episode_begin", "episode": 0, "t_ns": now}})
batch.append((0, begin.encode()))
k = 0
while True:
    now = time.monotonic_ns()
    tick["k"] = gate["k"] = k
    tick["stamp_ns"] = gate["stamp_ns"] = now
    batch += [(1, tick.tobytes()), (2, gate.tobytes())]
    recorder.step(now)
    print(now, flush=True)
    k += 1
    time.sleep(0.005)
"""


@pytest.mark.long
@pytest.mark.parametrize("n_written", spread([35, 63, 97], 63))
def test_kill_loses_at_most_100_ms_and_recover_works(tmp_path, n_written):
    here = Path(__file__).resolve()
    code = WRITER.format(
        root=str(here.parents[3]),
        conftest=str(here.parent / "conftest.py"),
        folder=str(tmp_path),
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE
    ) as child:
        told = [child.stdout.readline() for _ in range(n_written)]
        child.kill()
        last_ns = int((told + child.stdout.readlines())[-1])

    path = tmp_path / "episode_000000.mcap"
    episode = Episode.open(path)
    report = recover(path, make_recovered_path(path))

    assert episode.end_reason == "aborted"
    assert last_ns - episode.ticks["stamp_ns"][-1] <= 100_000_000
    assert last_ns - episode.gate["stamp_ns"][-1] <= 100_000_000
    np.testing.assert_array_equal(episode.ticks["k"], np.arange(len(episode.ticks)))
    assert report.n_ticks == len(episode.ticks) > 10
