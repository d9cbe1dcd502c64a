"""Recordings and URDFs made by others, in a folder ``shared/data``; ``make data``."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SHARED = next(
    (
        folder / "shared/data"
        for folder in (ROOT, *ROOT.parents)
        if (folder / "shared/data").is_dir()
    ),
    ROOT / "shared/data",
)


def find_shared(name):
    """Return the path of a file; absent: skip, or fail with ``REQUIRE_DATA=1``."""
    path = SHARED / name
    if not path.exists():
        reason = f"shared/data/{name} is not there: run make data"
        if os.environ.get("REQUIRE_DATA"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
