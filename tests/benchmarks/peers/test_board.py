"""Peers on the board: what ours commanded is judged alike when a peer commands it."""

import json

import numpy as np
import pytest
import yaml

from benchmarks.peers.board import Robots, keep_last, main, read_session, record
from paprle.contracts.types import GateState
from paprle_lab.batch.cells import Cells
from paprle_lab.batch.figures import make_row
from paprle_lab.bench.manifest import read_bench
from paprle_lab.evaluation.episode import measure_source

LAP = ["leader=autopilot", "leader.size=0.08", "leader.speed=0.15"]
SAME = (
    "raw_rmse_mm",
    "raw_rmse_deg",
    "shifted_rmse_mm",
    "reached_percent",
    "lag_ms",
    "violations",
    "min_clearance_mm",
    "command_to_motion_p50_ms",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A bench with upstream's algorithm, which needs no environment of its own."""
    folder = tmp_path_factory.mktemp("board")
    manifest = folder / "bench.yaml"
    motions = [{"name": "lap", "settings": LAP}]
    plan = {"robots": ["ur5e"], "networks": ["none", "lossy"]}
    data = {"name": "try", "motions": motions, "plan": plan}
    manifest.write_text(yaml.safe_dump(data))
    words = [str(manifest), "--out", str(folder / "out"), "--on", "local:1"]
    assert main([*words, "--peers", "upstream"]) == 0
    return manifest, folder / "out"


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.long
def test_a_peer_stands_on_the_board_beside_ours(board):
    _, out = board

    scores = json.loads((out / "leaderboard.json").read_text())

    named = [(one["system"], one["network"]) for one in scores["board"]]
    assert named == [
        ("paprle", "none"),
        ("upstream", "none"),
        ("paprle", "lossy"),
        ("upstream", "lossy"),
    ]
    ours, theirs = scores["board"][:2]
    assert ours["violations"] == 0
    # its damping leaves it short of the target, and it knows no acceleration limit
    assert theirs["violations"] > 0
    assert theirs["raw_rmse_mm"] > ours["raw_rmse_mm"]
    assert "pin" in scores["systems"]["upstream"]
    page = (out / "leaderboard.html").read_text()
    assert "Systems beside each other, world kinematic, network none" in page


@pytest.mark.nightly
@pytest.mark.process
@pytest.mark.long
def test_our_own_commands_played_as_a_peers_are_judged_as_ours_were(board, tmp_path):
    """Nothing between a peer's joints and its row adds or hides anything."""
    manifest, out = board
    cell = next(iter(Cells(read_bench(manifest).plan)))
    (path,) = (out / "recordings/0000000").glob("*.mcap")
    session = read_session(cell, path, Robots(tmp_path))
    gate, ticks = session.episode.gate, session.episode.ticks
    engaged = gate[gate["state"] == GateState.ENGAGED]
    at = np.searchsorted(
        engaged["stamp_ns"], ticks["stamp_ns"][session.span], side="right"
    )
    ours = engaged["q_cmd"][np.maximum(at - 1, 0)]

    played = make_row(measure_source(record(session, ours[:, session.columns])))

    expected = make_row(measure_source(session.episode))
    for name in SAME:
        assert played[name] == pytest.approx(expected[name], rel=1e-3, abs=1e-6), name


def test_a_target_that_nobody_gives_is_the_last_one():
    rows = np.full((4, 1, 7), np.nan)
    rows[1], rows[3] = 1.0, 2.0

    held = keep_last(rows)

    assert np.isnan(held[0]).all()
    assert held[1:, 0, 0].tolist() == [1.0, 1.0, 2.0]
