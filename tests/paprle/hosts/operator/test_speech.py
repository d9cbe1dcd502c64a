"""Prompts are spoken in order by espeak-ng, which writes what it is asked here."""

import threading
import time

import pytest

from paprle.hosts.operator.speech import Speech

ENGAGED = ("ENGAGED", "REC", [])


@pytest.fixture
def spoken(tmp_path, monkeypatch):
    """Return a function that waits for a number of spoken prompts."""
    log = tmp_path / "spoken"
    log.touch()
    program = tmp_path / "espeak-ng"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >> {log}\necho >> {log}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def wait(speech, n, situation):
        for _ in range(500):
            lines = log.read_text().splitlines()
            if len(lines) >= n:
                return lines
            speech.look(*situation)
            threading.Event().wait(0.01)
        raise AssertionError(f"expected {n} prompts, got {log.read_text()!r}")

    return wait


def test_the_course_of_an_episode_is_spoken(spoken):
    speech = Speech(is_on=True)
    speech.look("WAITING", "", [])
    speech.look(*ENGAGED)
    assert spoken(speech, 1, ENGAGED) == ["--|recording|"]

    after = ("RESETTING", "", [{"path": "OUT/episode_000007.mcap", "mark": "kept"}])
    speech.look(*after)
    lines = spoken(speech, 3, after)
    assert lines[1:] == ["--|episode 7 kept|", "--|reset the scene|"]

    discarded = (
        "WAITING",
        "",
        [{"path": "OUT/episode_000007.mcap", "mark": "discarded"}],
    )
    speech.look(*discarded)
    assert spoken(speech, 4, discarded)[3] == "--|episode 7 discarded|"
    stopped = ("STOPPED", *discarded[1:])
    speech.look(*stopped)
    assert spoken(speech, 5, stopped)[4] == "--|stopped|"
    speech.close()


def test_nothing_is_spoken_when_it_is_off_and_a_key_changes_that(spoken):
    speech = Speech(is_on=False)
    speech.look("WAITING", "", [])
    speech.look(*ENGAGED)
    assert speech.toggle() == "speech on"
    assert spoken(speech, 1, ENGAGED) == ["--|speech on|"]
    assert speech.toggle() == "speech off"
    speech.look("STOPPED", "", [])
    speech.close()

    assert spoken(speech, 1, ENGAGED) == ["--|speech on|"]


def test_the_terminal_is_silent_only_while_a_page_is_open(spoken):
    speech = Speech(is_on=True)
    speech.look("WAITING", "", [])
    speech.look(*ENGAGED, is_watched=True)
    speech.look("STOPPED", "", [], is_watched=False)

    assert spoken(speech, 1, ("STOPPED", "", [])) == ["--|stopped|"]
    speech.close()


def test_without_the_program_the_key_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    speech = Speech(is_on=True)
    speech.look("WAITING", "", [])
    speech.look(*ENGAGED)

    assert speech.toggle() == "no speech: expected the program espeak-ng, got none"
    speech.close()


def test_a_prompt_that_lasts_ends_with_the_session(tmp_path, monkeypatch):
    program = tmp_path / "espeak-ng"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    speech = Speech(is_on=True)
    speech.look("WAITING", "", [])
    speech.look(*ENGAGED)

    began = time.monotonic()
    speech.close()

    assert time.monotonic() - began < 20.0


def test_a_program_that_cannot_be_started_ends_the_speech_alone(tmp_path, monkeypatch):
    program = tmp_path / "espeak-ng"
    program.write_text("no program")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    speech = Speech(is_on=True)
    program.unlink()

    speech.look("WAITING", "", [])
    speech.look(*ENGAGED)

    assert speech.toggle().startswith("no speech")
