"""``paprle latency``: measured once, carried by every recording of the rig."""

from __future__ import annotations

import json

import pytest
import yaml

from paprle.cli import main
from paprle.config import folders, resolve
from paprle.config.measured import store_latency
from paprle.contracts.errors import RecordingError
from paprle.recording.reader import Episode
from paprle_lab.cli import latency as latency_verb
from paprle_lab.cli.latency import summarise_latency

TRIPLE = {"leader": "autopilot", "follower": "piper", "env": "kinematic"}
WORDS = [f"{part}={name}" for part, name in TRIPLE.items()]
FOUND = {"capture_to_command": 0.008, "command_to_motion": 0.05}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Settings of a site that is searched last, and so written to."""
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path / "site"))
    (tmp_path / "site").mkdir()
    return tmp_path / "site" / folders.SESSION


def write(site, found=FOUND, **other):
    tree = yaml.safe_load(site.read_text()) if site.exists() else {}
    store_latency(tree, found, {**TRIPLE, **other})
    site.write_text(yaml.safe_dump(tree))


@pytest.mark.long
def test_recordings_and_data_sets_of_the_rig_carry_it(site, tmp_path):
    write(site)
    small = ["leader.size=0.02", "leader.speed=0.1", "session.clock=virtual"]
    out = tmp_path / "out"

    assert main(["run", *WORDS, *small, f"record.dir={out}"]) == 0
    data = tmp_path / "data"
    assert main(["dataset", "create", str(out), "--out", str(data)]) == 0

    carried = Episode.open(out).config["record"]["latency"]
    assert carried["capture_to_command"] == 0.008
    assert carried["measured_with"] == TRIPLE
    (own,) = data.rglob("paprle.json")
    (source,) = json.loads(own.read_text())["sources"].values()
    assert source["latency"] == carried


@pytest.mark.parametrize("part", TRIPLE)
def test_another_rig_does_not_carry_it(site, part):
    write(site, **{part: "other"})

    assert resolve(WORDS).record.latency is None


def test_latencies_of_a_film_join_those_of_a_session(site):
    write(site)
    write(site, {"photon_to_photon": 0.12})

    latency = resolve(WORDS).record.latency

    assert (latency.capture_to_command, latency.photon_to_photon) == (0.008, 0.12)
    write(site, {"photon_to_photon": 0.2}, env="mujoco")
    of_mujoco = resolve([*WORDS[:2], "env=mujoco"]).record.latency
    assert of_mujoco.capture_to_command is None


def test_too_little_motion_is_no_measurement():
    blank = {"p50": None, "p99": None}
    known = {"p50": 8.0, "p99": 9.0}

    with pytest.raises(RecordingError, match="too little motion"):
        summarise_latency({"capture_to_command": known, "command_to_motion": blank})


def test_a_virtual_clock_measures_nothing(capsys):
    assert main(["latency", *WORDS, "session.clock=virtual"]) == 2

    assert "expected session.clock=wall" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seconds", "0"], "expected --seconds 1 … 600"),
        (["--film", "none.mp4"], "expected --first and --second"),
        (["--film", "none.mp4", "--first", "0,0,9,9", "--second", "0,0,9,9"],
         "expected a video, got 'none.mp4'"),
    ],
)  # fmt: skip
def test_wrong_words_are_refused(capsys, words, told):
    assert main(["latency", *words, *WORDS]) == 2

    assert told in capsys.readouterr().err


@pytest.mark.process
@pytest.mark.long
def test_one_command_measures_a_rig(site, capfd, monkeypatch):
    place = folders.Folder(site.parent, "site")
    monkeypatch.setattr(latency_verb, "find_site", lambda: place)
    words = ["latency", *WORDS, "--seconds", "6", "leader.speed=0.3"]

    assert main(words) == 0

    told = capfd.readouterr().out
    assert "sample to command" in told
    latency = resolve(WORDS).record.latency
    assert 0.0 < latency.capture_to_command < 0.2
    assert 0.0 < latency.sample_to_motion < 0.4
