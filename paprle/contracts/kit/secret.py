"""The secret shared by two hosts."""

from __future__ import annotations

from pathlib import Path

from paprle.contracts.errors import ConfigError

_LEAST = 16  # [bytes] chosen: fewer can be guessed
_OTHERS = 0o077  # spec: permission bits of everybody else
_HOW = "make one with: openssl rand -hex 32 > link.key; chmod 600 link.key"


def read_secret(path: str | None, setting: str) -> bytes:
    """Return the stripped bytes of a secret file.

    Raises:
        ConfigError: If it is missing, too short or readable by others.
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
