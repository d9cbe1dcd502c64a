"""Every verb on recordings of a session."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess

import numpy as np
import pytest
from cells import spread
from machine import undisturbed
from mcap.reader import make_reader
from product import measure, run_live

from paprle.cli import main
from paprle.recording.exports import read_arbot_csv
from paprle.recording.reader import Episode

pytestmark = pytest.mark.process
TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")
N_EPISODES = 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Three small circles of the PiPER, no moment of them disturbed; only read."""
    return record(tmp_path_factory.mktemp("recorded") / "out", "session.clock=virtual")


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """Eight laps in one episode: of a file that is cut whole seconds are left."""
    words = ("session.clock=virtual", "leader.laps=8", "session.episodes=1")
    return record(tmp_path_factory.mktemp("longer") / "out", *words)


def record(out, *words):
    done = run_live(
        *TRIPLE, "leader.size=0.04", "leader.speed=0.1",
        f"session.episodes={N_EPISODES}", f"record.dir={out}", *words,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def check_episodes(out):
    names = sorted(path.name for path in out.glob("*.mcap"))
    assert names == [f"episode_{k:06d}.mcap" for k in range(N_EPISODES)]
    for number in range(N_EPISODES):
        assert measure(out, number)["gate"]["violations"] == 0


def test_a_session_of_several_episodes_records_each(recorded):
    check_episodes(recorded)


@pytest.mark.nightly
@pytest.mark.timed
def test_a_live_session_of_several_episodes_repeats_them(tmp_path, capsys):
    numbers = itertools.count()

    def record_and_compare():
        out = record(tmp_path / f"out_{next(numbers)}")
        check_episodes(out)
        compare(out, tmp_path, capsys)

    undisturbed(record_and_compare)


def compare(out, folder, capsys):
    """Judge all episodes together, as a user does; return the report's entries."""
    episodes = sorted(map(str, out.glob("*.mcap")))
    capsys.readouterr()

    assert main(["evaluate", *episodes, "--out", str(folder), "--json"]) == 0

    entries = json.loads(capsys.readouterr().out)
    assert [entry["itv"]["n_trials"] for entry in entries] == [N_EPISODES] * 3
    assert entries[0]["itv"]["arc_length_mm"] < 0.5
    return entries


def test_info_says_what_is_in_it(recorded, capsys):
    assert main(["info", str(recorded / "episode_000001.mcap")]) == 0

    text = capsys.readouterr().out
    assert "leader=autopilot follower=piper env=kinematic" in text
    assert "end signal" in text


@pytest.mark.nightly  # sets of trials are in every run
def test_evaluate_compares_several_episodes(recorded, tmp_path, capsys):
    entries = compare(recorded, tmp_path, capsys)

    page = tmp_path / "episode_000000_and_2_more.report.html"
    assert entries == json.loads(page.with_suffix(".json").read_text())
    assert page.read_text().count("<img") >= 3


@pytest.mark.nightly  # what stands in the page is read in every run
def test_the_report_shows_in_a_browser(recorded, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    assert main(["evaluate", str(recorded / "episode_000000.mcap"),
                 "--out", str(tmp_path)]) == 0  # fmt: skip

    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
         (tmp_path / "episode_000000.report.html").as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    assert "CONSOLE" not in done.stderr  # nothing was refused by the page's policy
    assert done.stdout.count("<img") >= 4


@pytest.mark.nightly
@pytest.mark.parametrize("share", spread([0.2, 0.5, 0.99], 0.5))
def test_recover_saves_what_came_before_the_damage(longer, tmp_path, capsys, share):
    whole = longer / "episode_000000.mcap"
    data = whole.read_bytes()
    cut, saved = tmp_path / "cut.mcap", tmp_path / "saved.mcap"
    with whole.open("rb") as file:
        summary = make_reader(file).get_summary()
    # a share of what was recorded: headers before it grow with the robot, not with time
    first = summary.chunk_indexes[0].chunk_start_offset
    cut.write_bytes(data[: first + int((len(data) - first) * share)])

    assert main(["info", str(cut)]) == 0
    assert main(["recover", str(cut), "--out", str(saved)]) == 0

    assert "lost" in capsys.readouterr().out
    before, after = Episode.open(whole), Episode.open(saved)
    n = len(after.ticks)
    assert after.is_complete
    chunks, n_bytes = summary.chunk_indexes, cut.stat().st_size
    kept_ns = max(
        chunk.message_end_time - chunks[0].message_start_time
        for chunk in chunks
        if chunk.chunk_start_offset + chunk.chunk_length <= n_bytes
    )
    t_ns = before.ticks["stamp_ns"] - before.ticks["stamp_ns"][0]
    assert n >= (t_ns <= kept_ns).sum() - 1, "no tick of a whole chunk is lost"
    assert after.ticks.tobytes() == before.ticks[:n].tobytes()
    assert main(["evaluate", str(saved), "--out", str(tmp_path)]) == 0


def test_export_is_arbot_s_csv_and_can_be_played(recorded, tmp_path, capsys):
    path = tmp_path / "motion.csv"
    episode = Episode.open(recorded / "episode_000000.mcap")

    assert main(["export", str(episode.path), str(path)]) == 0

    table = read_arbot_csv(path)
    _, target = episode.target["arm"]
    assert len(table) > 100
    assert np.isfinite(table).all()
    assert np.isin(table[:, 1], target[:, 0]).all()
    played = tmp_path / "played"
    words = ["leader=offline", f"leader.path={path}", "follower=piper"]
    words += ["env=kinematic", "session.clock=virtual", f"record.dir={played}"]
    assert main(["run", *words]) == 0
    capsys.readouterr()
    assert measure(played)["ate_mm"]["lag_compensated"]["median"] < 0.05


@pytest.mark.nightly
@pytest.mark.timed
def test_replay_draws_the_same_again(recorded, tmp_path):
    whole = measure(recorded)
    folders = (tmp_path / str(k) for k in itertools.count())

    def replay_and_judge():
        folder = next(folders)
        done = run_live(
            str(recorded / "episode_000000.mcap"), "--speed", "2",
            f"record.dir={folder}", verb="replay",
        )  # fmt: skip

        assert done.returncode == 0, done.stdout + done.stderr
        again = measure(folder)
        assert again["gate"]["violations"] == 0
        assert again["engaged_s"] == pytest.approx(whole["engaged_s"] / 2, abs=0.1)
        median = again["ate_mm"]["lag_compensated"]["median"]
        assert median is not None
        assert median < 0.3

    undisturbed(replay_and_judge)


@pytest.mark.nightly
def test_replay_on_another_robot_is_refused(recorded, tmp_path, capsys):
    episode = str(recorded / "episode_000000.mcap")
    out = tmp_path / "out"

    assert main(["replay", episode, "follower=ur5e", f"record.dir={out}"]) == 2

    assert "expected the robot 'piper'" in capsys.readouterr().err
    assert not out.exists()


def test_replay_of_a_damaged_episode_plays_what_is_whole(longer, tmp_path, capsys):
    cut = tmp_path / "cut.mcap"
    data = (longer / "episode_000000.mcap").read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    out = tmp_path / "out"

    code = main(["replay", str(cut), "session.clock=virtual", f"record.dir={out}"])

    capsys.readouterr()
    assert code == 0
    assert measure(out)["gate"]["violations"] == 0


def test_a_dry_run_makes_no_folder(tmp_path, capsys):
    out = tmp_path / "a" / "b"

    assert main(["run", *TRIPLE, f"record.dir={out}", "--dry-run"]) == 0

    assert str(out) in capsys.readouterr().out
    assert not out.parent.exists()


def test_a_second_session_keeps_the_first_one_s_episodes(recorded, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(recorded, out)
    before = {path: path.read_bytes() for path in out.iterdir()}

    main(["run", *TRIPLE, "session.clock=virtual", "leader.size=0.02",
          "leader.speed=0.1", f"record.dir={out}"])  # fmt: skip

    capsys.readouterr()
    for path, data in before.items():
        assert path.read_bytes() == data
    assert (out / f"episode_{N_EPISODES:06d}.mcap").is_file()
