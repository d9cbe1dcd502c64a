"""``paprle dataset score`` and ``create --min-score`` as a user types them."""

import csv
import json

import pytest
from filmed import write_episode
from scored_sets import KINDS, copy_of, make_set, rest, shift_action, write_lerobot

from paprle.cli.app import main


def score(*words):
    return main(["dataset", "score", *map(str, words)])


def test_a_clean_set_is_ranked_with_exit_code_0(tmp_path, capsys):
    episodes = make_set(KINDS[0], 0)
    root = write_lerobot(tmp_path / "set", episodes)
    assert score(root) == 0
    told = capsys.readouterr().out
    assert "set: 8 episodes, 0 faults" in told
    assert "   1  episode" in told
    assert "unknown in all episodes: clutches, gate_held, losses" in told


def test_faults_are_listed_with_exit_code_1(tmp_path, capsys):
    episodes = make_set(KINDS[0], 0)
    episodes[1] = rest(episodes[1], KINDS[0])
    episodes[2] = shift_action(episodes[2], 0.3)
    root = write_lerobot(tmp_path / "set", episodes)
    assert score(root) == 1
    told = capsys.readouterr().out
    assert "fault: episode 1: idle: idle: nothing moves" in told
    assert "fault: episode 2: shift: the action comes 0.2" in told
    assert told.index("rank") < told.index("   8  episode 1 ")


def test_table_figures_and_page_are_written(tmp_path, capsys):
    episodes = make_set(KINDS[0], 0)
    sets = [
        write_lerobot(tmp_path / "one", [*episodes, copy_of(episodes[0], 8)]),
        write_lerobot(tmp_path / "two", make_set(KINDS[1], 0, n=3)),
    ]
    out = tmp_path / "scores"
    assert score(*sets, "--out", out) == 1
    assert f"page: {out / 'scores.html'}" in capsys.readouterr().out
    figures = json.loads((out / "scores.json").read_text())
    assert [len(one["episodes"]) for one in figures] == [9, 3]
    last = figures[0]["episodes"][-1]
    assert (last["episode"], last["rank"]) == ("episode 8", 9)
    assert last["measures"]["clutches"] is None
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert rows[8]["faults"] == "duplicate"
    assert rows[0]["clutches"] == "", "unknown is never zero"
    page = (out / "scores.html").read_text()
    assert page.count("data:image/png") >= 5
    assert "a duplicate" in page


def test_a_place_that_is_missing_is_named(tmp_path, capsys):
    assert score(tmp_path / "nowhere") == 2
    assert "nowhere" in capsys.readouterr().err
    assert score(tmp_path) == 2
    assert "episode_*.mcap" in capsys.readouterr().err


def create(*words):
    return main(["dataset", "create", *map(str, words)])


@pytest.mark.parametrize("least", ["-1", "101"])
def test_a_least_score_out_of_range_is_refused(tmp_path, capsys, least):
    write_episode(tmp_path, 2.0)
    words = (tmp_path, "--out", tmp_path / "set", "--min-score", least)
    assert create(*words) == 2
    assert "--min-score 0 … 100" in capsys.readouterr().err


def test_a_set_leaves_out_recordings_below_the_least_score(tmp_path, capsys):
    write_episode(tmp_path / "recorded", 3.0, wave=True)
    write_episode(tmp_path / "recorded", 2.5, outcome="failure")
    words = (tmp_path / "recorded", "--out", tmp_path / "set")
    assert create(*words, "--min-score", 60) == 0
    told = capsys.readouterr().out
    assert "1 episodes" in told
    assert "episode_000001.mcap: its score of 40 is below 60: it failed" in told
    assert "below 60" in (tmp_path / "set" / "meta" / "report.txt").read_text()


def test_no_recording_above_the_least_score_is_an_error(tmp_path, capsys):
    write_episode(tmp_path / "recorded", 3.0, outcome="failure")
    words = (tmp_path / "recorded", "--out", tmp_path / "set", "--min-score", 90)
    assert create(*words) == 2
    assert "its score of 40 is below 90" in capsys.readouterr().err
