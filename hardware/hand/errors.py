"""Errors of hands seen by a camera."""


class HandError(OSError):
    """Unusable camera, tracker or recording."""
