"""ARBot's replay protocol, as a user types it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from arbot_logs import make_table

from paprle.cli import main
from paprle.recording.exports import read_arbot_csv, write_arbot_csv
from paprle.recording.reader import Episode
from paprle_lab.trials.labels import read_index
from paprle_lab.trials.repeat import add_lead, cut_lead

ROBOT = ("follower=piper", "env=kinematic", "session.clock=virtual")


@pytest.fixture
def motion(tmp_path):
    """A slow arc within a PiPER's reach, with a stamp twice as published ones have."""
    table = make_table(45, shift=(0.05, 0.0, 0.0))
    s = np.linspace(0, 0.4, 45)
    table[:, 1:4] = np.stack([0.25 + 0.0 * s, 0.1 * s, 0.4 + 0.05 * s], axis=1)
    table[:, 4:8] = [0.0, 0.7071068, 0.0, 0.7071068]
    table[21, 0] = table[20, 0]
    path = tmp_path / "H1.csv"
    write_arbot_csv(path, table)
    return path


@pytest.mark.nightly
@pytest.mark.long
def test_a_robot_repeats_a_motion_to_the_last_bit(motion, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["repeat", str(motion), "--n", "2", "--pause", "2", "--out", str(out)]

    assert main([*words, *ROBOT]) == 0

    assert "2 replays by a robot" in capsys.readouterr().out
    replays = [read_arbot_csv(out / f"robot_{k}.csv") for k in (1, 2)]
    assert np.std([x[:, 8:11] for x in replays], axis=0).max() < 1e-9
    source = read_arbot_csv(motion)
    lasted = np.ptp(source[:, 0])
    for table in replays:
        # played at its own stamps, but for a tick at either end
        assert np.ptp(table[:, 0]) == pytest.approx(lasted, abs=0.011)
        assert table[0, 1:4] == pytest.approx(source[0, 1:4], abs=2e-4)
    first, second = (
        Episode.open(out / f"episode_00000{k}.mcap").ticks["stamp_ns"] for k in range(2)
    )
    assert second[0] - first[-1] > 2e9
    kinds = [one.kind for one in read_index(out)]
    assert kinds == ["human", "robot", "robot"]
    (itv,) = json.loads((out / "trials.report.json").read_text())["itv"]
    assert itv["arc_length_mm"] < 1e-6


def test_replays_are_not_written_over(motion, tmp_path, capsys):
    (tmp_path / "robot_1.csv").write_text("mine")

    assert main(["repeat", str(motion), "--out", str(tmp_path), *ROBOT]) == 2

    assert "expected a folder without replays" in capsys.readouterr().err
    assert (tmp_path / "robot_1.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--n", "0"], "expected --n of 1 and more"),
        (["--pause", "nan"], "expected --pause 0 … 600 s"),
        (["--beside", "none.csv"], "no such file"),
        (["--beside", "pyproject.toml"], "expected a log of ARBot"),
    ],
)
def test_a_wrong_word_is_refused(motion, tmp_path, capsys, words, told):
    out = tmp_path / "out"

    assert main(["repeat", str(motion), *words, "--out", str(out), *ROBOT]) == 2

    assert told in capsys.readouterr().err


def test_the_first_pose_is_held_and_cut_again():
    table = make_table()

    led = add_lead(table)

    assert len(led) == len(table) + 150
    assert np.diff(led[:151, 0]) == pytest.approx(1 / 30, abs=1e-6)
    assert (led[:150, 1:] == table[0, 1:]).all()
    assert (cut_lead(led) == table).all()
