"""Carrier and secret of a link."""

from __future__ import annotations

import time

from paprle.contracts.kit.secret import read_secret
from paprle.contracts.plugins import Link
from paprle.contracts.settings.core import LinkSettings
from paprle.plugins import find_plugin, load_factory

LEADER = "leader"
"""Name of a link that carries a leader's captures."""


def make_link(settings: LinkSettings, name: str, *, is_leader: bool) -> Link:
    """Return a closed end; ``name``: the robot's or ``LEADER``."""
    factory = load_factory(find_plugin("link", settings.type))
    link: Link = factory(settings, name, is_leader=is_leader)
    if settings.emulate is None:
        return link
    from paprle.link.emulate import EmulatedLink  # noqa: PLC0415 - of trials alone

    return EmulatedLink(link, time.monotonic_ns)


def read_key(settings: LinkSettings) -> bytes:
    """Return the shared secret.

    Raises:
        ConfigError: If it is missing, too short, or readable by others.
    """
    return read_secret(settings.key, "link.key")
