"""A link in words."""

import pytest

from paprle.reconstruction.mirror_quality import MirrorQuality

MS = 1_000_000
BEGIN = 1000 * MS


def watch(trips_ms):
    """Return what is known of a link after some trips, one each 200 ms."""
    quality = MirrorQuality(stale_after=0.1)
    for n, trip_ms in enumerate(trips_ms):
        now_ns = BEGIN + 200 * n * MS
        quality.update(now_ns, n + 1, now_ns - trip_ms * MS)
    return quality


@pytest.mark.parametrize(
    ("trips_ms", "words"),
    [
        ([20] * 9, "link good (20 ms there and back)"),
        (
            [20] * 8 + [60],
            "link weak (20 ms there and back, 60 at worst): move slowly",
        ),
        (
            [40] * 8 + [95],
            "link bad (40 ms there and back, 95 at worst): pause, look at the network",
        ),
        ([95] + [20] * 20, "link good (20 ms there and back)"),
    ],
)
def test_the_quality_of_a_link_is_in_words_with_what_to_do(trips_ms, words):
    assert watch(trips_ms).describe() == words


def test_a_silent_link_is_lost_whatever_it_was():
    quality = watch([20] * 9)
    for late_ms in (2000, 4000):
        quality.update(BEGIN + late_ms * MS, 9, 0)

    assert quality.describe().startswith("link LOST: no state from the robot for 2.4 s")


def test_nothing_is_said_before_the_gate_has_spoken():
    quality = MirrorQuality(stale_after=0.1)
    quality.update(BEGIN, 0, 0)

    assert not quality.describe()
