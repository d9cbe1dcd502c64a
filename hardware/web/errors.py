"""Errors of a page and its socket."""


class WebError(Exception):
    """The server cannot be opened."""


class MessageError(ValueError):
    """A message is invalid."""
