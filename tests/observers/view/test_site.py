"""Who gets at the page and its picture (safety.md 9, rows 1 to 6 and 17)."""

import contextlib
import http.client
import json
import time

import pytest
from phones import wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port
from paprle.observers.view.viser_proxy import name_protocol
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

ZSTD = b"\x28\xb5\x2f\xfd"  # spec: RFC 8878, the magic number of a frame
EVIL = "http://evil.example"
ROBOT = make_robot_info(has_gripper=True, n_limbs=2)


@pytest.fixture(scope="module")
def view():
    made = View(
        ViewConfig(port=find_port(18380), scene=False), ROBOT, time.monotonic_ns
    )
    made.open()
    wait_until(lambda: made._talk is not None, 20.0)
    made.observe(make_session_view(ROBOT, time.monotonic_ns()))
    yield made
    made.close()


@pytest.fixture
def own(view):
    return f"http://127.0.0.1:{view._port}"


def dial(view, own, path="/console", origin=None, token=None, protocol="paprle"):
    token = view._key if token is None else token
    return connect(
        own.replace("http", "ws") + path,
        origin=own if origin is None else origin,
        subprotocols=[protocol, token] if token else [protocol],
        compression=None,
    )


class Page:
    """A page without a browser."""

    def __init__(self, view, own, name):
        self.socket = dial(view, own)
        self.say(type="hello", version=1, page=name)

    def say(self, **message):
        self.socket.send(json.dumps(message))

    def read(self, kind="state"):
        while True:
            message = json.loads(self.socket.recv(timeout=5))
            if message["type"] == kind:
                return message

    def wait_for(self, **wanted):
        for _ in range(50):
            message = self.read()
            if all(message.get(k) == v for k, v in wanted.items()):
                return message
        raise AssertionError(wanted)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"origin": EVIL}, 403),
        ({"origin": "null"}, 403),
        ({"token": "x" * 22}, 401),
        ({"path": "/leader"}, 404),
        ({"path": "/scene/anything"}, 404),
    ],
)
def test_strangers_open_no_socket(view, own, how, status):
    with pytest.raises(InvalidStatus) as refused, dial(view, own, **how):
        pass

    assert refused.value.response.status_code == status


def test_another_name_for_this_machine_is_refused(view):
    there = http.client.HTTPConnection("127.0.0.1", view._port, timeout=5)
    there.request("GET", "/", headers={"Host": "evil.example"})

    assert there.getresponse().status == 421


def test_the_page_loads_nothing_from_elsewhere_and_stands_in_no_frame(view):
    there = http.client.HTTPConnection("127.0.0.1", view._port, timeout=5)
    there.request("GET", "/")
    answer = there.getresponse()
    policy = answer.headers["Content-Security-Policy"]

    assert answer.status == 200
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert view._key.encode() not in answer.read()


def test_many_watch_and_one_operates(view, own):
    first, second = Page(view, own, "a"), Page(view, own, "b")
    first.say(type="control", wanted=True)
    first.wait_for(control="you")
    second.wait_for(watching=2, control="another")
    assert view.wishes.is_watched
    n = view.wishes.actions
    second.say(type="press", action="engage")
    assert second.read("refused")["why"] == "take control first"
    second.say(type="press", action="stop")
    wait_until(lambda: view.wishes.actions.since(n).stop == 1)
    second.say(type="control", wanted=True)
    first.wait_for(control="another")
    second.socket.close()
    first.wait_for(control="nobody")

    assert view.wishes.actions.since(n).engage == 0
    assert view.wishes.is_watched, "the first page is open"
    first.socket.close()
    wait_until(lambda: not view.wishes.is_watched)


def test_early_and_too_frequent_messages_are_ignored(view, own):
    with dial(view, own) as socket:
        socket.send(json.dumps({"type": "press", "action": "stop"}))
        n = view.wishes.actions
        with pytest.raises(ConnectionClosed):
            for _ in range(2000):
                socket.send(json.dumps({"type": "press", "action": "stop"}))
            for _ in range(2000):
                socket.recv(timeout=5)

    assert view.wishes.actions.since(n).stop == 0


@pytest.mark.long
def test_the_picture_is_seen_through_our_door_alone():
    import viser  # noqa: PLC0415

    from paprle.observers.view.viser_proxy import Relay  # noqa: PLC0415

    server = viser.ViserServer("127.0.0.1", 0, verbose=False)
    relay = Relay(lambda _: True)
    relay.guard(server)
    address = f"ws://127.0.0.1:{server.get_port()}"
    options = {"subprotocols": [name_protocol()], "max_size": None}
    try:
        with connect(address, origin=EVIL, **options) as hostile:
            with pytest.raises(ConnectionClosed) as closed:
                hostile.recv(timeout=5)
            assert closed.value.rcvd.code == 1008
        known = {"X-Paprle-Relay": relay._secret}
        with connect(address, additional_headers=known, **options) as ours:
            assert ours.recv(timeout=5)
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.parametrize("is_software", [False, True], ids=["graphics", "processor"])
def test_a_browser_with_a_graphics_card_gets_shadows(is_software):
    import msgspec  # noqa: PLC0415
    import viser  # noqa: PLC0415
    import zstandard  # noqa: PLC0415
    from viser._messages import ViewerCameraMessage  # noqa: PLC0415

    from paprle.observers.view.viser_proxy import Relay  # noqa: PLC0415

    server = viser.ViserServer("127.0.0.1", 0, verbose=False)
    relay = Relay(lambda _: True)
    relay.guard(server)
    address = f"ws://127.0.0.1:{server.get_port()}"
    headers = {"X-Paprle-Relay": relay._secret}
    if is_software:
        headers["X-Paprle-Software"] = "software"
    options = {"subprotocols": [name_protocol()], "max_size": None}
    ahead = (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.5), 0.8, 0.01, 100.0, 800, 600
    seen = ViewerCameraMessage(*ahead, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    told = b""
    try:
        with (
            connect(address, additional_headers=headers, **options) as ours,
            contextlib.suppress(TimeoutError),
        ):
            ours.send(msgspec.msgpack.encode(seen.as_serializable_dict()))
            while True:
                data = ours.recv(timeout=2)
                unpack = zstandard.ZstdDecompressor().decompressobj()
                told += unpack.decompress(data[data.index(ZSTD) :])
    finally:
        server.stop()
    assert (b"EnableLights" in told) != is_software
