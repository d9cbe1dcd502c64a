"""What was recorded is shown with pictures, and reported on when it is asked for."""

import base64
import http.client
import io
import json
import time

import pytest
from filmed import write_episode
from phones import wait_until
from PIL import Image
from websockets.sync.client import connect

from paprle.contracts.types import SessionState
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.library import Library
from paprle.observers.view.observer import View, find_port
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

ROBOT = make_robot_info(has_gripper=True, n_limbs=2)


@pytest.fixture
def library():
    made = Library({}, lambda: True)
    yield made
    made.close()


def test_only_what_the_session_recorded_is_reported_on(library, tmp_path):
    for name in ("../../etc/passwd", "episode_000001", ""):
        assert "no such episode" in library.ask(name)
    library.take([{"path": str(tmp_path / "episode_000001.json")}], is_calm=False)

    assert library.ask("episode_000001") == ""
    assert library.ask("episode_000001") == "it is being made"


def test_a_report_that_is_there_is_served_at_an_address_nobody_guesses(
    library, tmp_path
):
    path = tmp_path / "episode_000001.json"
    path.with_name("episode_000001.report.html").write_text("<p>hello")
    library.take([{"path": str(path)}], is_calm=False)
    library.ask(path.stem)
    wait_until(lambda: "address" in library.reports[path.stem], 10.0)
    address = library.reports[path.stem]["address"]

    assert len(address) > 30
    assert library._pages[address].body == b"<p>hello"
    assert "script-src" not in library._pages[address].policy


@pytest.mark.nightly  # evaluating at the lowest priority takes a busy machine a minute
def test_a_page_gets_strips_and_the_report_it_asks_for(tmp_path):
    recorded = write_episode(tmp_path, 2.0, cameras=("front",))
    config = ViewConfig(port=find_port(18380), scene=False)
    view = View(config, ROBOT, time.monotonic_ns)
    view.open()
    try:
        wait_until(lambda: view._talk is not None, 20.0)
        own = f"http://127.0.0.1:{view._port}"
        told = {"path": str(recorded.with_suffix(".json")), "mark": "success"}
        with connect(
            own.replace("http", "ws") + "/console", origin=own, compression=None,
            subprotocols=["paprle", view._key],
        ) as socket:  # fmt: skip
            socket.send(json.dumps({"type": "hello", "version": 1, "page": "a"}))
            socket.send(json.dumps({"type": "report", "episode": recorded.stem}))
            view.observe(
                make_session_view(
                    ROBOT,
                    time.monotonic_ns(),
                    state=SessionState.WAITING,
                    news={"episodes": [told]},
                )
            )
            assert read(socket, "refused")["why"] == "take control first"
            socket.send(json.dumps({"type": "control", "wanted": True}))
            strips = read(socket, "strips")
            socket.send(json.dumps({"type": "report", "episode": recorded.stem}))
            state = read(socket, "state", lambda m: "address" in str(m["reports"]))
        there = http.client.HTTPConnection("127.0.0.1", view._port, timeout=5)
        there.request("GET", state["reports"][recorded.stem]["address"])
        answer = there.getresponse()
        html = answer.read().decode()
    finally:
        view.close()

    assert strips["episode"] == recorded.stem
    picture = base64.b64decode(strips["strips"][0]["jpeg"])
    assert Image.open(io.BytesIO(picture)).size[0] > 96
    assert "<h3>Camera front</h3>" in html
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def read(socket, kind, is_it=lambda _: True):
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        message = json.loads(socket.recv(timeout=60))
        if message["type"] == kind and is_it(message):
            return message
    raise AssertionError(kind)
