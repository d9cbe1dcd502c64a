"""The address of a page on a network."""

from __future__ import annotations

import errno
from types import SimpleNamespace

import pytest

from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving import addresses
from paprle.hardware.web.serving.addresses import find_place


class NoRoute:
    """A socket of a machine without a default route."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def connect(self, _):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")


@pytest.fixture
def isolate(monkeypatch):
    """Give this machine addresses, and no route to others."""

    def make(*ips):
        adapters = [SimpleNamespace(ips=[SimpleNamespace(ip=ip)]) for ip in ips]
        monkeypatch.setattr(addresses.socket, "socket", NoRoute)
        monkeypatch.setattr(addresses.ifaddr, "get_adapters", lambda: adapters)

    return make


def test_a_network_without_a_gateway_has_an_address(isolate):
    isolate("127.0.0.1", "192.168.1.10", ("fe80::1", 0, 2))

    assert find_place("lan").address == "192.168.1.10"


def test_several_networks_without_a_gateway_are_named(isolate):
    isolate("127.0.0.1", "192.168.1.10", "10.0.0.2")

    with pytest.raises(WebError, match=r"got 192\.168\.1\.10, 10\.0\.0\.2; name"):
        find_place("lan")


def test_a_machine_without_a_network_is_refused(isolate):
    isolate("127.0.0.1")

    with pytest.raises(WebError, match=r"got none .* or use a cable: listen=usb"):
        find_place("lan")
