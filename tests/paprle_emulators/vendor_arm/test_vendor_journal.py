"""A journal reads back to the last bit, also while it is written."""

import io

import numpy as np

from paprle_emulators.vendor_arm.journal import Journal, read_record


def test_goals_states_and_events_read_back(tmp_path):
    path = tmp_path / "arm.log"
    q, dq = np.array([0.1, -np.pi]), np.array([1e-17, 3.0])
    with path.open("w") as file:
        journal = Journal(file)
        journal.write_state(1, (2, -1), q, dq)
        journal.write_goal(2, q)
        journal.write_state(3, (3, 0), q + dq, -dq)
        journal.write_event(4, "stop, of\nall")
        journal.write_fault(5, '{"fault": "cable", "time": 1}')
        file.write("state,6,1 2,0.1")  # a line that is not whole

    record = read_record(path)

    assert record.stamps.tolist() == [2]
    assert np.array_equal(record.goals, [q])
    assert record.state_stamps.tolist() == [1, 3]
    assert np.array_equal(record.q, [q, q + dq])
    assert np.array_equal(record.dq, [dq, -dq])
    assert record.flags.tolist() == [[2, -1], [3, 0]]
    assert record.events == [(4, "stop, of all")]


def test_an_empty_journal_has_nothing(tmp_path):
    path = tmp_path / "arm.log"
    path.touch()

    record = read_record(path)

    assert len(record.stamps) == len(record.goals) == len(record.q) == 0
    assert record.events == []


def test_without_a_file_nothing_is_written():
    journal = Journal(None)

    journal.write_goal(1, np.zeros(6))
    journal.flush()

    assert not journal.is_open
    assert Journal(io.StringIO()).is_open
