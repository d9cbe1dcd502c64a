from __future__ import annotations

import os
import threading

import pytest

from paprle.contracts.types import Actions
from paprle.hosts.operator.terminal import Operator


@pytest.fixture
def keys():
    read_end, write_end = os.pipe()
    operator = Operator()
    operator.forward_to([write_end])

    def press(data):
        operator.take_keys(data)
        os.set_blocking(read_end, False)
        try:
            forwarded = os.read(read_end, 1000)
        except BlockingIOError:
            forwarded = b""
        return operator.actions, forwarded

    yield press
    os.close(read_end)
    os.close(write_end)


@pytest.mark.parametrize(
    ("data", "actions", "forwarded"),
    [
        (b" ", Actions(stop=1), b""),
        (b"\r", Actions(engage=1), b""),
        (b"\n", Actions(engage=1), b""),
        (b"w", Actions(), b"w"),
        (b"wwn d", Actions(next_episode=1, stop=1), b"wwd"),
        (b"\x1b[A", Actions(), b"\x1b[A"),
        (b"\x1b[A ", Actions(stop=1), b"\x1b[A"),
        (b"\x1b[A\x1bOB q", Actions(stop=1, quit=1), b"\x1b[A\x1bOB"),
        (b"\x1b[1;5C ", Actions(stop=1), b"\x1b[1;5C"),
        (b"\x1b ", Actions(stop=1), b"\x1b"),
        (b"\xc3\xa9 x", Actions(stop=1, discard=1), b"\xc3\xa9"),
        (b"b+-", Actions(redo=1, success=1, failure=1), b""),
    ],
    ids=repr,
)
def test_keys_of_the_session_are_counted_and_the_rest_goes_to_the_leader(
    keys, data, actions, forwarded
):
    assert keys(data) == (actions, forwarded)


def test_no_press_is_lost_between_threads():
    operator = Operator()
    kinds = ["stop", "quit", "stop"]
    threads = [
        threading.Thread(target=lambda k=kind: [operator.add(k) for _ in range(20000)])
        for kind in kinds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert operator.actions == Actions(stop=40000, quit=20000)


def make_typist(*, may_type=True):
    operator, tasks, allowed = Operator(), [], [may_type]
    takers = {"task": tasks.append, "note": lambda note: tasks.append(f"# {note}")}
    operator.let_type(lambda: allowed[0], takers)
    return operator, tasks, allowed


@pytest.mark.parametrize(
    ("typed", "tasks", "draft"),
    [
        (b"tpick the cup\r", ["pick the cup"], None),
        (b"tpick t", [], "pick t"),
        (b"tcup\x7f\x7fan\r", ["can"], None),
        ("tété\r".encode(), ["été"], None),
        ("té\x7fa\r".encode(), ["a"], None),
        (b"tcup\x1b", [], None),
        (b"t\x1b[Aq", [], None),
        (b"#it slipped\r", ["# it slipped"], None),
        (b"tcup #2\r#t\r", ["cup #2", "# t"], None),
    ],
    ids=repr,
)
def test_tasks_and_notes_are_typed_while_nothing_moves(typed, tasks, draft):
    operator, taken, _ = make_typist()

    operator.take_keys(typed)

    assert (taken, operator.draft) == (tasks, draft)
    assert operator.actions.stop == 0


def test_while_anything_moves_space_stops_whatever_was_being_typed():
    operator, taken, allowed = make_typist()
    operator.take_keys(b"tpick the")
    allowed[0] = False

    operator.take_keys(b" ")

    assert operator.actions == Actions(stop=1)
    assert (taken, operator.draft) == ([], None)


def test_the_task_key_is_the_leaders_while_anything_moves():
    operator, _, _ = make_typist(may_type=False)
    read_end, write_end = os.pipe()
    operator.forward_to([write_end])

    operator.take_keys(b"t")

    assert os.read(read_end, 10) == b"t"
    assert operator.draft is None
    os.close(read_end)
    os.close(write_end)


def test_a_switch_is_no_request_and_goes_to_no_leader():
    read_end, write_end = os.pipe()
    operator, pressed = Operator(), []
    operator.forward_to([write_end])
    operator.let_switch({"v": lambda: pressed.append("v")})

    operator.take_keys(b"wvn")

    assert pressed == ["v"]
    assert operator.actions == Actions(next_episode=1)
    assert os.read(read_end, 10) == b"w"
    os.close(read_end)
    os.close(write_end)
