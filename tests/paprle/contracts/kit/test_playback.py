import pytest

from paprle.contracts.kit.playback import Playback
from paprle.contracts.types import SessionState
from paprle.testing import make_feedback

S = 1_000_000_000


def feedback(state="ENGAGED", episode=0):
    return make_feedback(SessionState[state], episode=episode)


def test_stands_still_until_engaged():
    playback = Playback(duration=2.0, n_plays=1)

    playback.advance(5 * S)
    playback.apply(feedback("ALIGNING"), 6 * S)
    assert playback.advance(7 * S) == 0
    playback.apply(feedback(), 8 * S)

    assert playback.advance(9 * S) == 1 * S


def test_pauses_while_the_session_does_not_follow():
    playback = Playback(duration=9.0, n_plays=1)

    playback.apply(feedback(), 0)
    playback.apply(feedback("CLUTCHED"), 1 * S)
    paused = playback.advance(5 * S)
    playback.apply(feedback(), 6 * S)

    assert paused == 1 * S
    assert playback.advance(7 * S) == 2 * S


def test_coasts_through_a_gap_and_waits_at_its_end():
    playback = Playback(duration=9.0, n_plays=1)

    playback.apply(feedback(), 0)
    playback.coast_until_ns = 3 * S
    playback.apply(feedback("CLUTCHED"), 1 * S)

    assert playback.advance(2 * S) == 2 * S
    assert playback.advance(8 * S) == 3 * S


def test_ends_once_and_is_exhausted_after_its_plays():
    playback = Playback(duration=1.0, n_plays=2)

    playback.apply(feedback(), 0)
    playback.advance(1 * S)
    first = (playback.is_over, playback.is_exhausted)
    playback.apply(feedback("WAITING", episode=1), 2 * S)
    between = (playback.is_over, playback.advance(2 * S))
    playback.apply(feedback(episode=1), 3 * S)
    playback.advance(5 * S)

    assert first == (True, False)
    assert between == (False, 0)
    assert (playback.is_over, playback.is_exhausted) == (True, True)


def test_discarded_episode_starts_over_and_does_not_count():
    playback = Playback(duration=4.0, n_plays=1)

    playback.apply(feedback(), 0)
    playback.advance(2 * S)
    playback.apply(feedback("RESETTING"), 2 * S)

    assert playback.advance(3 * S) == 0
    assert playback.n_played == 0
    assert playback.asks_to_start


def test_endless_play_is_never_exhausted():
    playback = Playback(duration=1.0, n_plays=0)
    for episode in range(5):
        playback.apply(feedback(episode=episode), 2 * episode * S)
        playback.advance((2 * episode + 1) * S)
        assert playback.is_over

    assert not playback.is_exhausted


@pytest.mark.parametrize("step_ns", [1, 0, -5 * S], ids=["tick", "still", "backwards"])
def test_time_never_goes_back(step_ns):
    playback = Playback(duration=9.0, n_plays=1)

    playback.apply(feedback(), 0)
    before = playback.advance(2 * S)

    assert playback.advance(2 * S + step_ns) >= before
