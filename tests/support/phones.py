"""Phones for tests: an address to serve at, and waiting for what threads do."""

from __future__ import annotations

import time

TLS_ADDRESS = "127.0.0.2"
"""An address of this machine at which a page is served as on a network."""


def wait_until(what, timeout=5.0):
    """Wait for what other threads do."""
    end = time.monotonic() + timeout
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)
