"""Errors of an inertial sensor."""


class ImuError(OSError):
    """Unusable port or settings."""
