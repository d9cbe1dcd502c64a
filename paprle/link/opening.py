"""Carrier and secret of a link, which both hosts need to connect."""

from __future__ import annotations

import time

from paprle.contracts.kit.secret import read_secret
from paprle.contracts.plugins import Link
from paprle.contracts.settings.core import LinkSettings
from paprle.plugins import find_plugin, load_factory

LEADER = "leader"
"""Name of a link that carries a leader's captures."""


def make_link(settings: LinkSettings, name: str, *, is_leader: bool) -> Link:
    """Make one end of a link.

    Args:
        settings: Section ``link``, of both hosts the same but for addresses.
        name: What it is for: the robot's, or ``LEADER``.
        is_leader: Which end it is.

    Returns:
        The end, closed.
    """
    factory = load_factory(find_plugin("link", settings.type))
    link: Link = factory(settings, name, is_leader=is_leader)
    if settings.emulate is None:
        return link
    from paprle.link.emulate import EmulatedLink  # noqa: PLC0415 - of trials alone

    return EmulatedLink(link, time.monotonic_ns)


def read_key(settings: LinkSettings) -> bytes:
    """Return the secret that both hosts share.

    Raises:
        ConfigError: If there is none, it is too short, or others may read it.
    """
    return read_secret(settings.key, "link.key")
