"""The benchmark as a user runs it: the same scores twice, and files that are meant."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import pytest
import yaml
from batches import SHORT
from product import write_motion

from paprle.cli import main
from paprle.contracts.errors import ConfigError
from paprle_lab.bench.manifest import STANDARD, read_bench
from paprle_lab.bench.page import render_bench
from paprle_lab.bench.scores import SCORES, make_scores

PLAN = {
    "robots": ["piper"],
    "networks": ["none", "lossy"],
    "settings": ["session.rate=100"],
}


def write_manifest(path, motions, **plan):
    data = {"name": "try", "motions": motions, "plan": PLAN | plan}
    path.write_text(yaml.safe_dump(data))
    return path


def write_file(folder):
    motion = write_motion(folder / "m.csv", np.array([0.3, 0, 0.3]), [0, 0, 0, 1], 2)
    return hashlib.sha256(motion.read_bytes()).hexdigest()


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.long
def test_two_runs_give_the_same_scores_and_a_page(tmp_path):
    digest = write_file(tmp_path)
    manifest = write_manifest(
        tmp_path / "bench.yaml",
        [
            {"name": "short", "settings": SHORT},
            {"name": "hand", "path": "m.csv", "sha256": digest, "source": "<somebody>"},
        ],
        settings=["session.rate=100", "retarget.mode=relative"],
    )

    for name in ("one", "two"):
        words = ["bench", str(manifest), "--out", str(tmp_path / name)]
        assert main([*words, "--on", "local:1"]) == 0

    one, two = [
        [(tmp_path / name / file).read_bytes() for name in ("one", "two")]
        for file in ("leaderboard.json", "leaderboard.html")
    ]
    assert one[0] == one[1]
    assert two[0] == two[1]
    scores = json.loads(one[0])
    assert [entry["network"] for entry in scores["board"]] == ["none", "lossy"]
    still, lossy = scores["board"]
    assert still["sessions"] == still["ended_well"] == 2
    assert still["violations"] == lossy["violations"] == 0
    assert lossy["raw_rmse_mm"] > still["raw_rmse_mm"] > 0.0
    assert scores["sessions"][0]["capture_to_command_p99_ms"] is not None
    page = two[0].decode()
    assert "&lt;somebody&gt;" in page
    assert "<somebody>" not in page
    assert page.count("data:image/png;base64,") == 2
    assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_a_file_that_is_missing_or_another_is_told_with_its_source(tmp_path):
    digest = write_file(tmp_path)
    motion = {"name": "hand", "path": "m.csv", "sha256": digest, "source": "page 7"}
    good = write_manifest(tmp_path / "bench.yaml", [motion])
    assert read_bench(good).plan.leaders[0].name == "hand"
    bad = write_manifest(
        tmp_path / "bad.yaml",
        [
            motion | {"name": "other", "sha256": "0" * 64},
            motion | {"name": "gone", "path": "nowhere.csv"},
            {"name": "unknown", "path": "m.csv"},
        ],
    )

    with pytest.raises(ConfigError) as caught:
        read_bench(bad)

    text = str(caught.value)
    assert f"got {digest}; it is published at page 7" in text
    assert "nowhere.csv', got none; it is published at page 7" in text
    assert "motion 'unknown': expected sha256" in text


def test_the_standard_bench_needs_no_file():
    bench = read_bench(STANDARD)

    assert all(one.path is None for one in bench.manifest.motions)
    assert {"piper", "ur5e"} <= {one.name for one in bench.plan.robots}


def test_scores_of_sessions_that_measured_nothing_are_empty(tmp_path):
    """All of them refused: the board says so, and the page can be made."""
    manifest = write_manifest(
        tmp_path / "bench.yaml", [{"name": "short", "settings": SHORT}]
    )
    bench = read_bench(manifest)
    named = {"leader": "short", "robot": "piper", "world": "kinematic", "seed": 0}
    ended = {"status": "refused", "exit_code": None, "end_reason": None}
    nothing = dict.fromkeys(SCORES) | {"commands": None}

    scores = make_scores(bench, [named | {"network": "none"} | ended | nothing])

    (entry,) = scores["board"]
    assert (entry["sessions"], entry["ended_well"]) == (1, 0)
    assert entry["raw_rmse_mm"] is None
    assert "0 of 1" in render_bench(scores, [])
