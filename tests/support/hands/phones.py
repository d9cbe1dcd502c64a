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


def hold_until_engaged(leader, press, release):
    """Press, as a person does: anew only where the device counted why it let go.

    A browser that a busy computer stops for 0.3 s tells of another time, and a press
    that is held then is used up, rightly (safety.md A5). Without such a count the first
    press engages. What was held before is let go first: it may be used up already.

    Args:
        leader: The leader of the page.
        press: Holds the dead-man.
        release: Lets it go.
    """
    device = leader._station.device

    def count():
        return device.refused["late"] + device.n_jumps

    for _ in range(10):
        release()
        told = device.n_messages
        wait_until(lambda told=told: device.n_messages > told + 3)  # a frame saw it
        wait_until(lambda: leader.latest().valid)
        before = count()
        press()
        wait_until(lambda before=before: leader.latest().engaged or count() > before)
        if leader.latest().engaged:
            return
    raise AssertionError("ten presses were used up by late messages")
