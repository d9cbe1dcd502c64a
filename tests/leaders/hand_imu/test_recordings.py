"""Recordings of others through the whole leader: one continuous track, flagged.

The video goes through MediaPipe, for which PAPRLE_TRACKER_PYTHON names the Python of
the tracker's environment (leaders/hand_imu/README.md); ``.ci/nightly`` makes one.
"""

import os
import subprocess

import numpy as np
import pytest
from leap import read_leap
from shared_data import find_shared

from paprle.contracts.types import SessionState
from paprle.hardware.hand.frames import HandFrame
from paprle.hardware.hand.recording import read_recording, write_recording
from paprle.ipc.process import WORKSPACE
from paprle.leaders.hand_imu.config import CameraConfig, HandImuConfig
from paprle.leaders.hand_imu.leader import HandImu
from paprle.testing import ManualClock, make_feedback
from paprle_emulators.hand.model import CENTRE, FOCAL

STEP = 0.005  # [s]
FASTEST = 3.0  # [m/s] spec: docs/SAFETY.md, A1: of a hand
NOISE = 0.02  # [m] of a distance, as the track allows it
HELD = 5  # images without a hand that are held through
SILENT = 0.2  # [s] images that may be missing
LATE = 0.12  # [s] until a hand that is seen again counts

pytestmark = [pytest.mark.nightly]


def play(path, spoil=lambda frames: frames):
    """Return the leader's samples of a recording, and the images behind each.

    Args:
        path: The recording.
        spoil: Makes other images of its images.
    """
    recorded = read_recording(path)
    frames = spoil(list(recorded.frames))
    write_recording(path, frames)
    clock = ManualClock()
    leader = HandImu(HandImuConfig(camera=CameraConfig(recorded=str(path))), clock)
    leader.open()
    leader.apply(make_feedback(SessionState.WAITING, stamp_ns=clock()))
    begin_ns, samples, times = clock(), [], []
    while not (samples and samples[-1].is_exhausted):
        clock.advance(STEP)
        sample = leader.latest()
        if sample is not None:
            samples.append(sample)
            times.append((clock() - begin_ns) * 1e-9)
    leader.close()
    return frames, samples, np.array(times)


def assert_continuous(frames, samples, times):
    """No step is farther than the track lets a hand go, whatever is flagged.

    From one image to the next a hand goes FASTEST, and the noise of a distance beside;
    a cubic between them is at most twice as fast as its ends are.
    """
    p = np.array([
        sample.limbs["hand"].T_leader_base_leader_eef.translation for sample in samples
    ])  # fmt: skip
    speed = np.linalg.norm(np.diff(p, axis=0), axis=1) / np.diff(times)
    period = 1e-9 * float(np.median(np.diff([frame.stamp_ns for frame in frames])))
    stamps = np.array([sample.stamp_ns for sample in samples])

    assert np.isfinite(p).all()
    assert speed.max() < 2.0 * (FASTEST + NOISE / period)
    assert (np.diff(stamps) >= 0).all()
    assert np.ptp(p, axis=0).max() > 0.02, "the hand moves"


def assert_flagged(frames, samples, times):
    """A hand that is away is not valid, and one that is there is."""
    shown = np.array([(frame.stamp_ns - frames[0].stamp_ns) * 1e-9 for frame in frames])
    seen = np.array([frame.find("right") is not None for frame in frames])
    valid = np.array([sample.valid for sample in samples])
    period = float(np.median(np.diff(shown)))
    last = np.array(
        [shown[:k][seen[:k]].max(initial=-np.inf) for k in range(len(shown) + 1)]
    )
    at = np.searchsorted(shown, times, side="right")
    away = times - last[at]
    gone = away > max((HELD + 2) * period, 2 * STEP) + STEP

    assert not valid[gone].any(), "it was away"
    there = np.array([
        seen[(shown > t - SILENT - LATE) & (shown <= t)].all() for t in times
    ])  # fmt: skip
    assert there.any()
    assert valid[there & (times > SILENT + LATE)].mean() > 0.95


