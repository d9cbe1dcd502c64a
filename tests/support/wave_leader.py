"""Installs the leader of docs/adding_a_leader.md as pip would."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def install(folder: Path) -> Path:
    """Write the page's code, its tests and its entry point; return the folder.

    Put it on the import path, or on PYTHONPATH of a process.
    """
    page = (ROOT / "docs/adding_a_leader.md").read_text(encoding="utf-8")
    (_, code), (_, toml), (_, tests) = _BLOCK.findall(page)
    entry = toml.splitlines()[1].replace('"', "")
    (folder / "paprle_wave.py").write_text(code)
    (folder / "test_wave.py").write_text(tests)
    info = folder / "paprle_wave-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paprle-wave\n")
    (info / "entry_points.txt").write_text(f"[paprle.leaders]\n{entry}\n")
    return folder
