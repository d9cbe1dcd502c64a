"""Films are read one after the other; one that is not wanted any more ends at once."""

import threading
import time

import numpy as np
import pytest

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Entry, Film, RecordingList
from paprle.observers.view.films.open_films import OpenFilms


class QuickFilm(Film):
    """A film that knows whether it is closed."""

    def __init__(self, k):
        self.name, self.length, self.is_closed = f"film {k}", 1.0, False

    def read_signal(self, _):
        return np.zeros(0), np.zeros(0)

    def see(self, *_):
        return None

    def close(self):
        self.is_closed = True


class SlowList(RecordingList):
    """Film 0 takes for ever to read, film 9 cannot be read, the others take no time."""

    title = "slow"
    entries = tuple(Entry(f"film {k}") for k in range(10))

    def __init__(self):
        self.films, self.begins = {}, threading.Event()

    def open(self, k, report=None):
        if k == 9:
            raise RecordingError("expected a recording, got none")
        self.begins.set()
        while k == 0:
            report(0.25)
            time.sleep(0.01)
        self.films[k] = QuickFilm(k)
        return self.films[k]

    def find_still(self, _):
        return None


@pytest.fixture
def listed():
    return SlowList()


@pytest.fixture
def films(listed):
    films = OpenFilms(listed)
    yield films
    films.close()


def test_a_long_reading_says_how_far_it_is(films):
    assert films.ask(0) == 0.25


@pytest.mark.timeout(20)
def test_the_end_waits_for_no_reading(films):
    films.ask(0)
    begin = time.monotonic()
    films.close()

    assert time.monotonic() - begin < 2.0


@pytest.mark.timeout(20)
def test_another_two_films_end_the_reading_of_a_third(films):
    films.ask(0)
    films.ask(1)
    assert films.ask(2) is None
    with films.use(1) as film:
        assert film.name == "film 1"


def test_the_film_before_the_last_is_closed(films, listed):
    for k in (1, 2, 3):
        assert films.ask(k) is None

    assert [listed.films[k].is_closed for k in (1, 2, 3)] == [True, False, False]


def test_a_film_that_cannot_be_read_says_why_each_time(films):
    for _ in range(2):
        with pytest.raises(RecordingError, match="expected a recording"):
            films.ask(9)
