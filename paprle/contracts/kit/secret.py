"""The secret that two hosts share, from a file that its owner alone may read."""

from __future__ import annotations

from pathlib import Path

from paprle.contracts.errors import ConfigError

_LEAST = 16  # [bytes] chosen: fewer can be guessed
_OTHERS = 0o077  # spec: permission bits of everybody else
_HOW = "make one with: openssl rand -hex 32 > link.key; chmod 600 link.key"


def read_secret(path: str | None, setting: str) -> bytes:
    """Return the secret of a file.

    Args:
        path: The file; None: none was named.
        setting: Which setting names it, for the message.

    Returns:
        Its bytes, without white space at the ends.

    Raises:
        ConfigError: If there is none, it is too short, or others may read it.
    """
    if path is None:
        raise ConfigError(f"{setting}: expected a file, the same on both hosts; {_HOW}")
    try:
        secret = Path(path).read_bytes().strip()
        mode = Path(path).stat().st_mode
    except OSError as err:
        raise ConfigError(
            f"{setting}: expected a file, got '{path}' ({err.strerror}); {_HOW}"
        ) from err
    if len(secret) < _LEAST or mode & _OTHERS:
        raise ConfigError(
            f"{setting}: expected at least {_LEAST} bytes that only their owner may "
            f"read, got {len(secret)} with mode {mode & 0o777:o}; {_HOW}"
        )
    return secret
