"""Errors of a headset."""


class VisionProError(OSError):
    """Unreachable headset."""
