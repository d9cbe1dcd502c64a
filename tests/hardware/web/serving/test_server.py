"""The page's server, and who is not let in (safety.md 9, rows 1 to 6)."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import time

import pytest
from phones import TLS_ADDRESS, wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus

from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving.certificate import find_certificate
from paprle.hardware.web.settings import WebSettings
from paprle.hardware.web.station import Station
from paprle_emulators.phone import __main__ as emulator
from paprle_emulators.phone.phone import EmulatedPhone, Line


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("web")


class Clock:
    """Monotonic time that a test moves on."""

    ahead_ns = 0

    def __call__(self):
        return time.monotonic_ns() + self.ahead_ns


def make_station(folder, listen=TLS_ADDRESS, clock=time.monotonic_ns, **settings):
    settings = WebSettings(listen=listen, certificate=str(folder), **settings)
    return Station(settings, "phone", ("hand",), clock)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def station(folder, clock):
    made = make_station(folder, clock=clock)
    made.open()
    yield made
    made.close()


@pytest.fixture
def phone(station, folder):
    made = EmulatedPhone(station.address, certificate=str(folder / "certificate.pem"))
    yield made
    made.close()


def reach(server):
    """Return a connection, with TLS where the server speaks it."""
    where = server.place.address, server.port
    if not server.place.has_tls:
        return http.client.HTTPConnection(*where, timeout=5)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(*where, context=context, timeout=5)


def ask(station, *, host=None, origin="own", token=None, path="/leader", data=None):
    """Return the status with which a request for a socket is answered."""
    server = station.server
    own = f"{server.place.address}:{server.port}"
    there = reach(server)
    token = server.door.token if token is None else token
    headers = {
        "Host": host or own,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": f"paprle, {token}",
    }
    if origin is not None:
        headers["Origin"] = server.address.rstrip("/") if origin == "own" else origin
    there.request("GET", path, data, headers)
    status = there.getresponse().status
    there.close()
    return status


def read_page(station, path, host=None):
    server = station.server
    there = reach(server)
    there.putrequest("GET", path, skip_host=True)
    there.putheader("Host", host or f"{server.place.address}:{server.port}")
    there.endheaders()
    answer = there.getresponse()
    return answer.status, answer.headers, answer.read()


def test_the_phone_tells_and_is_told(station, phone):
    phone.hold()
    phone.tell()
    phone.tell((0.0, 0.01, 0.0))

    wait_until(lambda: station.device.n_messages == 2)
    reading = station.read()
    assert reading.state.is_held
    assert reading.state.hands["hand"].p.tolist() == [0, 0, 0.01]
    wait_until(lambda: phone.status.get("state") == "INIT")
    wait_until(lambda: station.device.clock.offset is not None)


def test_pages_are_served_with_what_keeps_others_out(station):
    status, headers, body = read_page(station, "/")

    assert status == 200
    assert b"hold to move" in body
    assert station.server.door.token.encode() not in body
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Access-Control-Allow-Origin"] is None
    assert headers["Server"] is None
    assert read_page(station, "/main.js")[1]["Content-Type"].startswith(
        "text/javascript"
    )


@pytest.mark.parametrize(
    "path",
    ["/../settings.py", "/%2e%2e/settings.py", "//etc/passwd", "/main.js/", "/page/"],
)
def test_no_other_file_is_served(station, path):
    assert read_page(station, path)[0] == 404


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"token": ""}, 401),
        ({"token": "x" * 22}, 401),
        ({"token": "\u00e9"}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": None}, 403),
        ({"origin": f"http://{TLS_ADDRESS}:8443"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": f"{TLS_ADDRESS}:1"}, 421),
        ({"path": "/other"}, 404),
    ],
    ids=str,
)
def test_strangers_are_refused_before_a_message(station, request_, status):
    assert ask(station, **request_) == status
    assert station.device.n_messages == 0
    assert ask(station) == 101, "and nobody else suffers from it"


def test_the_token_of_another_start_is_refused(station):
    before = station.server.door.token
    station.close()
    station.open()

    assert station.server.door.token != before
    assert ask(station, token=before) == 401


def test_guessing_ends_after_five_tries_a_minute_and_keeps_nobody_out(station):
    assert [ask(station, token=f"{k}") for k in range(7)] == [401] * 5 + [429] * 2
    assert ask(station) == 101, "the right token, from the same address"
    assert ask(station, token="8") == 429


def test_an_old_tab_that_asks_on_and_on_keeps_nobody_out(station):
    before = station.server.door.token
    station.close()
    station.open()

    assert [ask(station, token=before) for _ in range(9)] == [401] * 9
    assert ask(station) == 101
    assert [ask(station, token=f"{k}") for k in range(5)] == [401] * 4 + [429]


def test_a_page_on_another_name_that_points_here_is_refused(station):
    assert read_page(station, "/", host="rebind.example:8443")[0] == 421


def test_a_second_phone_is_refused_while_the_first_speaks(station, phone):
    phone.tell()
    wait_until(lambda: station.device.n_messages == 1)

    with pytest.raises(InvalidStatus) as refusal:
        EmulatedPhone(station.address)
    assert refusal.value.response.status_code == 409
    phone.tell()
    wait_until(lambda: station.device.n_messages == 2)


def test_a_phone_that_comes_back_takes_its_place_and_holds_nothing(
    station, phone, clock
):
    phone.hold()
    phone.tell()
    wait_until(lambda: station.device.state is not None)
    assert station.device.state.is_held

    phone.is_mute = True
    time.sleep(0.1)  # what it had begun to say is heard before the clock goes on
    clock.ahead_ns = (
        1_100_000_000  # it is silent: the page was loaded anew, its radio is gone
    )
    again = EmulatedPhone(station.address)
    again.press, again.is_held = 1, True
    again.tell()
    wait_until(lambda: station.device.n_messages == 2)

    assert station.device.state.n_losses == 1, "that press was before the silence"
    again.hold()
    again.tell()
    wait_until(lambda: station.device.state.is_held)
    again.close()


def test_a_phone_that_goes_lets_go_at_once(station, phone):
    phone.hold()
    phone.tell()
    wait_until(lambda: station.device.state is not None)
    assert station.device.state.is_held

    phone.close()

    wait_until(lambda: not station.device.state.is_tracked)
    assert not station.device.state.is_tracked


@pytest.mark.parametrize("text", ["x" * 5000, "[" * 4000], ids=["long", "deep"])
def test_an_invalid_message_is_counted_or_closes_the_connection(station, phone, text):
    phone.send_text(text)

    if len(text) > 4096:
        with pytest.raises(ConnectionClosed):
            for _ in range(300):
                phone.tell()
                time.sleep(0.01)
    else:
        wait_until(lambda: station.device.refused["message"] == 1)
        phone.tell()
        wait_until(lambda: station.device.n_messages == 1)


def test_nothing_is_inflated(station):
    line = Line(station.address)

    assert line.connection.protocol.extensions == []
    line.close()


def test_a_flood_ends_its_sender(station, phone):
    began = time.monotonic()
    with pytest.raises(ConnectionClosed):
        for _ in range(5000):
            phone.tell()

    n_seconds = 1 + int(time.monotonic() - began)  # a busy machine floods later
    assert station.device.n_messages <= 400 * n_seconds


def test_replayed_and_leading_numbers_are_dropped(station, phone):
    first = phone.make_sample((0, 0, 0))
    phone.send_text(json.dumps(first))
    phone.tell((0.01, 0, 0))
    phone.send_text(json.dumps(first))
    phone.send_text(json.dumps({**first, "seq": 2_000_000}))
    phone.tell((0.02, 0, 0))

    wait_until(lambda: station.device.n_messages == 3)
    assert station.device.refused["sequence"] == 2


def test_many_connections_do_not_keep_the_phone_out(station, phone):
    port = station.server.port
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    strangers = []
    for _ in range(60):  # each says a little, and then nothing
        raw = socket.create_connection((TLS_ADDRESS, port))
        try:
            made = context.wrap_socket(raw, server_hostname=TLS_ADDRESS)
            made.sendall(b"GET / HTTP/1.1\r\n")
        except OSError:
            made = raw
        strangers.append(made)

    for k in range(20):
        phone.tell((0.001 * k, 0, 0))
    wait_until(lambda: station.device.n_messages == 20)
    for made in strangers:
        made.close()


@pytest.mark.parametrize("listen", ["usb", TLS_ADDRESS])
@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n"], ids=["silent", "half"])
def test_a_hundred_half_open_sockets_keep_nobody_out(folder, listen, said):
    station = make_station(folder, listen=listen)
    station.open()
    where, strangers = (station.server.place.address, station.server.port), []
    try:
        for _ in range(3):
            for _ in range(100):
                made = socket.create_connection(where)
                made.sendall(said)
                strangers.append(made)
            assert read_page(station, "/")[0] == 200
            assert ask(station) == 101
    finally:
        for made in strangers:
            made.close()
        station.close()


def test_a_handshake_that_takes_long_is_cut_off(folder):
    station = make_station(folder, listen="usb")
    station.open()
    with socket.create_connection(("127.0.0.1", station.server.port)) as slow:
        slow.settimeout(5.0)
        slow.sendall(b"GET / HTTP/1.1\r\n")
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            assert slow.recv(100) == b""
        took = time.monotonic() - begin
    station.close()

    assert took < 4.7


def test_an_impostor_has_another_certificate(folder, tmp_path):
    find_certificate(folder, [TLS_ADDRESS])
    impostor = make_station(tmp_path / "other", port=18_443)
    impostor.open()
    try:
        with pytest.raises(ssl.SSLCertVerificationError):
            Line(impostor.address, str(folder / "certificate.pem"))
    finally:
        impostor.close()


def test_plain_text_is_not_spoken_on_a_network(station):
    with socket.create_connection((TLS_ADDRESS, station.server.port), 5) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            answer = plain.recv(100)
        except ConnectionResetError:
            answer = b""

    assert b"HTTP" not in answer


def test_a_cable_needs_no_certificate_and_reaches_this_machine_alone(folder):
    station = make_station(folder, listen="usb")
    station.open()

    assert station.address.startswith("http://127.0.0.1:")
    assert not list(folder.iterdir())
    assert "adb reverse" in "\n".join(station.notes)
    phone = EmulatedPhone(station.address)
    phone.tell()
    wait_until(lambda: station.device.n_messages == 1)
    phone.close()
    station.close()


@pytest.mark.parametrize("listen", ["0.0.0.0", "192.0.2.1", "wifi", "::1"])
def test_an_unusable_address_is_reported(folder, listen):
    with pytest.raises(WebError, match="listen: expected"):
        make_station(folder, listen=listen).open()


def test_two_stations_have_a_port_and_a_token_each(station, folder):
    other = make_station(folder)
    other.open()

    assert other.server.port != station.server.port
    stolen = station.server.door.token
    address = f"{other.server.address}#{stolen}"
    with pytest.raises(InvalidStatus):
        EmulatedPhone(address)
    other.close()


def test_the_server_closes_twice_and_opens_again(folder):
    station = make_station(folder)
    for _ in range(2):
        station.open()
        port = station.server.port
        station.close()
        station.close()
    with socket.create_server((TLS_ADDRESS, port)):
        pass


def test_the_operator_is_told_where_and_by_which_certificate(station):
    notes = "\n".join(station.notes)

    assert station.address in notes
    assert "SHA-256 is" in notes
    assert "█" in notes


def test_a_server_that_ends_by_itself_lets_go_and_is_told(station, phone):
    phone.hold()
    phone.tell()
    wait_until(lambda: station.device.n_messages == 1)
    server = station.server

    server._loop.call_soon_threadsafe(server._stop.set)

    wait_until(lambda: server.has_ended)
    assert not station.device.state.is_tracked
    assert "server has ended" in "\n".join(station.take_warnings())
    assert station.take_warnings() == []


def test_the_emulated_phone_of_the_readme_moves(station):
    assert emulator.main([f"page={station.address}", "seconds=0.2", "rate=60"]) == 0
    assert station.device.n_messages >= 5
