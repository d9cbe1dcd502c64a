"""Errors of a page and its socket."""


class WebError(Exception):
    """The server cannot be opened; says what to do."""


class MessageError(ValueError):
    """A message that is not one of ours; says what was expected."""
