"""Type of progress notes."""

from __future__ import annotations

from collections.abc import Callable

Note = Callable[[str], None]
"""Takes what is done next, in words for the operator."""
