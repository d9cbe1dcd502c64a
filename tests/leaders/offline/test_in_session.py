"""A whole session around the offline leader, in virtual time."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode

HOME = np.array([0.3330, 0.0, 0.3575])  # of piper_2arm, both hands
HOME_XYZW = (0.0, 0.5784, 0.0, 0.81575)


@pytest.fixture
def episode(tmp_path):
    """Run a motion along y, 0.05 m/s, with one second missing, and read it back."""
    t = np.arange(0, 2, 0.02)
    t = t[(t < 0.7) | (t > 1.7)]
    rows = "".join(f"{x:.3f} 0 {0.05 * x:.6f} 0 0 0 0 1\n" for x in t)
    path = tmp_path / "gap.txt"
    path.write_text(rows)
    args = ["leader=offline", f"leader.path={path}", "follower=piper", "env=kinematic"]
    args += ["session.clock=virtual", f"record.dir={tmp_path / 'out'}"]
    args.append("leader.allow_loss=true")

    reason = VirtualSession(resolve(args)).run()

    assert reason == "done"
    return Episode.open(tmp_path / "out/episode_000000.mcap")


def test_gap_disengages_and_data_re_engage_without_a_press(episode):
    states = [SessionState(s).name for s in episode.ticks["state"]]
    changes = [a for a, b in zip(states, ["", *states], strict=False) if a != b]

    engaged = changes.index("ENGAGED")
    assert changes[engaged : engaged + 3] == ["ENGAGED", "CLUTCHED", "ENGAGED"]


def test_motion_on_both_sides_of_a_gap_is_followed_whole(episode):
    """Playing waits for the session: 0.68 s before the gap, 0.26 s after it."""
    is_engaged = episode.ticks["state"] == SessionState.ENGAGED
    y = episode.ticks["target"][:, 0, 1]
    y = y[is_engaged & np.isfinite(y)]

    assert np.ptp(y) == pytest.approx(0.05 * (0.68 + 0.26), abs=0.001)
    assert np.abs(np.diff(y)).max() < 0.001


@pytest.mark.parametrize(
    ("settings", "n"),
    [
        pytest.param([], 1, id="once"),
        pytest.param(["session.episodes=3"], 3, id="as often as asked"),
        pytest.param(["session.episodes=3", "{plays}=2"], 2, id="the leader's own"),
    ],
)
@pytest.mark.parametrize("leader", ["offline", "autopilot"])
def test_a_file_plays_as_many_episodes_as_the_session_asks_for(
    tmp_path, leader, settings, n
):
    plays = {"offline": "leader.loop", "autopilot": "leader.episodes"}[leader]
    args = [f"leader={leader}", "follower=piper", "env=kinematic"]
    if leader == "offline":
        rows = [f"{0.02 * k:.3f} 0 0 0 0 0 0 1\n" for k in range(20)]
        (tmp_path / "still.txt").write_text("".join(rows))
        args.append(f"leader.path={tmp_path / 'still.txt'}")
    else:
        args += ["leader.size=0.01", "leader.speed=0.1"]
    args += ["session.clock=virtual", *(s.format(plays=plays) for s in settings)]
    session = VirtualSession(resolve(args))

    assert session.run() == "done"
    assert session.core.episodes.number == n


def test_an_episode_of_an_absolute_and_a_relative_leader_goes_the_same_way(tmp_path):
    """The absolute one at the pose of its file, 30 mm off the home, the other at it."""
    t = np.arange(0, 1, 0.02)
    at = HOME + np.outer(np.ones(3), 0.02 * t).T + [0.0, 0.03, 0.0]
    rows = np.column_stack([t, at, np.tile(HOME_XYZW, (len(t), 1))])
    path = tmp_path / "way.txt"
    np.savetxt(path, rows)
    words = ["follower=piper_2arm", "env=kinematic", "session.clock=virtual"]
    mix = ["leader=mix"]
    for name, frame in (("left", "absolute"), ("right", "relative")):
        own = f"leaders.{name}"
        mix += [f"{own}.type=offline", f"{own}.path={path}", f"{own}.frame={frame}"]

    first = play(tmp_path / "mix", [*mix, *words])
    file = tmp_path / "mix/episode_000000.mcap"
    again = play(tmp_path / "again", ["leader=offline", f"leader.path={file}", *words])

    assert np.ptp(first, axis=0).max() > 0.015
    assert np.abs(again[-1] - first[-1]).max() < 1e-3


def play(out, words):
    """Run a session and return where both hands were asked to be, shape (n, 2, 3)."""
    assert VirtualSession(resolve([*words, f"record.dir={out}"])).run() == "done"
    ticks = Episode.open(out / "episode_000000.mcap").ticks
    target = ticks["target"][ticks["state"] == SessionState.ENGAGED][:, :, :3]
    return target[np.isfinite(target).all(axis=(1, 2))]
