"""Hands that others recorded: a continuous track, flagged, and one event a gesture."""

import numpy as np
import pytest
from leap import read_leap
from shared_data import find_shared

from paprle.hardware.hand.frames import HandFrame
from paprle.leaders.hand_imu.gestures import Fist
from paprle.leaders.hand_imu.place import locate
from paprle.leaders.hand_imu.track import HandTrack
from paprle_emulators.hand.model import CENTRE, FOCAL


def read():
    return read_leap(find_shared("hand/leap_grab.json.lz").read_text())


def follow(frames):
    """Return times, positions, flags and raw positions of a film."""
    track, rows = HandTrack(), []
    for frame in frames:
        hand = frame.hands[0] if frame.hands else None
        p = None if hand is None else locate(frame, hand, "palm", 0.09)
        track.update(p, frame.stamp_ns * 1e-9)
        rows.append((frame.stamp_ns * 1e-9, track.p, track.is_known, p))
    return track, rows


def assert_no_leap(rows):
    """No step is farther than a hand goes since the last image that moved it."""
    moved_t, before = rows[0][0], rows[0][1]
    for t, p, _, _ in rows[1:]:
        step = np.linalg.norm(p - before)
        assert step <= 3.0 * (t - moved_t) + 0.02
        if step > 0.0:
            moved_t, before = t, p


@pytest.fixture(scope="module")
def film():
    return [
        HandFrame(stamp_ns, k, (FOCAL, FOCAL), CENTRE, hands)
        for k, (stamp_ns, hands, _) in enumerate(read())
    ]


@pytest.mark.nightly
def test_a_recorded_hand_is_a_continuous_flagged_track(film):
    track, rows = follow(film)
    seen = np.array([row[3] is not None for row in rows])
    known = np.array([row[2] for row in rows])

    assert_no_leap(rows)
    assert known[seen].mean() > 0.9
    for k in range(8, len(rows)):
        if not seen[k - 6 : k + 1].any():
            assert not known[k], "lost for more than five images"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_images_lost_and_spoiled_make_no_leap(film, seed):
    rng = np.random.default_rng(seed)
    spoiled = []
    for frame in film:
        hands = frame.hands
        if hands and rng.random() < 0.1:
            factor = rng.choice([0.3, 3.0, np.nan])
            hands = (hands[0]._replace(depth=hands[0].depth * factor),)
        spoiled.append(frame._replace(hands=hands if rng.random() > 0.1 else ()))

    track, rows = follow(spoiled)

    p = np.array([row[1] for row in rows])
    assert_no_leap(rows)
    if not any(row[3] is None for row in rows[-3:]):
        true = np.array([row[1] for row in follow(film)[1]])
        assert np.linalg.norm(p[-1] - true[-1]) < 0.1


@pytest.mark.nightly
def test_a_recorded_grab_is_one_event_for_each_grab(film):
    grabs = [grab > 0.5 for _, _, grab in read() if grab is not None]
    n_grabs = int(np.abs(np.diff(np.array(grabs, int))).sum())
    fist = Fist()
    states = [
        fist.update(frame.hands[0].shape, frame.stamp_ns * 1e-9)
        for frame in film
        if frame.hands
    ]

    n_events = int(np.abs(np.diff(np.array(states, int))).sum())

    assert n_grabs > 0
    assert n_events == n_grabs
