"""The line an operator reads while it runs, and the summary at the end."""

import pytest
from lock_step import AUTOMATIC, make_progress

from paprle.hosts.operator.progress import list_remedies
from paprle.hosts.operator.terminal import Operator


def compose(progress, recording="", width=200):
    return progress.compose(0, recording, (), width)


@pytest.mark.long
def test_the_line_says_which_episode_how_long_what_for_and_that_it_records(lock_step):
    session = lock_step().engage().move(5).press("next_episode").engage()
    progress = make_progress(session, task="pick the cube", episodes=50)
    session.step(200 * 12)

    line = compose(progress, "REC")

    assert line == "ENGAGED   · ep 2/50 · kept 1 · 00:12 · pick the cube · REC"


def test_the_line_gives_up_task_and_counts_where_a_terminal_is_narrow(lock_step):
    session = lock_step().engage()
    progress = make_progress(session, task="pick the cube", duration=30.0)

    assert compose(progress, "REC", 50) == (
        "ENGAGED   · ep 1 · kept 0 · 00:00 of 00:30 · REC"
    )
    assert compose(progress, "REC", 45) == "ENGAGED   · ep 1 · 00:00 of 00:30 · REC"


def test_between_two_episodes_the_line_counts_the_time_to_reset(lock_step):
    session = lock_step(AUTOMATIC, reset_time=30.0)
    session.start = True
    session.until("ENGAGED").move(5).press("next_episode").until("WAITING")
    progress = make_progress(session, reset_time=30.0)
    session.step(400)

    line = compose(progress)

    assert "reset the scene, or press Enter" in line
    assert "· reset 00:0" in line
    assert " of 00:30" in line
    assert progress.attention() == "", "it rings when the time is over"


def test_a_typed_task_is_seen_while_it_is_typed_and_taken_for_the_next(lock_step):
    session, operator = lock_step().until("WAITING"), Operator()
    progress = make_progress(session, operator=operator)

    operator.take_keys(b"tstack")
    assert "task: stack_" in compose(progress)
    operator.take_keys(b"\r")

    assert "· stack ·" in f"{compose(progress)} ·"
    assert session.core.episodes.task == "stack"


@pytest.mark.parametrize("bell", [True, False])
def test_the_bell_is_off_by_its_key(lock_step, bell):
    progress = make_progress(lock_step(), bell=bell)

    assert (progress.attention is not None) is bell


def test_the_summary_counts_what_became_of_episodes(lock_step):
    session = lock_step()
    for key in ("success", "failure", "discard", "redo", "next_episode"):
        session.engage().move(5).press(key).until("WAITING").step(5)
    session.press("quit").until("CLOSING")
    progress = make_progress(session)
    recording = {"episodes": ["a.mcap", "b.mcap"], "marks": ["success", "discarded"]}

    lines = list(progress.summarise(0, recording))

    assert lines[0] == (
        "ended: quit, 5 episode(s): kept 3, success 1, failure 1, "
        "discarded 2 (1 to redo)"
    )
    assert "recorded: a.mcap (success)" in lines
    assert "recorded: b.mcap (discarded)" in lines
    assert lines[-1] == "look at it with: paprle evaluate a.mcap"


def test_an_episode_whose_recording_failed_does_not_count_as_kept(lock_step):
    session = lock_step()
    for key in ("success", "next_episode"):
        session.engage().move(5).press(key).until("WAITING").step(5)
    session.press("quit").until("CLOSING")
    lost = "episode 1: the last 0.1 [s] are lost: no space left on the device"
    recording = {"episodes": ["a.mcap"], "marks": ["success"], "failures": [lost, lost]}

    lines = list(make_progress(session).summarise(0, recording))

    assert lines[0] == (
        "ended: quit, 2 episode(s): kept 1, recording failed 1, success 1"
    )
    assert f"RECORDING FAILED: {lost}" in lines
    assert not any("paprle recover" in line for line in lines)


def test_the_command_that_saves_a_recording_has_its_path():
    recording = {"broken": ["/data/my run/episode_000003.mcap", "b.mcap"]}

    first, second = list_remedies(recording)

    assert first.endswith("paprle recover '/data/my run/episode_000003.mcap'")
    assert second.endswith("paprle recover b.mcap")