def leave(rng, share, longest):
    """Return what takes the hand away, now and then, for up to some images."""

    def spoil(frames):
        left = 0
        for k, frame in enumerate(frames):
            if left == 0 and rng.random() < share:
                left = int(rng.integers(1, longest))
            if left:
                left -= 1
                frames[k] = frame._replace(hands=())
        return frames

    return spoil


def jump(rng):
    """Return what spoils the distance of one image in ten."""

    def spoil(frames):
        for k, frame in enumerate(frames):
            if frame.hands and rng.random() < 0.1:
                factor = rng.choice([0.3, 3.0, np.nan])
                hand = frame.hands[0]
                frames[k] = frame._replace(
                    hands=(hand._replace(depth=hand.depth * factor),)
                )
        return frames

    return spoil


@pytest.fixture
def leap(tmp_path):
    rows = read_leap(find_shared("hand/leap_grab.json.lz").read_text())
    frames = [
        HandFrame(stamp_ns, k, (FOCAL, FOCAL), CENTRE, hands)
        for k, (stamp_ns, hands, _) in enumerate(rows)
    ]
    write_recording(tmp_path / "leap.npz", frames)
    return tmp_path / "leap.npz"


@pytest.fixture(scope="module")
def tracked(tmp_path_factory):
    """Return what MediaPipe finds in the video."""
    python = os.environ.get("PAPRLE_TRACKER_PYTHON", "")
    if not python:
        pytest.skip("no PAPRLE_TRACKER_PYTHON")
    video = find_shared("hand/dex_human_hand_video.mp4")
    path = tmp_path_factory.mktemp("video") / "hand.npz"
    words = "--kind=webcam", f"--device={video}", f"--save={path}"
    with subprocess.Popen(
        [python, "-m", "paprle.hardware.hand", *words],
        cwd=WORKSPACE,
        env=os.environ | {"PYTHONPATH": str(WORKSPACE)},
        stdin=subprocess.PIPE,  # its end would be the tracker's
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said = process.stderr.read()
    assert "the file is over" in said
    return path


@pytest.fixture
def video(tracked, tmp_path):
    path = tmp_path / "hand.npz"
    path.write_bytes(tracked.read_bytes())
    return path


def test_a_recorded_hand_is_a_continuous_flagged_track(leap):
    frames, samples, times = play(leap)

    assert_continuous(frames, samples, times)
    assert_flagged(frames, samples, times)


@pytest.mark.parametrize("seed", range(3))
def test_a_hand_that_leaves_and_comes_back_is_flagged_and_leaps_nowhere(leap, seed):
    frames, samples, times = play(leap, leave(np.random.default_rng(seed), 0.01, 60))

    assert_continuous(frames, samples, times)
    assert_flagged(frames, samples, times)
    assert not all(sample.valid for sample in samples)


@pytest.mark.parametrize("seed", range(3))
def test_distances_that_are_wrong_make_no_leap(leap, seed):
    frames, samples, times = play(leap, jump(np.random.default_rng(seed)))

    assert_continuous(frames, samples, times)


@pytest.mark.process
@pytest.mark.timeout(600)
def test_mediapipe_finds_the_hand_of_a_video_all_the_time(tracked):
    frames = read_recording(tracked).frames

    assert len(frames) == 621  # of 30 a second
    assert np.mean([frame.find("right") is not None for frame in frames]) > 0.95
    assert np.mean([frame.find("left") is not None for frame in frames]) < 0.02


@pytest.mark.process
@pytest.mark.timeout(600)
def test_a_video_of_a_hand_is_a_continuous_flagged_track(video):
    frames, samples, times = play(video)

    assert_continuous(frames, samples, times)
    assert_flagged(frames, samples, times)


@pytest.mark.process
@pytest.mark.timeout(600)
def test_a_video_in_which_the_hand_leaves_leaps_nowhere(video):
    frames, samples, times = play(video, leave(np.random.default_rng(0), 0.02, 30))

    assert_continuous(frames, samples, times)
    assert_flagged(frames, samples, times)
