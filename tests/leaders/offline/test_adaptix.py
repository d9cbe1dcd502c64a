"""A recording of AdaptiX is played, and an episode of ours becomes one."""

import importlib
import sys

import numpy as np
import pytest

from paprle.cli import main
from paprle.config import resolve
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Feedback, SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.leaders.offline.motion import load_motion
from paprle.recording.others.adaptix import CLOSED, N_FINGERS, parse_adaptix
from paprle.recording.reader import Episode
from paprle.testing import ManualClock

ROBOT = ["follower=papras_7dof", "session.clock=virtual", "session.status=false"]


def run(folder, *words):
    assert main(["run", *ROBOT, f"record.dir={folder}", *words]) == 0
    return Episode.open(folder / "episode_000000.mcap")


def test_fingers_are_an_opening_and_degrees_are_said(tmp_path):
    path = tmp_path / "v0.csv"
    rows = [[0.02 * k, k, 0, 0, 0, 0, 0, 1, angle, 0, 0, 0] for k, angle in
            enumerate([0.0, CLOSED / 2, CLOSED])]  # fmt: skip
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))

    motion = load_motion(OfflineConfig(path=str(path)))

    rows = motion.tracks["hand"].rows
    np.testing.assert_allclose(rows.opening, [1.0, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(rows.p[:, 0], [0.0, 0.01, 0.02])
    assert not motion.absolute
    assert any("AdaptiX, version 0" in note for note in motion.notes)


def write_line(path, version, n=20):
    """A gripper that goes along x, 0.02 s a frame, with an object beside it."""
    still = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    rows = []
    for k in range(n):
        gripper = [0.2 * k, *still[1:]]
        poses = [gripper] if version == 0 else [still] * 7 + [gripper]
        head = still[:3] if version == 0 else still
        fingers = [0.0] * N_FINGERS[version]
        rows.append([0.02 * k, *sum(poses, []), *fingers, *head, 4, *still])
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """What code of somebody's own was called with."""
    text = "frames = []\nfar = type('Far', (), {'see': staticmethod(frames.append)})\n"
    (tmp_path / "my_replay.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_replay", raising=False)
    return importlib.import_module("my_replay").frames


@pytest.mark.parametrize("version", [0, 1, 2])
def test_code_of_ones_own_sees_each_frame_once_and_in_order(tmp_path, seen, version):
    path = tmp_path / "line.csv"
    write_line(path, version)
    words = ["env=kinematic", "leader=offline", f"leader.path={path}"]

    plain = run(tmp_path / "plain", *words)
    assert not seen
    hooked = run(tmp_path / "hooked", *words, "leader.hook=my_replay:far.see")

    recording = parse_adaptix(path, path.read_text())
    assert [frame.t for frame in seen] == [frame.t for frame in recording.frames]
    assert all(list(frame.objects) == [4] for frame in seen)
    assert [len(frame.joints) for frame in seen] == [1 if version == 0 else 8] * 20
    np.testing.assert_array_equal(hooked.gate["q_cmd"], plain.gate["q_cmd"])
    assert np.ptp(hooked.gate["q_cmd"], axis=0).max() > 0.02, "it moves"


def test_a_play_that_starts_over_is_seen_anew(tmp_path, seen):
    path = tmp_path / "line.csv"
    write_line(path, 2)
    words = ["env=kinematic", "leader=offline", f"leader.path={path}"]

    code = main(
        ["run", *ROBOT, f"record.dir={tmp_path / 'out'}", *words, "leader.loop=3",
         "session.episodes=3", "leader.hook=my_replay:frames.append"]
    )  # fmt: skip

    times = [frame.t for frame in seen]
    assert code == 0
    assert times == times[:20] * 3


def test_frames_come_as_they_are_played_and_not_before(tmp_path, seen):
    path = tmp_path / "line.csv"
    write_line(path, 1)
    clock = ManualClock()
    leader = Offline(
        OfflineConfig(path=str(path), hook="my_replay:frames.append"), clock
    )
    leader.open()

    leader.latest()
    assert not seen, "nobody follows it"
    leader.apply(
        Feedback(
            stamp_ns=clock(), state=SessionState.ENGAGED, episode=1, is_engaged=True
        )
    )
    for _ in range(10):
        clock.advance(0.01)
        leader.latest()

    assert [frame.t for frame in seen] == pytest.approx([0.02 * k for k in range(6)])


def test_a_hook_that_there_is_not_and_other_files_are_refused(tmp_path):
    path, other = tmp_path / "line.csv", tmp_path / "tum.txt"
    write_line(path, 0)
    other.write_text("".join(f"{0.02 * k} 0 0 0 0 0 0 1\n" for k in range(20)))

    with pytest.raises(DeviceError, match=r"leader\.hook: expected to load 'no:way'"):
        Offline(OfflineConfig(path=str(path), hook="no:way"), ManualClock()).open()
    with pytest.raises(ConfigError, match=r"leader\.hook: expected a recording of Ad"):
        load_motion(OfflineConfig(path=str(other), hook="no:way"))


def test_objects_that_an_operator_placed_go_out_from_when_they_stood_there(tmp_path):
    lap = ["leader=autopilot", "leader.laps=1", "leader.size=0.04", "leader.speed=0.2"]
    words = ["run", *ROBOT, f"record.dir={tmp_path}", "env=kinematic", *lap]
    cup = np.array([0.3, 0.1, 0.25, 0.0, 0.0, 0.0, 1.0])
    session = VirtualSession(resolve([*words[1:], "session.objects=[cup, bin]"]))
    tick = session._tick

    def place_then_tick(status):
        if session.core.state is SessionState.ENGAGED:
            session.core.place({"cup": cup})
        return tick(status)

    session._tick = place_then_tick
    session.run()
    made = Episode.open(tmp_path)
    path = tmp_path / "motion.csv"

    assert main(["export", str(made.path), str(path), "--format", "adaptix-v2"]) == 0
    recording = parse_adaptix(path, path.read_text())

    assert [(one.id, one.name) for one in recording.actors] == [(0, "cup"), (1, "bin")]
    first, last = recording.frames[0], recording.frames[-1]
    assert not first.objects, "it was not placed yet"
    assert list(last.objects) == [0], "the bin never was"
    np.testing.assert_allclose(last.objects[0], cup, atol=1e-12)


@pytest.mark.sim
@pytest.mark.long
def test_an_episode_goes_out_and_its_motion_is_the_same_in_another_scene(tmp_path):
    pytest.importorskip("mujoco")
    world = ["env=mujoco", "env.rate=50", "session.rate=25"]
    lap = ["leader=autopilot", "leader.laps=1", "leader.size=0.04", "leader.speed=0.2"]
    made = run(tmp_path / "made", *world, *lap, "env.scenario.seed=1")
    path = tmp_path / "motion.csv"

    code = main(["export", str(made.path), str(path), "--format", "adaptix-v2"])
    play = [*world, "leader=offline", f"leader.path={path}"]
    here = run(tmp_path / "here", *play, "env.scenario.seed=1")
    there = run(tmp_path / "there", *play, "env.scenario.seed=2")

    assert code == 0
    assert not np.array_equal(here.objects["block"][1][0], there.objects["block"][1][0])
    np.testing.assert_array_equal(here.gate["q_cmd"], there.gate["q_cmd"])
    engaged = here.ticks["state"] == SessionState.ENGAGED
    recorded = parse_adaptix(path, path.read_text()).frames
    before = np.array([frame.joints[-1, :3] for frame in recorded])
    after = here.ticks["target"][engaged, 0, :3]
    assert np.ptp(after, axis=0) == pytest.approx(np.ptp(before, axis=0), abs=0.002)
    assert np.ptp(here.gate["q_cmd"], axis=0).max() > 0.02, "it moves"
