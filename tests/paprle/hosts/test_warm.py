"""Kernels are compiled by two at once, each with a cache of its own until both are."""

from __future__ import annotations

import pytest

from paprle.hosts.warm import _take_over


@pytest.fixture
def caches(tmp_path):
    for name, kernels in {"beside": ("brake", "reach"), "own": ("reach",)}.items():
        folder = tmp_path / name / "gate_12"
        folder.mkdir(parents=True)
        for kernel in kernels:
            (folder / f"{kernel}-1.py311.nbi").write_text(f"index {name}")
            (folder / f"{kernel}-1.py311.1.nbc").write_text(f"data {name}")
            (folder / f"{kernel}-1.py311.2.nbc").write_text(f"data {name}")
    (tmp_path / "beside" / "robot_34").mkdir()
    (tmp_path / "beside" / "robot_34" / "arm-2.py311.nbi").write_text("index beside")
    return tmp_path / "beside", tmp_path / "own"


def test_what_is_lacking_is_taken_over_and_nothing_else(caches):
    beside, own = caches

    _take_over(beside, own)

    texts = {str(p.relative_to(own)): p.read_text() for p in own.rglob("*.nb?")}
    assert texts == {
        "gate_12/brake-1.py311.nbi": "index beside",
        "gate_12/brake-1.py311.1.nbc": "data beside",
        "gate_12/brake-1.py311.2.nbc": "data beside",
        "gate_12/reach-1.py311.nbi": "index own",
        "gate_12/reach-1.py311.1.nbc": "data own",
        "gate_12/reach-1.py311.2.nbc": "data own",
        "robot_34/arm-2.py311.nbi": "index beside",
    }
