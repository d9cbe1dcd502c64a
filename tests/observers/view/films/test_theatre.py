"""The viewer's server: who has the token gets the recordings, nobody else anything."""

import http.client
import json
import time
from urllib.parse import urlsplit

import pytest
from filmed import write_episode

from paprle.observers.view.films.theatre import Theatre
from paprle_lab.viewing.choose import choose_shelf

SECONDS = 1.0


@pytest.fixture(scope="module")
def theatre(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filmed")
    for _ in range(4):
        write_episode(folder, SECONDS, cameras=("front",))
    (folder / "episode_000003.mcap").write_bytes(b"nothing")
    theatre = Theatre(choose_shelf(folder), time.monotonic_ns, 8190, 0.5)
    theatre.open()
    yield theatre
    theatre.close()


def ask(theatre, path, token=None, host=None):
    root, _, own = theatre.address.partition("#")
    server = http.client.HTTPConnection(urlsplit(root).netloc, timeout=20)
    try:
        address = f"/film/{own if token is None else token}/{path}"
        server.request("GET", address, headers={} if host is None else {"Host": host})
        answer = server.getresponse()
        return answer.status, answer.read()
    finally:
        server.close()


def read(theatre, path):
    return json.loads(ask(theatre, path)[1])


def test_the_shelf_lists_what_is_there(theatre):
    shelf = read(theatre, "shelf")

    assert [one["name"] for one in shelf["entries"]][:2] == [
        "episode_000000", "episode_000001",
    ]  # fmt: skip
    assert shelf["entries"][0]["task"] == "pick"
    assert shelf["begin"] == 0.5


def test_an_opened_film_has_signals_pictures_and_a_robot_that_moves(theatre):
    film = read(theatre, "open?film=0")
    k = next(k for k, one in enumerate(film["signals"]) if one["name"] == "measured")
    signal = read(theatre, f"signal?film=0&k={k}&from=0&to=1")

    assert film["length"] == pytest.approx(SECONDS, abs=0.05)
    assert signal["values"][-1] == pytest.approx(0.4 * signal["t"][-1], abs=0.01)
    status, data = ask(theatre, "picture?film=0&camera=front&t=0.5&w=320")
    assert (status, data[:2]) == (200, b"\xff\xd8")
    assert ask(theatre, "picture?film=0&camera=front&t=-9&w=320") == (204, b"")
    assert ask(theatre, "still?film=0")[1].startswith(b"\xff\xd8")
    state = read(theatre, "move?film=0&t=0.5")
    assert state["joints"][0]["q"] == pytest.approx(0.2, abs=0.01)


def test_films_follow_one_another_and_the_first_opens_again(theatre):
    for k in (0, 1, 2, 0):
        assert read(theatre, f"open?film={k}")["name"] == f"episode_00000{k}"
        assert ask(theatre, f"picture?film={k}&camera=front&t=0.5&w=64")[0] == 200


def test_a_recording_that_cannot_be_read_says_why(theatre):
    assert "expected" in read(theatre, "open?film=3")["error"]
    assert "error" in read(theatre, "still?film=3")


@pytest.mark.parametrize(
    "path",
    [
        "", "nothing", "open", "open?film=x", "open?film=99", "open?film=-1",
        "signal?film=0&k=999&from=0&to=1", "signal?film=0&k=-1&from=0&to=1",
        "picture?film=0&camera=../etc&t=0&w=64", "picture?film=0&camera=front&t=0&w=0",
        "picture?film=0&camera=front&t=nan&w=1", "move?film=0&t=inf",
    ],
)  # fmt: skip
def test_other_addresses_are_not_found(theatre, path):
    assert ask(theatre, path)[0] == 404


@pytest.mark.parametrize("token", ["", "x", "%2e%2e"])
def test_without_the_token_nothing_is_told(theatre, token):
    assert ask(theatre, "shelf", token)[0] in {401, 429}


def test_another_host_name_is_refused(theatre):
    assert ask(theatre, "shelf", host="evil.example")[0] == 421
