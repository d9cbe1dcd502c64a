"""The link over UDP: whom it hears, and what it says when it cannot open."""

from __future__ import annotations

import socket
import time

import pytest

from paprle.contracts.datagram import Datagram, get_address
from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.core import LinkSettings
from paprle.links.udp.link import UdpLink, list_ports
from paprle.testing import LinkContract

DOMAIN = 61


def make(*, is_leader, **settings):
    settings = {"peer": "127.0.0.1", "domain": DOMAIN, **settings}
    return UdpLink(LinkSettings(**settings), "robot", is_leader=is_leader)


class TestUdp(LinkContract):
    def make_link(self, *, is_leader):
        return make(is_leader=is_leader)


@pytest.fixture
def end():
    end = make(is_leader=False)
    end.open()
    yield end
    end.close()


def wait_for(end, n=1):
    got, until = [], time.monotonic() + 2.0
    while len(got) < n and time.monotonic() < until:
        got += end.receive()
        time.sleep(0.001)
    return got


def test_only_the_peer_is_heard_and_an_answer_goes_where_it_says(end):
    port, _ = list_ports(DOMAIN, is_leader=False)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer,
    ):
        stranger.bind(("127.0.0.2", 0))
        peer.bind(("127.0.0.1", 0))  # a router gave it another port
        stranger.sendto(b"foreign", ("127.0.0.1", port))
        peer.sendto(b"ours", ("127.0.0.1", port))

        [got] = wait_for(end)
        assert got == b"ours"
        assert end.send(Datagram.make(b"answer", get_address(got)))
        peer.settimeout(2.0)
        assert peer.recv(100) == b"answer"


def test_a_flood_is_taken_in_parts(end):
    port, _ = list_ports(DOMAIN, is_leader=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        for _ in range(900):
            peer.sendto(bytes(10), ("127.0.0.1", port))

        assert len(end.receive()) <= 512


def test_a_peer_that_does_not_listen_is_no_failure():
    end = make(is_leader=True)
    end.open()
    for _ in range(5):
        end.send(b"anybody?")
        time.sleep(0.002)
        assert end.receive() == []
    end.close()


@pytest.mark.usefixtures("end")
def test_a_port_that_is_taken_is_named():
    other = make(is_leader=False)

    with pytest.raises(DeviceError, match="port 47223 to be free"):
        other.open()


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"peer": "no.such.host.invalid"}, "link.peer: expected an address"),
        ({"interface": "203.0.113.7"}, "another link.interface"),
        ({"interface": "eth99"}, "another link.interface"),
    ],
)
def test_an_unusable_address_is_named(settings, words):
    with pytest.raises(DeviceError, match=words):
        make(is_leader=True, **settings).open()
