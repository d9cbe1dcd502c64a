import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def example_leader(tmp_path):
    """Return a folder with the example of the page, installed as pip would.

    Put it on the import path, or on PYTHONPATH of a process.
    """
    page = (ROOT / "docs/adding_a_leader.md").read_text(encoding="utf-8")
    (_, code), (_, toml), (_, tests) = BLOCK.findall(page)
    entry = toml.splitlines()[1].replace('"', "")
    (tmp_path / "paprle_wave.py").write_text(code)
    (tmp_path / "test_wave.py").write_text(tests)
    info = tmp_path / "paprle_wave-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paprle-wave\n")
    (info / "entry_points.txt").write_text(f"[paprle.leaders]\n{entry}\n")
    return tmp_path
