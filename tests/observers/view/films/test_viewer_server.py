"""The viewer's server gives recordings to pages with the token alone."""

import http.client
import json
import time
from urllib.parse import quote, urlsplit

import pytest
from filmed import write_episode
from served_rig import wait_for

from paprle.contracts.film import mark_moment
from paprle.observers.view.films.viewer import Viewer
from paprle_lab.viewing.listing import list_recordings

SECONDS = 1.0


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filmed")
    for _ in range(4):
        write_episode(folder, SECONDS, cameras=("front",))
    (folder / "episode_000003.mcap").write_bytes(b"nothing")
    write_reports(folder)
    viewer = Viewer(list_recordings(folder), time.monotonic_ns, 8190, 0.5)
    viewer.open()
    yield viewer
    viewer.close()


def write_reports(folder):
    """One report of an episode, and one of several, one of which is elsewhere."""
    own = mark_moment("episode_000001.mcap", 0.4)
    (folder / "episode_000001.report.html").write_text(
        f"<td>{own}<code>paprle view</code></td>"
    )
    marks = [mark_moment(f"episode_00000{k}.mcap", 0.1 * (1 + k / 2)) for k in (0, 2)]
    marks.append(mark_moment("else--where.mcap", 1.0))
    several = folder / "episode_000000_and_2_more.report.html"
    several.write_text("\n".join(marks))


def ask(viewer, path, token=None, host=None):
    root, _, own = viewer.address.partition("#")
    server = http.client.HTTPConnection(urlsplit(root).netloc, timeout=20)
    try:
        address = f"/film/{own if token is None else token}/{path}"
        server.request("GET", address, headers={} if host is None else {"Host": host})
        answer = server.getresponse()
        return answer.status, answer.read()
    finally:
        server.close()


def read(viewer, path):
    return json.loads(ask(viewer, path)[1])


def test_the_list_names_what_is_there(viewer):
    listed = read(viewer, "list")

    assert [one["name"] for one in listed["entries"]][:2] == [
        "episode_000000", "episode_000001",
    ]  # fmt: skip
    assert listed["entries"][0]["task"] == "pick"
    assert listed["begin"] == 0.5


def test_an_opened_film_has_signals_pictures_and_a_robot_that_moves(viewer):
    film = read(viewer, "open?film=0")
    k = next(k for k, one in enumerate(film["signals"]) if one["name"] == "measured")
    signal = read(viewer, f"signal?film=0&k={k}&from=0&to=1")

    assert film["length"] == pytest.approx(SECONDS, abs=0.05)
    assert signal["values"][-1] == pytest.approx(0.4 * signal["t"][-1], abs=0.01)
    status, data = ask(viewer, "picture?film=0&camera=front&t=0.5&w=320")
    assert (status, data[:2]) == (200, b"\xff\xd8")
    assert ask(viewer, "picture?film=0&camera=front&t=-9&w=320") == (204, b"")
    assert ask(viewer, "still?film=0")[1].startswith(b"\xff\xd8")
    state = read(viewer, "move?film=0&t=0.5")
    assert state["joints"][0]["q"] == pytest.approx(0.2, abs=0.01)
    wait_for(lambda: read(viewer, "move?film=0&t=0.5")["scene"] == 1)


def test_films_follow_one_another_and_the_first_opens_again(viewer):
    for k in (0, 1, 2, 0):
        assert read(viewer, f"open?film={k}")["name"] == f"episode_00000{k}"
        assert ask(viewer, f"picture?film={k}&camera=front&t=0.5&w=64")[0] == 200


def test_a_recording_that_cannot_be_read_says_why(viewer):
    assert "expected" in read(viewer, "open?film=3")["error"]
    assert "error" in read(viewer, "still?film=3")


@pytest.mark.parametrize(
    "path",
    [
        "", "nothing", "report", "report?name=/etc/passwd",
        "open", "open?film=x", "open?film=99", "open?film=-1",
        "signal?film=0&k=999&from=0&to=1", "signal?film=0&k=-1&from=0&to=1",
        "picture?film=0&camera=../etc&t=0&w=64", "picture?film=0&camera=front&t=0&w=0",
        "picture?film=0&camera=front&t=nan&w=1", "move?film=0&t=inf",
    ],
)  # fmt: skip
def test_other_addresses_are_not_found(viewer, path):
    assert ask(viewer, path)[0] == 404


def test_a_report_is_served_with_links_to_its_moments(viewer):
    listed = read(viewer, "list")
    own, several = (
        next(one for one in listed["reports"] if (one["film"] < 0) is is_of_several)
        for is_of_several in (False, True)
    )
    token = viewer.address.partition("#")[2]

    assert own["film"] == 1
    status, body, policy = give(viewer, f"report?name={quote(own['name'])}")
    assert status == 200
    link = f'<a href="/#{token}&amp;film=1&amp;t=0.4">open at 0.4 s</a>'
    assert f"{link} <code>paprle view</code>" in body
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    _, body, _ = give(viewer, f"report?name={quote(several['name'])}")
    assert "film=0&amp;t=0.1" in body
    assert "film=2&amp;t=0.2" in body
    assert body.count("<a ") == 2, "a recording that is not listed has no link"


def give(viewer, path):
    """Return status, text and policy of an answer."""
    root, _, own = viewer.address.partition("#")
    server = http.client.HTTPConnection(urlsplit(root).netloc, timeout=20)
    try:
        server.request("GET", f"/film/{own}/{path}")
        answer = server.getresponse()
        policy = answer.headers["Content-Security-Policy"]
        return answer.status, answer.read().decode(), policy
    finally:
        server.close()


@pytest.mark.parametrize("token", ["", "x", "%2e%2e"])
def test_without_the_token_nothing_is_told(viewer, token):
    assert ask(viewer, "list", token)[0] in {401, 429}


def test_another_host_name_is_refused(viewer):
    assert ask(viewer, "list", host="evil.example")[0] == 421
