"""What an hour of recording takes: on the disk, and in the recorder."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from benchmarks.memory import measure_memory
from paprle.contracts.types import LeaderInfo
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import Stream, make_layout
from paprle.recording.mcap.journal import Journal
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


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What ``make demo`` records: a dynamic arm at its own rates, in virtual time."""
    pytest.importorskip("mujoco")
    from paprle.cli.app import main  # noqa: PLC0415 - it compiles

    folder = tmp_path_factory.mktemp("demo")
    words = "leader=autopilot follower=piper env=mujoco session.episodes=1"
    code = main(
        ["run", *words.split(), "session.clock=virtual", f"record.dir={folder}"]
    )
    assert code == 0
    return Episode.open(folder)


def tremble(records, rng, *names):
    """Let stamps be those of a computer, of which no digit repeats."""
    late_ns = rng.integers(20_000, 120_000, len(records))
    for name in names:
        records[name] += late_ns.reshape(-1, *[1] * (records[name].ndim - 1))


def make_live(demo):
    """Return ticks and gate of the demo with times as a live session has them."""
    rng = np.random.default_rng(0)
    ticks, gate = demo.ticks.copy(), demo.gate.copy()
    tremble(ticks, rng, "stamp_ns", "posted_ns")
    tremble(ticks["sample"], rng, "stamp_ns", "limb_ns")
    tremble(gate, rng, "stamp_ns", "setpoint_ns")
    gate["meas_ns"] = gate["stamp_ns"] - rng.integers(50_000, 150_000, len(gate))
    for records in (ticks, gate):
        records["late_ns"] = rng.integers(20_000, 120_000, len(records))
        records["compute_ns"] = rng.normal(3e5, 5e4, len(records))
    return ticks, gate


def test_an_hour_of_the_demo_takes_at_most_half_a_gigabyte(demo, tmp_path):
    ticks, gate = make_live(demo)
    header = dict(demo.header) | {"config": dict(demo.config), "urdf": demo.urdf}
    empty, full = (tmp_path / f"episode_00000{i}.mcap" for i in range(2))
    Journal(empty, demo.layout, header).close("end", {})
    journal = Journal(full, demo.layout, header)
    for i in range(0, len(ticks), 4):
        for record in ticks[i : i + 4]:
            journal.write(Stream.TICK, record.tobytes())
        for record in gate[2 * i : 2 * i + 8]:
            journal.write(Stream.GATE, record.tobytes())
        journal.flush()
    journal.close("end", {})

    n_fixed = empty.stat().st_size
    duration = float(gate["stamp_ns"][-1] - gate["stamp_ns"][0]) * 1e-9
    n_bytes = (full.stat().st_size - n_fixed) * HOUR / duration + n_fixed

    assert n_bytes < 0.49e9, "0.5 GB at most, with some room"
    assert len(gate) / duration == pytest.approx(400.0, rel=1e-2)
    assert len(ticks) / duration == pytest.approx(200.0, rel=1e-2)
    for name in ("dq_meas", "tau_meas", "dq_cmd"):
        assert (gate[name][:, :6] != 0.0).any(axis=0).all(), name
    assert np.isfinite(gate["objects"]).all()


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
