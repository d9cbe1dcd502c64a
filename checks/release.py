"""Check a release's versions and changelog against its tag.

usage: python checks/release.py v0.2.0
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
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
DATE = r"\b\d{4}-\d{2}-\d{2}\b"


def read_versions(root: Path) -> dict[str, str]:
    """Return each file's version, or ""."""
    found = {
        name: re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
        for name, pattern in PLACES.items()
    }
    return {name: match[1] if match else "" for name, match in found.items()}


def find_other_versions(root: Path, tag: str) -> Iterator[str]:
    """Yield a line for each file of another version."""
    for name, version in read_versions(root).items():
        if f"v{version}" != tag:
            yield f"{name}: expected the version of the tag {tag}, got '{version}'"


def find_open_sections(changelog: str) -> Iterator[str]:
    """Yield a line for unreleased entries, and for a release without a date."""
    titles = re.findall(r"^## (.*)", changelog, re.MULTILINE)
    bodies = re.split(r"^## .*", changelog, flags=re.MULTILINE)[1:]
    for title, body in zip(titles, bodies, strict=True):
        if title != "Unreleased":
            if not re.search(DATE, title):
                yield (
                    "CHANGELOG.md: expected a date as in '## 0.2.0 (2026-11-30)', "
                    f"got '## {title}'"
                )
            return
        if entries := re.findall(r"^\* ", body, re.MULTILINE):
            yield (
                "CHANGELOG.md: expected an empty section 'Unreleased', got "
                f"{len(entries)} entries; move them to the section of the tag"
            )


def main(tag: str, root: Path = ROOT) -> int:
    """Print the problems of a tag; return their number."""
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    problems = [*find_other_versions(root, tag), *find_open_sections(changelog)]
    for problem in problems:
        print(problem)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
