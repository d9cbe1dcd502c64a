"""Leaders recorded without a robot, and played on one."""

from __future__ import annotations

import os

import numpy as np
import pytest

from paprle import Episode
from paprle.cli.doctor import resolve_leader
from paprle.cli.sessions import make_replay_settings
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import SessionState
from paprle.hosts.capture import CaptureHost, capture
from paprle.hosts.virtual import VirtualClock, VirtualSession
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.testing import make_feedback

TICK = 5_000_000  # [ns]


def settings(folder, *words):
    return resolve_leader([*words, "session.clock=virtual", f"record.dir={folder}"])


def capture_all(folder, *words):
    made = capture(settings(folder, *words), lambda: False)
    return made, Episode.open(folder)


def test_a_leader_is_captured_as_it_spoke_without_any_robot(tmp_path):
    words = ["leader=autopilot", "leader.size=0.05", "leader.speed=0.1"]
    made, episode = capture_all(tmp_path, *words)

    assert episode.is_complete
    assert episode.robot_info.joint_names == ()
    assert len(episode.gate) == 0
    (leader,) = episode.leader.values()
    assert np.isfinite(leader[1]).all()
    assert np.ptp(leader[1][:, 1]) == pytest.approx(0.05, rel=0.01), "a whole circle"
    assert f"{len(leader[0])} samples" in made.summarise()[0]
    assert "200.0 [Hz]" in made.summarise()[0]


def test_time_ends_it(tmp_path):
    _, episode = capture_all(tmp_path, "leader=autopilot", "session.duration=0.5")

    assert episode.end_reason == "time is up"


def test_a_capture_is_no_episode_to_replay_on_its_robot(tmp_path):
    _, episode = capture_all(tmp_path, "leader=autopilot", "session.duration=0.1")

    with pytest.raises(ConfigError, match="leader=offline leader.path="):
        make_replay_settings(episode, 1.0, [])


def test_a_folder_is_needed():
    resolved = resolve_leader(["leader=autopilot"])

    with pytest.raises(ConfigError, match="record.dir=FOLDER"):
        CaptureHost(resolved, VirtualClock())


class Typed:
    """A keyboard that is captured while somebody types."""

    def __init__(self, folder):
        self.read_end, self.write_end = os.pipe()
        self.clock = VirtualClock()
        resolved = settings(folder, "leader=keyboard", f"leader.fd={self.read_end}")
        self.made = CaptureHost(resolved, self.clock)
        self.made.open()

    def step(self, n):
        for _ in range(n):
            self.made.step()
            self.clock.now_ns += TICK

    def close(self):
        self.made.close("operator")
        os.close(self.read_end)
        os.close(self.write_end)


def integrate(leader, clock, n):
    """Return where the axes of a played leader go, and the modes they are in."""
    moved, stamp_ns = np.zeros(7), None
    leader.open()
    leader.latest()
    leader.apply(make_feedback(SessionState.ENGAGED, stamp_ns=clock()))
    for _ in range(n):
        clock.now_ns += TICK
        sample = leader.latest()
        dt = 0.0 if stamp_ns is None else (sample.stamp_ns - stamp_ns) * 1e-9
        moved += sample.limbs["hand"].axes * dt
        stamp_ns = sample.stamp_ns
    return moved


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_keys_that_were_captured_play_as_axes_to_the_same_place(tmp_path, speed):
    typed = Typed(tmp_path)
    typed.step(10)
    os.write(typed.write_end, b"w")
    typed.step(200)
    os.write(typed.write_end, b"h")
    typed.step(200)
    typed.close()
    clock = VirtualClock()
    path = str(next(tmp_path.glob("*.mcap")))

    leader = Offline(OfflineConfig(path=path, limb="hand", speed=speed), clock)
    moved = integrate(leader, clock, round(420 / speed))

    level = 5 / 9
    info = leader.info
    assert info.emits == "axes"
    assert info.axis_speeds.translation == pytest.approx(0.18 * speed)
    expected = np.zeros(7)
    expected[0], expected[6] = 0.6 * level / speed, 0.6 / speed
    np.testing.assert_allclose(moved, expected, atol=0.006 / speed)


@pytest.mark.long
@pytest.mark.parametrize("follower", ["piper", "papras_7dof_2arm"])
def test_a_capture_plays_on_any_robot_the_same_to_the_last_bit(tmp_path, follower):
    typed = Typed(tmp_path / "captured")
    typed.step(10)
    os.write(typed.write_end, b"w")
    typed.step(130)
    typed.close()
    path = next((tmp_path / "captured").glob("*.mcap"))
    words = ["leader=offline", f"leader.path={path}", f"follower={follower}"]
    words += ["env=kinematic", "session.clock=virtual", "session.episodes=1"]

    runs = []
    for name in ("once", "again"):
        VirtualSession(resolve([*words, f"record.dir={tmp_path / name}"])).run()
        runs.append(Episode.open(tmp_path / name))

    once, again = runs
    assert once.end_reason == "end signal"
    np.testing.assert_array_equal(once.gate["q_cmd"], again.gate["q_cmd"])
    assert np.ptp(once.gate["q_cmd"], axis=0).max() > 0.05
    (leader,) = once.leader.values()
    assert leader[1].shape[1] == 7, "deflections are recorded"
