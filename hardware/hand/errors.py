"""The errors of hands seen by a camera."""


class HandError(OSError):
    """A camera, a tracker or a recording cannot be used; says what to do."""
