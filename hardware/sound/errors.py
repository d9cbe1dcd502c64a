"""Errors of sound."""


class SoundError(OSError):
    """There is nothing to play on."""
