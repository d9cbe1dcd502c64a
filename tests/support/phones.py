"""Phones for tests: an address to serve at, and waiting for what threads do."""

from __future__ import annotations

import time
import warnings

TLS_ADDRESS = "127.0.0.2"
"""An address of this machine at which a page is served as on a network."""


def wait_until(what, timeout=5.0):
    """Wait for what other threads do."""
    end = time.monotonic() + timeout
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def engage_by(leader, press, let_go):
    """Press until the leader is engaged, as a person does.

    A message that came late uses the press up (``safety.md`` A5), and a machine that
    has too much to do makes some late: another press is needed then, and warned of.
    """
    for _ in range(4):
        press()
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            if leader.latest().engaged:
                return
            time.sleep(0.001)
        warnings.warn("disturbed: had to press again", stacklevel=2)
        let_go()
        time.sleep(0.3)
    raise AssertionError("never engaged")
