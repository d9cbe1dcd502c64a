"""The judge of late commands finds each kind of lateness in a journal."""

import numpy as np
from franka_rig import find_late, find_punctuality

from paprle_emulators.franka.journal import Record
from paprle_emulators.franka.protocol import Mode

MS = 1_000_000  # [ns]


def make_record(lost=(), stamps=None, mode=Mode.MOVE, n=2000):
    cycles = np.arange(n) * MS
    flags = np.zeros((n, 4), dtype=np.int64)
    flags[:, 1], flags[10:, 1], flags[list(lost), 2] = Mode.IDLE, mode, 1
    came = np.delete(cycles[10:], [k - 10 for k in lost]) if stamps is None else stamps
    zeros = np.zeros((n, 7))
    return Record(
        requests=np.zeros(0, dtype=np.int64),
        request_stamps=np.zeros(0, dtype=np.int64),
        stamps=came,
        answered=np.zeros((len(came), 2), dtype=np.int64),
        commands=np.zeros((len(came), 7)),
        state_stamps=cycles,
        flags=flags,
        width=np.zeros(n),
        q_d=zeros,
        q=zeros,
        dq=zeros,
    )


def test_a_command_in_each_cycle_is_on_time():
    record = make_record()

    assert find_late(record) == ""
    assert find_punctuality(record).worst == 1.0


def test_missing_commands_are_late_beyond_two_of_a_hundred():
    assert find_late(make_record(lost=range(100, 2000, 100))) == ""
    assert "got 9" in find_late(make_record(lost=range(100, 2000, 40)))


def test_a_packet_that_is_late_shows_though_the_unit_waited_for_it():
    stamps = np.arange(10, 2000) * MS
    stamps[1000:] += 25 * MS

    assert "26.0 ms" in find_late(make_record(stamps=stamps))


def test_a_cluster_of_missing_commands_lowers_the_worst_hundred_cycles():
    found = find_punctuality(make_record(lost=range(500, 515)))

    assert found.share > 0.98
    assert found.worst == np.float64(0.85)


def test_time_between_two_motions_is_no_gap():
    record = make_record(lost=range(600, 900))
    record.flags[600:900, 1] = Mode.IDLE

    assert find_late(record) == ""


def test_a_unit_that_was_not_commanded_is_no_punctual_one():
    assert find_late(make_record(mode=Mode.IDLE)) != ""
