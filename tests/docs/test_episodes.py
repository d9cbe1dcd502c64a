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


def test_code_of_the_page_makes_arrays_and_a_table(tmp_path, monkeypatch):
    words = ("leader=autopilot", "leader.size=0.02", "leader.speed=0.1",
             "follower=piper", "env=kinematic", "session.clock=virtual")  # fmt: skip
    assert main(["run", *words, f"record.dir={tmp_path / 'OUT'}"]) == 0
    monkeypatch.chdir(tmp_path)

    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), names)

    table = pd.read_csv(tmp_path / "motion.csv", index_col="t")
    assert list(table.columns[:2]) == ["joint1", "joint2"]
    assert np.allclose(table["joint1"], names["q_meas"][:, 0])
    assert names["target"].shape[1] == 7


def test_every_column_that_the_page_names_is_there(tmp_path):
    words = ("leader=autopilot", "leader.size=0.02", "leader.speed=0.1",
             "follower=piper", "env=kinematic", "session.clock=virtual")  # fmt: skip
    assert main(["run", *words, f"record.dir={tmp_path}"]) == 0

    episode = Episode.open(tmp_path)

    for name in ("ticks", "gate"):
        row = next(
            line for line in PAGE.read_text().splitlines()
            if line.startswith(f"| `{name}` |")
        )  # fmt: skip
        named = re.findall(r"`(\w+)`", row)[1:]
        assert set(named) <= set(getattr(episode, name).dtype.names)
