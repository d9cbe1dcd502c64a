"""What all tests share."""

from __future__ import annotations

from paprle.session.warm import compile_once


def pytest_sessionstart():
    """Compile before any test's time runs."""
    compile_once()
