"""What both hosts need before they can speak: a carrier and a secret."""

from __future__ import annotations

import time
from pathlib import Path

from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import Link
from paprle.contracts.settings import LinkSettings
from paprle.plugins import find_plugin, load_factory

LEADER = "leader"
"""Name of a link that carries a leader's captures."""
_KEY_BYTES = 16  # [bytes] chosen: fewer can be guessed
_OTHERS = 0o077  # spec: permission bits of everybody else


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
        ConfigError: If there is none, or everybody could read it.
    """
    path = settings.key
    how = "make one with: openssl rand -hex 32 > link.key; chmod 600 link.key"
    if path is None:
        raise ConfigError(f"link.key: expected a file, the same on both hosts; {how}")
    try:
        key = Path(path).read_bytes().strip()
        mode = Path(path).stat().st_mode
    except OSError as err:
        raise ConfigError(
            f"link.key: expected a file, got '{path}' ({err.strerror}); {how}"
        ) from err
    if len(key) < _KEY_BYTES or mode & _OTHERS:
        raise ConfigError(
            f"link.key: expected at least {_KEY_BYTES} bytes that only their owner may "
            f"read, got {len(key)} with mode {mode & 0o777:o}; {how}"
        )
    return key
