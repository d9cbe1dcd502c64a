"""A person at a terminal reads the state in words, and the most urgent fact alone."""

import io
import sys

import pytest
from lock_step import make_progress

from paprle.contracts.operator.state_words import STATE_WORDS
from paprle.contracts.types import SessionState
from paprle.hosts.operator.short_line import LineFacts, OverrunCounter, describe_line
from paprle.hosts.operator.status import shows_words
from paprle.hosts.operator.terminal import Operator

CALM = LineFacts(
    state=SessionState.ENGAGED,
    is_still=False,
    note="press n to keep it",
    episode="episode 7 of 50",
    time="00:12",
    recording="REC",
    lost=(),
    link="link good (12 ms there and back)",
    held=(),
    short=(),
    overruns="",
    rest=("", "pick the cube"),
)
HEAD = "Driving · episode 7 of 50 · 00:12 · "
TROUBLE = {
    "recording": "NOT RECORDING",
    "lost": ("hand",),
    "held": ("gripper stands: it meets something",),
    "short": ("joint4 at its limit, 42 mm short",),
    "overruns": "3 deadlines missed: the computer is busy",
}
TOLD = (
    "not recording",
    "hand lost",
    "gripper stands: it meets something",
    "joint4 at its limit, 42 mm short",
    "3 deadlines missed: the computer is busy",
)


def describe(width=200, **changes):
    return describe_line(CALM._replace(**changes), width)


def test_every_state_has_a_word_that_is_not_its_name():
    assert STATE_WORDS.keys() == set(SessionState)
    assert not {w.word for w in STATE_WORDS.values()} & set(SessionState.__members__)


def test_a_stop_outranks_all_other_trouble():
    line = describe(
        state=SessionState.STOPPED, note="stopped: by the operator; press c", **TROUBLE
    )

    assert line == "Stopped · episode 7 of 50 · 00:12 · by the operator; press c"


@pytest.mark.parametrize("n_cured", range(5))
def test_the_most_urgent_trouble_is_shown_alone(n_cured):
    left = dict(list(TROUBLE.items())[n_cured:])

    line = describe(**left)

    sign = "" if n_cured == 0 else "REC · "
    assert line == HEAD + sign + TOLD[n_cured]


def test_without_trouble_the_next_step_is_shown_and_then_the_task():
    assert describe() == f"{HEAD}REC · press n to keep it"
    assert describe(note="") == f"{HEAD}REC · pick the cube"


def test_a_lost_link_and_lost_records_are_urgent():
    lost = "link LOST: no state from the robot for 1.0 s"
    assert describe(link=lost).endswith(lost)
    poor = "link weak (80 ms there and back): move slowly"
    assert describe(link=poor).endswith(poor)
    assert describe(recording="REC, 12 records LOST").endswith("REC · 12 records lost")


def test_a_robot_that_stands_although_it_is_asked_to_move_is_held():
    held = ("arm stands: clear of 'wall'",)
    line = describe(is_still=True, held=held)

    assert line.startswith("Held · ")
    assert line.endswith(held[0])
    assert describe(held=held).startswith("Driving · "), "another limb moves"


def test_the_fact_stays_where_a_terminal_is_narrow():
    short = ("joint4 at its limit, 42 mm short",)

    assert describe(60, short=short) == f"Driving · 00:12 · REC · {short[0]}"
    assert describe(20, short=short) == f"Driving · REC · {short[0]}"


def test_missed_deadlines_are_shown_while_they_are_new():
    counter, second = OverrunCounter(), 1_000_000_000

    assert counter.describe(0, 0) == ""
    assert counter.describe(3, second).startswith("3 deadlines missed")
    assert counter.describe(3, 5 * second).startswith("3 deadlines missed")
    assert counter.describe(3, 7 * second) == ""
    assert counter.describe(4, 8 * second).startswith("4 deadlines missed")


def test_a_session_is_described_in_words_from_start_to_stop(lock_step):
    session = lock_step()
    progress = make_progress(session, task="pick the cube", episodes=50)

    def compose():
        return progress.compose_words(0, "", (), 200)

    session.until("WAITING")
    assert compose().startswith("Ready · episode 1 of 50 · ")
    session.engage().step(5)
    assert compose().startswith("Driving · episode 1 of 50 · 00:00")
    session.press("stop").step(2)
    line = compose()

    assert line.startswith("Stopped · ")
    assert "press c to clear" in line
    assert "stopped:" not in line, "the word says so"


def test_a_typed_task_is_seen_in_the_line_of_words(lock_step):
    session, operator = lock_step().until("WAITING"), Operator()
    progress = make_progress(session, operator=operator)

    operator.take_keys(b"tstack")

    line = progress.compose_words(0, "", (), 200)
    assert line == "Ready · task: stack_ (Enter takes it)"


@pytest.mark.parametrize(
    ("is_terminal", "term", "is_in_words"),
    [(True, "xterm", True), (True, "dumb", False), (False, "xterm", False)],
)
def test_a_log_and_a_program_read_names_of_states(
    is_terminal, term, is_in_words, monkeypatch
):
    shown = io.StringIO()
    shown.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("TERM", term)

    assert shows_words() is is_in_words
