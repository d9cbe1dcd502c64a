"""The page about episodes in Python: its code runs, word for word."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from paprle import Episode
from paprle.cli import main

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/episodes.md"
README = ROOT / "README.md"


def list_code(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as the pages mean it: its recordings are in OUT."""
    words = ("leader=autopilot", "leader.size=0.02", "leader.speed=0.1",
             "follower=piper", "env=kinematic", "session.clock=virtual")  # fmt: skip
    for _ in range(2):
        assert main(["run", *words, f"record.dir={tmp_path / 'OUT'}"]) == 0
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [PAGE, README], ids=lambda page: page.name)
def test_five_lines_make_a_table_of_a_recording(page):
    (code,) = [code for code in list_code(page) if "import pandas" in code]
    assert len(code.splitlines()) == 5

    names = {}
    exec(compile(code, str(page), "exec"), names)

    table, gate = names["table"], names["episode"].gate
    assert list(table.columns) == [f"joint{i}" for i in range(1, 8)]
    assert np.array_equal(table.to_numpy(), gate["q_meas"])
    assert table.index.name == "t"
    assert np.allclose(np.diff(table.index), np.diff(gate["stamp_ns"]) * 1e-9)


def test_code_of_the_page_makes_arrays_and_a_file(folder):
    names = {}
    for code in list_code(PAGE):
        exec(compile(code, str(PAGE), "exec"), names)

    table = pd.read_csv(folder / "motion.csv", index_col="t")
    assert list(table.columns[:2]) == ["joint1", "joint2"]
    assert np.allclose(table["joint1"], names["q_meas"][:, 0])
    assert names["target"].shape[1] == 7


def test_every_column_that_the_page_names_is_there(folder):
    episode = Episode.open(folder / "OUT/episode_000000.mcap")

    for name in ("ticks", "gate"):
        row = next(
            line for line in PAGE.read_text().splitlines()
            if line.startswith(f"| `{name}` |")
        )  # fmt: skip
        named = re.findall(r"`(\w+)`", row)[1:]
        assert set(named) <= set(getattr(episode, name).dtype.names)
