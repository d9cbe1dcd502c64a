"""What goes wrong with a headset."""


class VisionProError(OSError):
    """The headset cannot be reached."""
