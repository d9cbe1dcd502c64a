"""Text of others, made harmless for a terminal."""

from __future__ import annotations


def make_printable(text: str) -> str:
    """Return the text with whatever is no character to be seen written as an escape.

    A file's task or a device's words may hold sequences that colour, move or rename a
    terminal, or that turn the reading direction around.
    """
    return "".join(
        char if char in "\n\t" or char.isprintable() else _escape(char) for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
