"""Errors of sound."""


class SoundError(OSError):
    """No audio output."""
