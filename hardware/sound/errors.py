"""What goes wrong with sound."""


class SoundError(OSError):
    """There is nothing to play on."""
