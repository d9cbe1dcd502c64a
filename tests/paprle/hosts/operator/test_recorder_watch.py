"""A recording that failed is counted, its leftovers go, and its file is named."""

from __future__ import annotations

import threading

import pytest

from paprle.hosts.operator.recorder_watch import RecorderWatch
from paprle.recording import events
from paprle.recording.mcap.journal import GONE

S = 1_000_000_000


class Children:
    """Processes of which nothing is asked."""

    def restart(self, name):
        pass

    def count_dropped(self):
        return 0


def tell(watch, event, number, seconds):
    watch.take_event({"event": event, "episode": number}, int(seconds * S))


def report(watch, seconds, *, path="", failure="", whole=None):
    marks = {str(one): "kept" for one in (whole or {})}
    watch.take_report(
        {
            "event": "recording",
            "failure": failure,
            "warning": "",
            "dropped": {},
            "path": str(path),
            "episodes": list(marks),
            "marks": list(marks.values()),
            "facts": {str(one): {"episode": n} for one, n in (whole or {}).items()},
        },
        int(seconds * S),
    )


@pytest.fixture
def said():
    return []


@pytest.fixture
def watch(said):
    return RecorderWatch(Children(), said.append, is_asked=True)


def write_unfinished(folder):
    """What a killed recorder leaves: a file, and two that nobody sees."""
    path = folder / "episode_000000.mcap"
    for name in (path.name, f".{path.name}.part", ".episode_000000.json.ab12"):
        (folder / name).write_bytes(b"x")
    return path


def test_a_killed_recorders_file_is_named_and_its_leftovers_go(watch, tmp_path):
    path = write_unfinished(tmp_path)
    tell(watch, events.BEGIN, 0, 1.0)
    report(watch, 1.1, path=path)
    tell(watch, events.END, 0, 5.0)
    watch.lose("recorder died: killed by signal 9", 6 * S)

    watch.finish(7 * S)

    told = watch.summarise()
    assert len(told["failures"]) == 1
    assert told["failures"][0].startswith("episode 0: no manifest")
    assert told["broken"] == [str(path)]
    assert list(tmp_path.iterdir()) == [path]


def test_each_episode_without_a_whole_recording_is_counted(watch, tmp_path):
    whole = tmp_path / "episode_000001.mcap"
    for number in range(4):
        tell(watch, events.BEGIN, number, 10.0 * number)
        if number == 1:
            report(watch, 10.1, path=whole)
            report(watch, 19.0, whole={whole: 1})
        if number == 2:
            report(watch, 25.0, failure="recording of 'x' failed: No space left")
        tell(watch, events.END, number, 10.0 * number + 9.0)
        if number == 2:
            report(watch, 29.5)

    watch.finish(60 * S)

    failed = [line.partition(":")[0] for line in watch.losses]
    assert sorted(failed) == ["episode 0", "episode 2", "episode 3"]
    assert watch.summarise()["broken"] == []


def test_a_file_that_vanished_has_lost_all_of_it(watch, said, tmp_path):
    path = tmp_path / "episode_000000.mcap"
    tell(watch, events.BEGIN, 0, 1.0)
    report(watch, 1.1, path=path)
    report(watch, 5.0, failure=f"recording of '{path}' failed: {GONE}")
    tell(watch, events.END, 0, 5.1)

    watch.finish(6 * S)

    assert said[0].startswith("RECORDING FAILED")
    assert "all of it is lost, unless the file was moved" in watch.losses[0]
    assert watch.broken == []


def test_a_disk_that_does_not_answer_does_not_hold_up_the_end(
    watch, tmp_path, monkeypatch
):
    never = threading.Event()
    monkeypatch.setattr(
        "paprle.hosts.operator.recorder_watch.clear_leftovers",
        lambda _: never.wait(30.0),
    )
    monkeypatch.setattr("paprle.hosts.operator.recorder_watch._ANSWERS", 0.05)
    path = tmp_path / "episode_000000.mcap"
    tell(watch, events.BEGIN, 0, 1.0)
    report(watch, 1.1, path=path)
    tell(watch, events.END, 0, 5.0)

    watch.finish(6 * S)

    never.set()
    assert watch.broken == [str(path)]
