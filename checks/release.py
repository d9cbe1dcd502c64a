"""Check a release's versions against its tag.

usage: python checks/release.py v0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "packages/paprle_emulators/pyproject.toml": r'^version = "(.+)"$',
    "paprle/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## (\d[^\s,(]*)",
}
"""Files, and the first match in each that is its version."""


def read_versions(root: Path) -> dict[str, str]:
    """Return each file's version, or ""."""
    found = {
        name: re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
        for name, pattern in PLACES.items()
    }
    return {name: match[1] if match else "" for name, match in found.items()}


def main(tag: str) -> int:
    """Print files of other versions; return their number."""
    wrong = {name: v for name, v in read_versions(ROOT).items() if f"v{v}" != tag}
    for name, version in wrong.items():
        print(f"{name}: expected the version of the tag {tag}, got '{version}'")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
