"""Errors of hands seen by a camera."""


class HandError(OSError):
    """A camera, a tracker or a recording cannot be used."""
