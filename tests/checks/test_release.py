"""All files that state the version state the same one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("release", ROOT / "checks/release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)


def test_all_files_state_one_version():
    versions = release.read_versions(ROOT)

    assert len(set(versions.values())) == 1, versions
    assert release.main(f"v{versions['pyproject.toml']}") == 0


def test_another_tag_is_refused_with_each_file(capsys):
    assert release.main("v0.0.0") == len(release.PLACES)
    assert (
        "CITATION.cff: expected the version of the tag v0.0.0"
        in capsys.readouterr().out
    )
