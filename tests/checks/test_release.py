"""A release has one version and a dated changelog."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("release", ROOT / "checks/release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)


def test_all_files_state_one_version():
    versions = release.read_versions(ROOT)

    assert len(set(versions.values())) == 1, versions
    tag = f"v{versions['pyproject.toml']}"
    assert list(release.find_other_versions(ROOT, tag)) == []


def test_another_tag_is_refused_with_each_file(capsys):
    assert release.main("v0.0.0") >= len(release.PLACES)
    assert (
        "CITATION.cff: expected the version of the tag v0.0.0"
        in capsys.readouterr().out
    )


def copy_with_changelog(folder, *lines):
    for name in release.PLACES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "CHANGELOG.md").write_text("\n".join(("# Changelog", "", *lines, "")))
    return folder


def read_tag():
    return "v" + release.read_versions(ROOT)["pyproject.toml"]


def test_a_dated_section_below_an_empty_one_is_released(tmp_path):
    tag = read_tag()
    lines = "## Unreleased", "", f"## {tag[1:]} (2026-11-30)", "", "* An arm.", "## 0.1"

    assert release.main(tag, copy_with_changelog(tmp_path, *lines)) == 0


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ("## Unreleased", "", "* A hand.", "* A foot.", "## {} (2026-11-30)"),
            "expected an empty section 'Unreleased', got 2 entries",
        ),
        (("## Unreleased", "", "## {}", "", "* An arm."), "expected a date as in"),
    ],
    ids=["unreleased entries", "no date"],
)
def test_a_tag_of_an_open_changelog_is_refused(tmp_path, capsys, lines, expected):
    tag = read_tag()
    root = copy_with_changelog(tmp_path, *(line.format(tag[1:]) for line in lines))

    assert release.main(tag, root) == 1
    assert expected in capsys.readouterr().out
