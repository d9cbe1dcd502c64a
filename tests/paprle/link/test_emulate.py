"""A leader of this host over a network that is played, on the virtual clock."""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.hosts.factories import make_leader
from paprle.hosts.virtual import VirtualSession
from paprle.oracle import Limits, check_commands
from paprle.recording.reader import Episode

WORDS = ("leader=autopilot", "follower=piper", "env=kinematic", "session.clock=virtual")


def play(folder, *words):
    settings = [*WORDS, "leader.size=0.03", "leader.speed=0.1", f"record.dir={folder}"]
    resolved = resolve([*settings, *words])
    session = VirtualSession(resolved)
    assert session.run() == "done"
    return session, Episode.open(folder / "episode_000000.mcap")


@pytest.mark.long
@pytest.mark.parametrize("trace", spread(["acceptance", "4g"], "acceptance"))
def test_a_session_over_a_bad_network_never_stops_and_keeps_its_limits(tmp_path, trace):
    session, episode = play(tmp_path, f"link.emulate={trace}")

    states = [e["after"] for e in episode.events if "after" in e]
    assert "CLUTCHED" not in states
    robot = session.plan.robot.info
    limits = Limits(
        q_min=robot.q_min,
        q_max=robot.q_max,
        dq_max=robot.dq_max,
        ddq_max=robot.ddq_max,
        dddq_max=robot.dddq_max,
        h=0.005,
    )
    verdict = check_commands(np.asarray(episode.gate["q_cmd"]), limits)
    assert verdict.is_ok, str(verdict)
    leader = next(iter(session.plan.leaders.values()))
    assert leader.ways[0].counts["lost"] > 0


@pytest.mark.nightly
def test_the_same_seed_is_the_same_run(tmp_path):
    runs = [
        play(tmp_path / name, "link.emulate=5g", f"link.seed={seed}")[1]
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]

    first, same, other = (np.asarray(run.gate["q_cmd"]) for run in runs)
    assert np.array_equal(first, same)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_a_trace_that_is_not_there_is_refused_before_anything_opens():
    with pytest.raises(ConfigError, match=r"link\.emulate: expected a CSV or one of"):
        make_leader(resolve([*WORDS, "link.emulate=nowhere"]))
