"""Display of foreign text in a terminal."""

from __future__ import annotations


def make_printable(text: str) -> str:
    """Return the text with escaped control and direction characters."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else _escape(char) for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
