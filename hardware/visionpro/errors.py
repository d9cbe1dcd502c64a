"""Errors of a headset."""


class VisionProError(OSError):
    """The headset cannot be reached."""
