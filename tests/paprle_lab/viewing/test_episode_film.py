"""An episode is seen at any time of it as its session's observers saw it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from filmed import START_NS, URDF, write_episode

from paprle.cli import main
from paprle.contracts.errors import RecordingError
from paprle.ipc.process import WORKSPACE
from paprle_emulators.camera.clock_picture import read_clock
from paprle_lab.viewing.episode_film import EpisodeFilm

SECONDS = 3.0


@pytest.fixture(scope="module")
def episode(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filmed")
    return write_episode(folder, SECONDS, cameras=("front",), skip=range(60, 75))


@pytest.fixture
def film(episode):
    film = EpisodeFilm(episode)
    yield film
    film.close()


def shown(film, t):
    frame = film.see("front", t)
    if frame is None:
        return None
    info = film.cameras["front"]
    image = np.frombuffer(frame.data, np.uint8).reshape(info.height, info.width, 3)
    return (read_clock(image) - START_NS / 1e6) / 1e3


def test_the_robot_is_where_it_was_at_that_time(film):
    assert film.length == pytest.approx(SECONDS, abs=0.02)
    for t in (0.0, 2.5, 0.5, SECONDS + 9.0):
        at = min(t, film.length)
        assert film.look(t).q[0] == pytest.approx(0.4 * at, abs=0.005)


def test_segmentation_ids_are_shown_as_recorded(tmp_path):
    film = EpisodeFilm(write_episode(tmp_path, 0.6, ids=("what",)))
    frame, info = film.see("what", 0.3), film.cameras["what"]
    film.close()

    assert info.encoding == "ids16"
    assert info.find_fault(frame) == ""
    assert set(np.frombuffer(frame.data, "<u2")) <= {3 + 8, 3 + 9}


@pytest.mark.long
@pytest.mark.parametrize("times", [(0.5, 1.0, 1.5), (1.7, 0.4, 1.71, 0.41), (2.9, 0.1)])
def test_pictures_are_those_of_that_time_forwards_and_back(film, times):
    for t in times:
        assert 0.0 <= t - shown(film, t) < 0.05


def test_the_last_picture_does_not_stand_for_those_that_are_missing(film):
    assert shown(film, 2.0) is not None
    assert shown(film, 2.3) is None
    assert shown(film, 2.8) == pytest.approx(2.8, abs=0.05)


def test_signals_of_a_joint_share_a_plot_and_show_all_of_it(film):
    turn = [k for k, one in enumerate(film.signals) if one.chart == "turn"]

    assert [film.signals[k].name for k in turn] == [
        "requested",
        "commanded",
        "measured",
    ]
    assert {film.signals[k].unit for k in turn} == {"rad"}
    t, values = film.read_signal(turn[-1])
    assert np.all(np.diff(t) > 0.0)
    assert t[-1] == pytest.approx(SECONDS, abs=0.02)
    assert np.abs(values - 0.4 * t).max() < 0.005


def test_moments_are_in_order_with_states_events_and_notes(tmp_path):
    path = write_episode(tmp_path, 1.0, driven=(0.3, 0.7))
    manifest = json.loads(path.with_suffix(".json").read_text())
    note = {"t_ns": START_NS + 500_000_000, "text": "the cup slipped"}
    path.with_suffix(".json").write_text(json.dumps(manifest | {"notes": [note]}))
    film = EpisodeFilm(path)
    film.close()

    shown = [(round(mark.t, 1), mark.kind, mark.text) for mark in film.marks]
    assert (0.3, "state", "driving") in shown
    assert (0.5, "note", "the cup slipped") in shown
    assert (0.7, "state", "paused") in shown
    assert not [text for _, _, text in shown if text == "state"], "a word says which"
    assert shown == sorted(shown, key=lambda one: one[0])


def test_a_robot_whose_urdf_is_gone_or_another_is_the_recorded_one(tmp_path):
    path = write_episode(tmp_path, 0.5)
    (tmp_path / "toy.urdf").write_text("<robot name='other'/>")
    film = EpisodeFilm(path)

    assert film.robot.urdf_path.read_text() == URDF
    film.close()
    assert not film.robot.urdf_path.exists()


def test_a_broken_file_is_shown_as_far_as_it_is_whole(episode, tmp_path):
    cut = tmp_path / episode.name
    cut.write_bytes(episode.read_bytes()[: int(0.7 * episode.stat().st_size)])
    film = EpisodeFilm(cut)

    assert film.notes
    assert 0.3 < film.length < SECONDS
    film.close()


@pytest.mark.parametrize("data", [b"", b"nothing", b"\x89MCAP0\r\n" + b"\0" * 99])
def test_an_invalid_episode_is_refused(tmp_path, data, capsys):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(data)

    with pytest.raises(RecordingError):
        EpisodeFilm(path)
    assert main(["view", str(path)]) == 1
    assert main(["view", str(path), "--rerun"]) == 1
    assert capsys.readouterr().err.count("expected") >= 2
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.nightly  # its reader alone takes seconds
def test_rerun_gets_joints_poses_and_every_picture(episode, tmp_path):
    rr = pytest.importorskip("rerun")
    path = shutil.copy(episode, tmp_path / episode.name)

    env = {k: v for k, v in os.environ.items() if "DISPLAY" not in k}
    code = "import sys; from paprle.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "view", str(path), "--rerun"],
        env=env, capture_output=True, text=True, cwd=WORKSPACE, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "open it with: rerun" in done.stdout
    out = tmp_path / "episode_000000.rrd"
    verified = subprocess.run(
        [sys.executable, "-m", "rerun", "rrd", "print", "-v", str(out)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for entity in ("/joints/turn/requested", "/joints/lift/measured",
                   "/eefs/arm/measured", "/cameras/front"):  # fmt: skip
        assert entity in verified, rr.__version__


@pytest.mark.process
@pytest.mark.long
def test_ctrl_c_ends_it_cleanly(episode):
    code = "import sys; from paprle.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, "view", str(episode)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=WORKSPACE,
    )  # fmt: skip
    told = process.stdout.readline() + process.stdout.readline()
    assert re.search(r"open http://127\.0\.0\.1:\d+/#\S+", told)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)

    assert (process.returncode, told) == (0, "")
