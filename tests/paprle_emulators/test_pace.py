"""An emulator's cycles are as the clock is, and a long pause is skipped."""

import pytest

from paprle_emulators.pace import Pace

MS = 1_000_000


def run(pace, times):
    """Return the number of skipped cycles of each begun at a time, [ms]."""
    found = []
    for now in times:
        assert now * MS >= pace.next_ns
        found.append(pace.begin(round(now * MS)))
    return found


@pytest.fixture
def pace():
    pace = Pace(0.002, most_late=3)
    pace.start(0)
    return pace


def test_deadlines_do_not_drift(pace):
    run(pace, [0.3, 2.9, 4.1])

    assert pace.next_ns == 6 * MS


def test_a_short_pause_is_made_up_for(pace):
    assert run(pace, [0, 7, 7, 7]) == [0] * 4
    assert pace.next_ns == 8 * MS


def test_a_long_pause_is_skipped_and_counted(pace):
    assert run(pace, [0, 13]) == [0, 5]
    assert pace.next_ns == 14 * MS


def test_cycles_after_a_late_one_are_not_shorter_than_they_may_be():
    pace = Pace(0.001, most_late=3, shortest=0.7)
    pace.start(0)

    run(pace, [0.9])

    assert pace.next_ns == 1.6 * MS
