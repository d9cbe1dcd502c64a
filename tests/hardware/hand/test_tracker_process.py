"""The process of a tracker: what it says, its end, and its begin again."""

import importlib.util
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from emulated_tracker import EmulatedTracker

from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.tracker import make_finder, measure_depth
from paprle.hardware.hand.tracker_process import TrackerProcess, TrackerSettings

PATIENCE = 20.0  # [s] chosen: a busy machine


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


@pytest.fixture
def tracker(tmp_path):
    return EmulatedTracker(tmp_path)


@pytest.fixture
def process(tracker):
    settings = TrackerSettings(python=tracker.python)
    process = TrackerProcess(settings, time.monotonic_ns)
    yield process
    process.close()


@pytest.mark.process
@pytest.mark.long
def test_frames_come_with_their_age_whatever_else_is_in_the_pipe(tracker, process):
    process.open()
    tracker.tell('{"at": [0.1, 0.0, 0.5], "garbage": true}')
    seq = process.newest.seq

    wait_for(lambda: process.newest.seq > seq + 5)

    newest = process.newest
    assert newest.hands[0].depth[9] == pytest.approx(0.5)
    assert 0 <= time.monotonic_ns() - newest.stamp_ns < PATIENCE * 1e9


@pytest.mark.process
@pytest.mark.nightly
def test_a_tracker_that_ends_is_told_and_begun_again(tracker, process):
    process.open()

    tracker.tell('{"fail": "realsense: is it unplugged?"}')
    wait_for(lambda: "is it unplugged?" in process.fault)
    seq = process.newest.seq
    tracker.tell('{"at": [0.0, 0.0, 0.6]}')
    wait_for(lambda: process.newest.seq > seq)

    assert process.fault == ""
    assert process.n_restarts >= 1


@pytest.mark.process
@pytest.mark.long
def test_a_tracker_that_does_not_start_reports_its_last_line(tracker, process):
    tracker.tell('{"fail": "no camera here"}')

    with pytest.raises(HandError, match="no camera here"):
        process.open()


@pytest.mark.process
@pytest.mark.long
def test_closing_leaves_no_process(process):
    process.open()
    pid = process._process.pid

    process.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_no_such_python_names_the_page():
    process = TrackerProcess(TrackerSettings(python="/no/python"), time.monotonic_ns)

    with pytest.raises(HandError, match="README"):
        process.open()


def test_depth_is_the_median_of_what_was_measured_around():
    counts = np.zeros((48, 64), np.uint16)
    counts[10:17, 20:27] = 500
    counts[12, 22] = 60_000
    counts[13, 24] = 0

    depth = measure_depth(counts, np.array([[23, 13], [0, 0], [-5, 2], [80, 2]]), 1e-3)

    assert depth[0] == pytest.approx(0.5)
    assert np.isnan(depth[1:]).all()


def test_without_mediapipe_the_page_is_named():
    if importlib.util.find_spec("mediapipe") is not None:
        pytest.skip("it is here")

    with pytest.raises(HandError, match="README"):
        make_finder("")


def test_the_trackers_program_imports_nothing_of_the_core():
    folder = Path(__file__).resolve().parents[3] / "hardware" / "hand"

    for path in folder.glob("*.py"):
        assert not re.search(r"paprle\.(?!hardware\b)", path.read_text()), path
