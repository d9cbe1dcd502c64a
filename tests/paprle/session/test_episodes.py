"""What the operator says of episodes: kept, redone, a success, a failure, a task."""

import numpy as np
import pytest
from lock_step import AUTOMATIC


def events(session, name):
    return [event for event in session.events if event["event"] == name]


def test_session_ends_after_so_many_kept_episodes_whatever_was_discarded(lock_step):
    session = lock_step(episodes=2)
    for key in ("discard", "redo", "next_episode"):
        session.engage().move(5).press(key).until("WAITING").step(5)

    assert not session.core.end_reason
    session.engage().move(5).press("next_episode").until("CLOSING")
    assert session.core.end_reason == "done"
    assert session.core.episodes.n_kept == 2
    assert session.core.episodes.fates["discarded"] == 2


def test_a_stopped_episode_is_not_a_kept_one(lock_step):
    session = lock_step(episodes=1).engage().move(5).press("stop", 200)
    session.engaged = False
    session.step(5).press("clear").until("WAITING").step(5)

    assert not session.core.end_reason
    assert session.core.episodes.fates["broken off"] == 1
    assert events(session, "episode_end")[0]["kept"] is False


def test_from_where_a_stop_left_it_the_robot_goes_home_when_it_is_asked_to(lock_step):
    session = lock_step().engage().move(60).press("stop", 200)
    session.engaged = False
    session.step(5).press("clear").until("WAITING").step(5)
    home = session.robot.home
    assert np.abs(session.status["q_cmd"] - home).max() > 0.05

    session.press("next_episode").until("WAITING").step(5)

    assert "RESETTING" in session.states
    np.testing.assert_allclose(session.status["q_cmd"], home, atol=1e-3)
    assert session.core.episodes.number == 1, "that is no episode"


@pytest.mark.parametrize("verdict", ["success", "failure"])
def test_a_verdict_ends_the_episode_and_stands_in_its_end(lock_step, verdict):
    session = lock_step().engage().move(5).press(verdict).until("WAITING")

    end = events(session, "episode_end")[0]
    assert (end["end_reason"], end["outcome"], end["kept"]) == (verdict, verdict, True)


def test_a_verdict_after_the_end_is_told_of_the_last_episode(lock_step):
    session = lock_step().engage().move(5).press("success").until("WAITING")

    session.press("failure")

    told = events(session, "outcome")[0]
    assert (told["episode"], told["outcome"]) == (0, "failure")
    outcomes = session.core.episodes.outcomes
    assert (outcomes["success"], outcomes["failure"]) == (0, 1)


def test_redo_discards_and_waits_for_the_same_number_again(lock_step):
    session = lock_step(episodes=5).engage().move(5).press("redo").until("WAITING")

    assert events(session, "discard")[0]["reason"] == "redo"
    assert events(session, "episode_end")[0]["end_reason"] == "redo"
    assert session.core.episodes.n_kept == 0
    assert session.step(200).state == "WAITING", "a person presses to move again"


def test_a_redo_after_the_end_takes_the_last_episode_back_once(lock_step):
    session = lock_step().engage().move(5).press("next_episode").until("WAITING")

    session.press("redo").press("redo").press("discard")

    assert len(events(session, "discard")) == 1
    fates = session.core.episodes.fates
    assert (fates["kept"], fates["discarded"], fates["redone"]) == (0, 1, 1)


def test_a_task_of_its_own_stays_until_an_episode_is_kept(lock_step):
    session = lock_step()
    session.core.episodes.task = "stack the cups"
    for key in ("redo", "next_episode", "next_episode"):
        session.engage().move(5).press(key).until("WAITING").step(5)

    tasks = [event.get("task") for event in events(session, "episode_begin")]
    assert tasks == ["stack the cups", "stack the cups", None]


def test_a_note_is_told_of_the_open_episode_else_of_the_last_one(lock_step):
    session = lock_step().until("WAITING")
    notes = session.core.episodes.notes
    notes.append("before any")
    session.step(20)
    assert not events(session, "note"), "there is no episode yet"
    session.engage().move(5)
    notes.append("during the first")
    session.press("next_episode").until("WAITING").step(5)
    notes.append("after it")
    session.step(5).engage().move(5)
    notes.append("during the second")
    session.step(5)

    told = [(event["episode"], event["text"]) for event in events(session, "note")]
    assert told == [
        (0, "before any"),
        (0, "during the first"),
        (0, "after it"),
        (1, "during the second"),
    ]
    assert session.core.episodes.noted == ["during the second"]


def test_marks_name_the_subtasks_in_order_and_mistakes(lock_step):
    session = lock_step()
    session.core.episodes.subtasks = ("reach", "grasp")
    session.until("WAITING").press("subtask").press("mistake")
    assert not events(session, "note"), "no episode is open"
    session.engage().move(5)
    for key in ("subtask", "mistake", "subtask"):
        session.press(key).step(5)
    session.press("next_episode").until("WAITING").step(5)

    told = [(event["kind"], event["text"]) for event in events(session, "note")]
    assert told == [
        ("subtask", "reach"),
        ("subtask", "grasp"),
        ("mistake", "mistake"),
        ("subtask", "reach"),
    ]
    begin, first = events(session, "episode_begin")[0], events(session, "note")[0]
    assert first["t_ns"] == begin["t_ns"]


def test_subtasks_without_names_are_numbered(lock_step):
    session = lock_step().engage().move(5)
    session.press("subtask").step(5).press("subtask").step(5)
    told = [event["text"] for event in events(session, "note")]
    assert told == ["subtask 2", "subtask 3"]


def test_a_leader_that_starts_by_itself_leaves_time_to_reset_the_scene(lock_step):
    session = lock_step(AUTOMATIC, reset_time=2.0, interactive=False)
    session.start = True
    session.until("ENGAGED").move(5).press("next_episode").until("WAITING")
    closed_ns = session.core.episodes.closed_ns

    session.step(20)
    assert session.state == "WAITING"
    assert session.core.note == "reset the scene"

    session.until("ENGAGED")
    assert (session.clock() - closed_ns) * 1e-9 == pytest.approx(2.0, abs=0.1)


def test_enter_ends_the_time_to_reset_the_scene(lock_step):
    session = lock_step(AUTOMATIC, reset_time=60.0)
    session.start = True
    session.until("ENGAGED").move(5).press("next_episode").until("WAITING").step(20)

    session.press("engage").step(5)

    assert session.state in {"ALIGNING", "ENGAGED"}


def test_no_episode_begins_before_the_last_one_is_closed(lock_step):
    session = lock_step(AUTOMATIC, episodes=3)
    session.start = True
    session.until("ENGAGED").press("next_episode")  # it stands at home: no way to go
    session.until("ENGAGED").press("next_episode").until("ENGAGED")
    session.press("next_episode").until("CLOSING")

    names = [event["event"] for event in session.events]
    steps = [name for name in names if name.startswith("episode_")]
    assert steps == ["episode_begin", "episode_end"] * 3
    assert session.core.episodes.n_kept == 3
