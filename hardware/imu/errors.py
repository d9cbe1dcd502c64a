"""Errors of an inertial sensor."""


class ImuError(OSError):
    """A sensor's port or settings cannot be used."""
