"""A whole session around the offline leader, in virtual time."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.contracts.types import SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode


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
