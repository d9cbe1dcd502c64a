"""An exception at every call site stops the robot, and says so (row 15)."""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread
from running import judge

from paprle.hosts.exit_codes import NOT_RECORDED

pytestmark = pytest.mark.process

BREAKER = ["leader=breaker", "follower=piper", "env=kinematic"]
WORD = "broken on purpose"

LOST, FAILED = 3, 1
KINEMATIC = "paprle.followers.kinematic.follower:KinematicFollower"
SITES = {
    # where, after how many calls, exit code, how the episode ended
    # it waves once it moves, however long the start took
    "leader.latest": ("outsider:Breaker.wave", 100, LOST, "leader died"),
    "leader.apply": ("outsider:Breaker.apply", 300, LOST, "leader died"),
    "follower.read": (f"{KINEMATIC}.read", 1000, LOST, "gate died"),
    "follower.write": (f"{KINEMATIC}.write", 400, LOST, "gate died"),
    "gate": ("paprle.gate.gate:Gate.step", 400, LOST, "gate died"),
    "tick": ("paprle.session.core:Core.step", 300, FAILED, "failed: Sabotage"),
    "ik": ("paprle.retargeting.retarget:Retargeting.solve", 50, FAILED,
           "failed: Sabotage"),
    "status": ("paprle.hosts.operator.progress:Progress.compose", 8, FAILED,
               "failed: Sabotage"),
}  # fmt: skip


def break_at(start, outside, site, after, *more):
    settings = [f"leader.site={site}", f"leader.after={after}", *more]
    return start(*BREAKER, *settings, env=outside)


def check_stopped(session):
    """The episode is closed, ends at rest, and the oracle is content."""
    episode = session.episode()
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    assert episode.manifest is not None
    return episode


@pytest.mark.parametrize("name", spread(SITES, "gate", "leader.latest"))
def test_an_exception_while_moving_stops_and_is_shown(start, outside, name):
    site, after, code, end_reason = SITES[name]
    session = break_at(start, outside, site, after)

    assert session.wait_gone() == code, session.text()

    text = session.text()
    assert WORD in text
    assert "the last states are in" in text
    episode = check_stopped(session)
    said = episode.manifest["end_reason"]
    if site.startswith("followers"):  # the stop may be seen before the end of the gate
        assert said in {end_reason, "stopped: follower_fault"}
    else:
        assert said == end_reason
    if end_reason != "gate died":
        assert np.abs(episode.gate["dq_cmd"][-1]).max() == 0.0
    with np.load(next(session.out.glob("black_box_*.npz"))) as box:
        assert WORD in str(box["why"])
        assert len(box["ticks"]) > 30


@pytest.mark.nightly
@pytest.mark.parametrize(
    "site",
    [
        "outsider:Breaker.open",
        "paprle.followers.kinematic.follower:KinematicFollower.open",
        "paprle.recording.recorder:Recorder.__init__",
    ],
)
def test_an_exception_while_opening_starts_nothing(start, outside, site):
    session = break_at(start, outside, site, 0)

    assert session.wait_gone() == LOST
    assert WORD in session.text()
    assert "Traceback" not in session.text()
    assert not list(session.out.glob("*")), "nothing was recorded"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("site", "action"),
    [
        ("outsider:Breaker.close", "raise"),
        ("paprle.followers.kinematic.follower:KinematicFollower.close", "raise"),
    ],
)
def test_an_exception_while_closing_keeps_the_rest_going(start, outside, site, action):
    session = break_at(
        start, outside, site, 0, "leader.time=0.5", f"leader.action={action}"
    )

    assert session.wait_gone() == LOST

    assert WORD in session.text()
    assert check_stopped(session).manifest["end_reason"] == "end signal"


def test_an_exception_in_the_recorder_ends_the_recording_alone(start, outside):
    site = "paprle.recording.recorder:Recorder.step"
    session = break_at(start, outside, site, 300, "leader.time=3.0")
    session.wait_for("RECORDING FAILED")
    assert "ENGAGED" in session.text()

    assert session.wait_gone() == NOT_RECORDED

    assert "recorder: the process ended: Sabotage" in session.text()
    assert "ended: done, 1 episode(s)" in session.text()


@pytest.mark.nightly
def test_an_exception_in_the_keys_thread_stops_the_robot(type_at, outside):
    site = "paprle.hosts.operator.terminal:Operator.take_keys"
    session = type_at(*BREAKER, f"leader.site={site}", "leader.after=0", env=outside)
    session.wait_for("ENGAGED ")
    session.press(b"?")

    assert session.wait_gone() == FAILED
    assert WORD in session.text()
    assert session.is_restored
    check_stopped(session)
