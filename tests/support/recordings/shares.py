"""A share of the tests, so that long runs are spread over several nights."""

from __future__ import annotations

import zlib

import pytest


def take_share(items: list[pytest.Item], share: str) -> list[pytest.Item]:
    """Return the tests of one share, chosen by their names.

    Args:
        items: All tests.
        share: ``K/N``: share K of N, from 1.

    Raises:
        pytest.UsageError: If ``share`` is no such text.
    """
    k, _, n = share.partition("/")
    if not (k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise pytest.UsageError(
            f"--share: expected K/N with K from 1 to N, as 2/7, got {share!r}"
        )
    return [
        item
        for item in items
        if zlib.crc32(item.nodeid.encode()) % int(n) == int(k) - 1
    ]
