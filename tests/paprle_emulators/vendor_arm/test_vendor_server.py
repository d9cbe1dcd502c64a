"""Cable and power of an emulated controller hurt as real ones do."""

import itertools
import socket
import time

import pytest

from paprle_emulators.vendor_arm.faults import Faults
from paprle_emulators.vendor_arm.line import Line
from paprle_emulators.vendor_arm.server import Server, Session

PORT = 7411
_HOSTS = (f"127.41.7.{k}" for k in itertools.count(1))


class Echo(Session):
    """Answers what it takes; its states are numbers."""

    left = 0

    def take(self, data):
        if data == b"garbage":
            raise ValueError
        self.taken = data
        return b"<" + data + b">"

    def report(self):
        self.n = getattr(self, "n", 0) + 1
        return b"%d." % self.n if self.is_reporting else b""

    is_reporting = False

    def leave(self):
        Echo.left += 1


class Rig:
    def __init__(self, most_clients=8):
        self.line, self.sessions = Line(), []
        self.host = next(_HOSTS)
        self.server = Server(
            self.host, {PORT: self.make}, self.line, most_clients=most_clients
        )
        self.faults = Faults(self.line, {})
        self.server.listen()
        self.clients = []

    def make(self, link):
        self.sessions.append(Echo(link))
        return self.sessions[-1]

    def connect(self):
        client = socket.create_connection((self.host, PORT), 1.0)
        client.settimeout(0.03)
        self.clients.append(client)
        self.turn()
        return client

    def turn(self, n=1):
        for _ in range(n):
            self.server.obey_line()
            self.server.serve(0.01)
            self.server.send()

    def do(self, name, **words):
        self.faults.apply(time.monotonic_ns(), {"fault": name, **words})
        self.turn()

    def close(self):
        for client in self.clients:
            client.close()
        self.server.close()


@pytest.fixture
def rig():
    rig = Rig()
    yield rig
    rig.close()


def read(client):
    """Return what has come; "" if nothing has, None if it was closed."""
    try:
        return client.recv(4096).decode() or None
    except TimeoutError:
        return ""
    except ConnectionResetError:
        return None


def ask(rig, client, word):
    client.sendall(word.encode())
    rig.turn(2)
    return read(client)


def test_a_client_is_answered_and_sent_states(rig):
    client = rig.connect()

    assert ask(rig, client, "hello") == "<hello>"
    rig.sessions[0].is_reporting = True
    rig.turn()
    assert read(client)


def test_a_stranger_is_dropped_and_others_stay(rig):
    friend, stranger = rig.connect(), rig.connect()

    assert ask(rig, stranger, "garbage") is None
    assert ask(rig, friend, "hello") == "<hello>"


def test_data_sent_into_a_cut_cable_come_once_it_is_in_again(rig):
    client = rig.connect()
    rig.do("cable")

    assert ask(rig, client, "hello") == ""
    assert not hasattr(rig.sessions[0], "taken")
    rig.do("none")
    rig.turn()
    assert read(client) == "<hello>"


def test_states_of_a_cut_cable_come_at_once_and_nobody_can_connect_meanwhile(rig):
    client = rig.connect()
    rig.do("cable")
    rig.sessions[0].is_reporting, rig.sessions[0].n = True, 0
    rig.turn(3)

    assert read(client) == ""
    rig.sessions[0].is_reporting = False
    rig.connect()
    assert len(rig.sessions) == 1
    rig.do("none")
    rig.turn()
    assert read(client) == "1.2.3."
    assert len(rig.sessions) == 2, "it waited"


def test_a_client_that_has_gone_meanwhile_is_not_heard(rig):
    client = rig.connect()
    rig.do("cable")
    client.sendall(b"old goal")
    linger = b"\x01\0\0\0\0\0\0\0"
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    client.close()

    rig.do("none")
    rig.turn()

    assert not hasattr(rig.sessions[0], "taken")


def test_a_cable_fault_ends_after_its_time(rig):
    client = rig.connect()
    rig.do("cable", time=10.0)
    rig.faults.pass_time(time.monotonic_ns())
    assert ask(rig, client, "hello") == ""

    rig.faults.pass_time(time.monotonic_ns() + 11_000_000_000)
    rig.turn(2)

    assert read(client) == "<hello>"


def test_late_data_keep_their_order(rig):
    client = rig.connect()
    rig.do("late", delay=0.05)
    begin = time.monotonic()
    client.sendall(b"1")
    rig.turn()
    rig.do("none")
    client.sendall(b"2")

    found = ""
    client.settimeout(0.001)
    while found != "<1><2>":
        rig.turn()
        found += read(client)
        assert time.monotonic() < begin + 2.0, found
    assert time.monotonic() - begin >= 0.05


def test_silence_and_loss_are_of_states_alone(rig):
    client = rig.connect()
    rig.sessions[0].is_reporting = True
    for fault in ({"name": "silence"}, {"name": "lost", "share": 1.0}):
        rig.do(**fault)
        read(client)
        rig.turn(3)
        assert ask(rig, client, "hello") == "<hello>"
        rig.faults.apply(0, {"fault": "none"})


def test_power_resets_all_connections(rig):
    client = rig.connect()
    before = Echo.left
    rig.do("power_off")

    assert read(client) is None
    assert Echo.left == before + 1
    with pytest.raises(ConnectionRefusedError):
        rig.connect()
    rig.do("power_on")
    assert ask(rig, rig.connect(), "hello") == "<hello>"


def test_a_port_has_room_for_as_many_as_it_has():
    rig = Rig(most_clients=1)
    first, second = rig.connect(), rig.connect()
    assert read(second) is None
    assert ask(rig, first, "hello") == "<hello>"

    first.close()
    assert ask(rig, rig.connect(), "hello") == "<hello>"
    rig.close()


def test_a_client_that_reads_nothing_is_dropped(rig):
    rig.connect()
    session = rig.sessions[0]
    before = Echo.left
    for _ in range(100):
        session.link.send(bytes(100_000))

    assert Echo.left == before + 1


@pytest.mark.parametrize(
    "order", [{}, {"fault": "rust"}, {"fault": "cable", "colour": 1}, {"fault": 3}]
)
def test_a_wrong_order_is_refused_with_a_reason(rig, order):
    with pytest.raises(ValueError, match=r"faults: none|fault 'cable': .*colour"):
        rig.faults.apply(0, order)


def test_a_port_in_use_is_an_error(rig):
    other = Server(rig.host, {PORT: rig.make}, Line())
    with pytest.raises(OSError, match="in use"):
        other.listen()
    other.close()
