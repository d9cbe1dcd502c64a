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
    """Return the path of a file of ``make data``; absent: skip or fail."""
    return require(SHARED / name, "run make data")


def require(path, cure="pip install example-robot-data"):
    """Return the path of others' file; absent: skip or fail."""
    if not path.exists():
        skip_without_data(f"{path} is not there: {cure}")
    return path


def skip_without_data(reason):
    """Skip a test without its data; with ``REQUIRE_DATA=1`` it fails."""
    (pytest.fail if os.environ.get("REQUIRE_DATA") else pytest.skip)(reason)
