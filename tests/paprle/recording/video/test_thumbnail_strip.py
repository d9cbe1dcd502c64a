"""A strip shows a camera's pictures in order, evenly through an episode."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from filmed import START_NS, write_episode
from PIL import Image

from paprle.contracts.errors import RecordingError
from paprle.ipc.process import WORKSPACE
from paprle.recording.video.pictures import Footage
from paprle.recording.video.thumbnail_strip import make_strips, needs_no_other
from paprle_emulators.camera.clock_picture import read_clock
from paprle_lab.evaluation.reporting.report import evaluate


@pytest.fixture(scope="module")
def episode(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filmed")
    return write_episode(folder, 4.0, cameras=("front", "<b>side"))


@pytest.mark.long
def test_stills_show_the_instants_that_are_told(episode):
    strip = make_strips(episode, n=4)["front"]
    image = np.asarray(Image.open(io.BytesIO(strip.jpeg)))
    n = len(strip.stamps_ns)

    assert n >= 3
    assert list(strip.stamps_ns) == sorted(strip.stamps_ns)
    assert strip.stamps_ns[-1] - strip.stamps_ns[0] > 2_000_000_000
    for still, stamp_ns in zip(
        np.split(image, n, axis=1), strip.stamps_ns, strict=True
    ):
        assert read_clock(still) == pytest.approx(stamp_ns / 1e6, abs=1.0)
    assert strip.stamps_ns[0] >= START_NS


def test_given_instants_show_their_newest_pictures(episode):
    stamps = [one.stamp_ns for one in Footage(episode).read_coded("front")]
    between = [stamps[k] + 3_000_000 for k in (13, 14, 50)]

    strip = make_strips(episode, [0, *between, stamps[-1] + 10**9])["front"]

    assert strip.stamps_ns == tuple(stamps[k] for k in (0, 13, 14, 50, -1))
    image = np.asarray(Image.open(io.BytesIO(strip.jpeg)))
    for still, stamp_ns in zip(
        np.split(image, 5, axis=1), strip.stamps_ns, strict=True
    ):
        assert read_clock(still) == pytest.approx(stamp_ns / 1e6, abs=1.0)


def test_every_second_has_a_picture_that_needs_no_other(episode):
    keys = [
        c.stamp_ns for c in Footage(episode).read_coded("front") if needs_no_other(c)
    ]

    assert 3 <= len(keys) <= 8
    assert np.diff(keys).max() < 1_100_000_000


def test_an_invalid_recording_is_refused(tmp_path):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(b"nothing")

    with pytest.raises(RecordingError, match="expected a recording"):
        make_strips(path)


@pytest.mark.nightly
@pytest.mark.long
def test_the_report_has_a_strip_of_each_camera_and_trusts_no_name(episode, tmp_path):
    evaluate([episode], tmp_path)
    html = (tmp_path / f"{episode.stem}.report.html").read_text(encoding="utf-8")

    assert "<h3>Camera front</h3>" in html
    assert "<h3>Camera &lt;b&gt;side</h3>" in html
    # two strips along the episode, two of its moments
    assert html.count("data:image/jpeg;base64,") == 4


@pytest.mark.nightly  # the page's own nightly test asks it, too
def test_a_process_of_its_own_writes_them_as_json(episode):
    words = [
        sys.executable,
        "-m",
        "paprle.recording.video.thumbnail_strip",
        str(episode),
    ]
    done = subprocess.run(words, capture_output=True, check=True, cwd=WORKSPACE)
    told = [json.loads(line) for line in done.stdout.splitlines()]

    assert [one["camera"] for one in told] == ["front", "<b>side"]
    assert told[0]["seconds"][0] == 0.0
