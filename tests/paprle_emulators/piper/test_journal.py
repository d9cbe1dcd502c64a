import io

import numpy as np
import pytest

from paprle_emulators.piper import protocol as p
from paprle_emulators.piper.arm import EmulatedArm
from paprle_emulators.piper.journal import Journal, read_journal


@pytest.fixture
def arm():
    return EmulatedArm(np.arange(6) * 0.1, "")


def write(path, arm):
    file = io.StringIO()
    journal = Journal(file)
    for stamp, can_id in enumerate(p.JOINTS):
        journal.write_command(stamp, p.Frame(can_id, p.pack_pair(1000, -2000)))
    gripper = (50_000).to_bytes(4, "big") + bytes(4)
    journal.write_command(9, p.Frame(p.GRIPPER, gripper))
    journal.write_command(10, p.Frame(p.JOINTS[2], p.pack_pair(1000, -2000)))
    for stamp, can_id in enumerate(p.JOINTS, start=11):
        journal.write_command(stamp, p.Frame(can_id, p.pack_pair(0, 0)))
    journal.write_fault(14, '{"fault": "none"}')
    journal.write_arm(15, arm)
    path.write_text(file.getvalue() + "rx,16,0x1", encoding="ascii")


def test_three_frames_make_a_command_and_a_torn_line_is_left_out(tmp_path, arm):
    write(tmp_path / "log", arm)

    record = read_journal(tmp_path / "log")

    assert record.stamps.tolist() == [2, 13]  # a lone 0x157 is none
    assert record.commands[0, :2] == pytest.approx(np.radians([1.0, -2.0]))
    assert np.isnan(record.commands[0, 6])
    assert record.commands[1, 6] == pytest.approx(0.05)
    assert len(record.ids) == 8


def test_states_come_back(tmp_path, arm):
    write(tmp_path / "log", arm)

    record = read_journal(tmp_path / "log")

    assert record.q[0, :6] == pytest.approx(arm.q)
    assert record.dq.shape == (1, 6)
    assert record.modes.tolist() == [[0, 0]]
    assert record.is_enabled.tolist() == [False]


def test_no_file_takes_nothing(arm):
    Journal(None).write_arm(0, arm)
