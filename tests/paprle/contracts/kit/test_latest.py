import threading

import pytest

from paprle.contracts.kit.latest import Latest

S = 1_000_000_000


def test_is_empty_before_the_first_value():
    latest = Latest()

    assert latest.read() is None
    assert latest.value is None
    assert latest.stamp_ns is None
    assert latest.compute_age(5 * S) == float("inf")


def test_the_newest_value_wins_and_says_how_old_it_is():
    latest = Latest()
    latest.write("first", 1 * S)
    latest.write("second", 2 * S)

    assert latest.read() == ("second", 2 * S)
    assert (latest.value, latest.stamp_ns) == ("second", 2 * S)
    assert latest.compute_age(5 * S) == pytest.approx(3.0)


def test_a_value_that_comes_late_is_dropped():
    latest = Latest()
    latest.write("new", 2 * S)
    latest.write("late", 1 * S)

    assert latest.read() == ("new", 2 * S)


def test_forgets_when_it_is_cleared_even_the_stamp():
    latest = Latest()
    latest.write("before", 9 * S)
    latest.clear()
    latest.write("after", 1 * S)

    assert latest.read() == ("after", 1 * S)


def test_value_and_stamp_always_belong_together():
    latest, done, seen = Latest(), threading.Event(), []

    def write():
        for k in range(20_000):
            latest.write(k, k)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        if (held := latest.read()) is not None:
            seen.append(held)
    writer.join()

    assert all(value == stamp for value, stamp in seen)
    assert seen == sorted(seen)
