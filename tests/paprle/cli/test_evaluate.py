"""``paprle evaluate`` writes where it may, and spoils nothing."""

from __future__ import annotations

import json

import pytest

from paprle.cli import main

pytestmark = pytest.mark.long

SHORT = ("leader=autopilot", "leader.size=0.02", "leader.speed=0.1", "follower=piper",
         "env=kinematic", "session.clock=virtual")  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    out = tmp_path_factory.mktemp("recorded")
    assert main(["run", *SHORT, f"record.dir={out}"]) == 0
    assert main(["evaluate", str(out)]) == 0
    return out


def list_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_report_is_named_by_its_episode(recorded):
    page = recorded / "episode_000000.report.html"

    assert page.is_file()
    figures = json.loads(page.with_suffix(".json").read_text())
    assert figures[0]["reach"]["reached_percent"] > 99.0


@pytest.mark.parametrize("name", ["episode_000009.mcap", "episode_00000.mcap"])
def test_a_typo_in_the_name_is_refused_and_changes_nothing(recorded, capsys, name):
    before = list_files(recorded)

    assert main(["evaluate", str(recorded / name)]) == 2

    assert f"expected an episode, got '{recorded / name}'" in capsys.readouterr().err
    assert list_files(recorded) == before


def test_a_file_that_is_no_recording_gets_no_report_beside_it(tmp_path, capsys):
    motion = tmp_path / "motion.csv"
    motion.write_text("t,x,y,z\n0,0,0,0\n")

    assert main(["evaluate", str(motion)]) == 1

    assert [path.name for path in tmp_path.iterdir()] == ["motion.csv"]
    assert "no report was written" in capsys.readouterr().err


def test_an_episode_that_became_unreadable_keeps_its_last_report(
    recorded, tmp_path, capsys
):
    page = recorded / "episode_000000.report.html"
    spoiled = tmp_path / "episode_000000.mcap"
    spoiled.write_bytes(b"nothing")
    kept = tmp_path / page.name
    kept.write_bytes(page.read_bytes())
    kept.with_suffix(".json").write_bytes(page.with_suffix(".json").read_bytes())

    assert main(["evaluate", str(spoiled)]) == 1

    assert kept.read_bytes() == page.read_bytes()
    assert "the last one stays" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_said_with_what_to_do(
    recorded, tmp_path, capsys
):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "below"

    assert main(["evaluate", str(recorded), "--out", str(out)]) == 2

    assert "choose a folder with --out" in capsys.readouterr().err


def test_nothing_is_written_into_the_folder_of_a_bag(tmp_path, monkeypatch):
    bag, here = tmp_path / "bag", tmp_path / "here"
    bag.mkdir()
    here.mkdir()
    (bag / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    monkeypatch.chdir(here)

    main(["evaluate", str(bag)])

    assert [path.name for path in bag.iterdir()] == ["metadata.yaml"]
