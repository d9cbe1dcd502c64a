"""What an hour of recording takes: on the disk, and in the recorder."""

from __future__ import annotations

import itertools
import resource
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from paprle.contracts.types import LeaderInfo
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import Stream, make_layout
from paprle.recording.journal import Journal
from paprle.recording.reader import Episode

pytestmark = pytest.mark.long
HOUR = 3600
PERIOD_NS = 1_000_000_000 // 200
LEADER = LeaderInfo(limbs=("hand",), is_human=False)


def make_smooth(records, start, joints):
    """Fill records with a motion as an arm makes it, sampled in double precision."""
    t = (start + np.arange(len(records))) * PERIOD_NS * 1e-9
    phase = 2.0 * t[:, None] + np.arange(joints)
    for name in set(records.dtype.names) & {"q_des", "q_cmd", "q_meas"}:
        records[name] = np.sin(phase)
    for name in set(records.dtype.names) & {"dq_des", "dq_cmd", "dq_meas"}:
        records[name] = 2.0 * np.cos(phase)
    records["stamp_ns"] = 10**12 + (t * 1e9).astype(np.int64)
    records["k"] = start + np.arange(len(records))
    if "meas_ns" in records.dtype.names:
        records["meas_ns"] = records["stamp_ns"]


@pytest.fixture
def arm():
    """A journal of a PiPER whose flushes are those of a live session."""
    from paprle.config import resolve  # noqa: PLC0415
    from paprle.hosts.plan import make_robot  # noqa: PLC0415
    from paprle.recording.header import make_recording_header  # noqa: PLC0415

    names = ("leader=autopilot", "follower=piper", "env=kinematic")
    robot = make_robot(resolve(names)).info
    assert robot.urdf_path.is_relative_to(WORKSPACE)
    header = make_recording_header(
        config={},
        names=dict(word.split("=") for word in names),
        robot=robot,
        leader=LEADER,
        gate_period=0.005,
    )
    layout = make_layout(robot, LEADER)
    return layout, header | {"wall_offset_ns": 1_700_000_000 * 10**9}


def record(journal, layout, seconds, start=0):
    n = 4  # of each stream a flush
    ticks, gates = np.zeros(n, layout.tick), np.zeros(n, layout.status)
    joints = len(layout.joint_names)
    for first in range(start, start + seconds * 200, n):
        make_smooth(ticks, first, joints)
        make_smooth(gates, first, joints)
        for i in range(n):
            journal.write(Stream.TICK, ticks[i].tobytes())
            journal.write(Stream.GATE, gates[i].tobytes())
        journal.flush()


def test_an_arm_takes_at_most_half_a_gigabyte_an_hour(tmp_path, arm):
    layout, header = arm
    journal = Journal(tmp_path / "episode_000000.mcap", layout, header)
    record(journal, layout, 30)
    journal.close("end", {})

    n_bytes = (tmp_path / "episode_000000.mcap").stat().st_size

    assert n_bytes * HOUR / 30 < 0.5e9
    assert len(Episode.open(tmp_path).gate) == 30 * 200


def measure_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.nightly
def test_a_recorder_does_not_grow_within_an_episode(tmp_path, arm):
    layout, header = arm
    journal = Journal(tmp_path / "episode_000000.mcap", layout, header)
    record(journal, layout, 60)
    before = measure_memory()

    record(journal, layout, 240, 60 * 200)

    grown = measure_memory() - before
    journal.close("end", {})
    assert grown < 4e6, "in four minutes, [bytes]"


def test_the_file_alone_draws_the_robot(tmp_path, arm):
    layout, header = arm
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)
    record(journal, layout, 2)
    journal.close("end", {})
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        topics = ["/tf", "/robot_description"]
        told = [(c.topic, m) for _, c, _, m in reader.iter_decoded_messages(topics)]

    assert next(m.data for name, m in told if name == topics[1]) == header["urdf"]
    frames = [m.transforms for name, m in told if name == "/tf"]
    assert len(frames) == 20
    names = {frame.child_frame_id for frame in frames[0]}
    assert {"link1", "link6", "link7", "gripper_base"} <= names
    turned = itertools.pairwise(next(f for f in fs if f.child_frame_id == "link1")
                                for fs in frames)  # fmt: skip
    assert all(a.transform.rotation.z != b.transform.rotation.z for a, b in turned)


def test_the_time_line_of_a_file_is_that_of_its_motion(tmp_path, arm):
    layout, header = arm
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)
    record(journal, layout, 2)
    journal.close("end", {})

    with path.open("rb") as file:
        whole = make_reader(file).get_summary().statistics

    assert whole.message_start_time == header["wall_offset_ns"] + 10**12
    assert whole.message_end_time - whole.message_start_time < 2 * 10**9


def test_a_recording_without_a_record_is_whole_and_holds_nothing(tmp_path, arm):
    layout, header = arm
    path = tmp_path / "episode_000000.mcap"

    Journal(path, layout, header).close("end", {})

    episode = Episode.open(path)
    assert episode.is_complete
    assert len(episode.ticks) == len(episode.gate) == 0
