"""A leader of this host over a network that is played, on the virtual clock."""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.operator.requests import Hands
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_robot
from paprle.hosts.virtual import VirtualSession
from paprle.oracle import JudgedLimits, check_commands
from paprle.recording.reader import Episode
from paprle.testing.clock import ManualClock

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
    limits = JudgedLimits(
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


def test_a_hand_at_the_page_leads_over_a_network_that_is_played():
    words = ["leader=web", *WORDS[1:], "link.emulate=5g"]
    resolved = resolve(words)
    clock = ManualClock()
    robot = make_robot(resolved).info
    leader = make_leader(resolved, clock, robot=robot)
    assert leader.is_at_page
    leader.open()
    n = len(robot.joint_names)
    poses = np.tile([0.3, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0], (len(robot.limbs), 1))

    sample = None
    for _ in range(200):
        clock.advance(0.005)
        hands = Hands(
            stamp_ns=clock(), is_held=True, n_presses=1, poses=poses,
            joints=np.zeros(n),
            axes=np.zeros((len(robot.limbs), 7)), openings=np.ones(len(robot.limbs)),
        )  # fmt: skip
        leader.hear(hands)
        sample = leader.latest() or sample

    assert sample is not None
    assert sample.engaged


def test_a_leader_that_looks_at_the_session_is_refused():
    words = ["leader=policy", "leader.path=model.onnx", *WORDS[1:], "link.emulate=5g"]

    with pytest.raises(ConfigError, match="'Policy', which looks at the session"):
        make_leader(resolve(words))


def test_a_trace_that_is_not_there_is_refused_before_anything_opens():
    with pytest.raises(ConfigError, match=r"link\.emulate: expected a CSV or one of"):
        make_leader(resolve([*WORDS, "link.emulate=nowhere"]))
