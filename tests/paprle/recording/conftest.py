"""A robot, a leader and random records: no device, no URDF file of the project."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.settings.core import RecordSettings
from paprle.contracts.types import (
    GripperInfo,
    LeaderArm,
    LeaderInfo,
    LimbInfo,
    RobotInfo,
    readonly,
)
from paprle.contracts.urdf.mimic import Mimic
from paprle.ipc.records import Layout, Stream, make_layout
from paprle.recording.header import make_recording_header
from paprle.recording.mcap.journal import Journal
from paprle.recording.recorder import Recorder

URDF = "<robot name='toy'><link name='base'/></robot>\n"
START_NS = 5_000_000_000
WALL_NS = 1_700_000_000_000_000_000
PERIOD_NS = 5_000_000


def make_robot(folder: Path, n_joints: int = 7, n_limbs: int = 2) -> RobotInfo:
    urdf = folder / "toy.urdf"
    urdf.write_text(URDF)
    joints = tuple(f"joint_{i}" for i in range(n_joints))
    limits = np.full(n_joints, 2.0)
    limits[0] = np.inf
    return RobotInfo(
        name="toy",
        urdf_path=urdf,
        joint_names=joints,
        q_min=readonly(-limits),
        q_max=readonly(limits),
        dq_max=readonly(np.full(n_joints, 3.0)),
        ddq_max=readonly(np.full(n_joints, 10.0)),
        home=readonly(np.linspace(-1, 1, n_joints)),
        limbs=tuple(
            LimbInfo(
                name=f"limb_{i}",
                base_link="base",
                eef_link=f"eef_{i}",
                joint_names=joints[:-1],
                gripper=GripperInfo(joint=joints[-1], closed=0.0, open=0.035),
            )
            for i in range(n_limbs)
        ),
        mimics=(Mimic(joint="finger", source="joint_6", multiplier=-1.0, offset=0.0),),
    )


POSE_LEADER = LeaderInfo(limbs=("right", "left"), has_gripper=True, is_human=False)
JOINT_LEADER = LeaderInfo(
    limbs=("right", "left"),
    emits="joints",
    joint_names={"right": ("a", "b", "c"), "left": ("d", "e")},
)


ARM_LEADER = replace(
    JOINT_LEADER,
    arms={
        "right": LeaderArm(
            urdf_path=Path("leader.urdf"),
            base_link="base",
            eef_link="eef",
            joint_names=("a", "b", "c"),
            gripper=GripperInfo(joint="trigger", closed=0.0, open=0.8),
            R_base=readonly(np.eye(3)),
        )
    },
)
OBJECTS = ("block", "cup")
AXES_LEADER = LeaderInfo(
    limbs=("right", "left"),
    emits="axes",
    axes=dict.fromkeys(("right", "left"), ("x", "y", "z")),
    rate=60.0,
)
LEADERS = {
    "pose": POSE_LEADER,
    "joints": JOINT_LEADER,
    "arms": ARM_LEADER,
    "axes": AXES_LEADER,
}


@pytest.fixture(params=LEADERS)
def leader(request):
    return LEADERS[request.param]


@pytest.fixture
def robot(tmp_path):
    return make_robot(tmp_path)


def make_header(robot: RobotInfo, leader: LeaderInfo) -> dict:
    header = make_recording_header(
        config={"session": {"rate": 200.0}, "gate": {"stale_after": 0.1}},
        names={"leader": "autopilot", "follower": "toy", "env": "kinematic"},
        robot=robot,
        leader=leader,
        gate_period=0.005,
    )
    return header | {"wall_offset_ns": 1_700_000_000_123_456_789}


def fill_random(records: np.ndarray, rng: np.random.Generator) -> None:
    """Fill every leaf of the records with random bits that are legal there."""
    for name in records.dtype.names:
        view = records[name]
        if view.dtype.names:
            fill_random(view, rng)
        elif view.dtype.kind == "f":
            view[...] = rng.normal(size=view.shape)
            view[rng.random(view.shape) < 0.1] = np.nan
            view[rng.random(view.shape) < 0.02] = -0.0
        elif view.dtype.kind == "b":
            view[...] = rng.random(view.shape) < 0.5
        elif view.dtype.kind == "S":
            view[0] = "protective stop: joint 3 · 12 N".encode()
        else:
            view[...] = rng.integers(0, 2**31 - 1, size=view.shape)


REPORTS = {"err_pos": 16, "err_rot": 16, "q_des": 16, "dq_cmd": 12}
"""What a file keeps of the mantissas of reports, [bits]; ``q_des`` is the gate's."""


def cut_reports(records: np.ndarray, names: set[str]) -> None:
    """Leave of the reports in records what a file keeps."""
    for name in names:
        words = np.ascontiguousarray(records[name]).view(np.uint64)
        words &= np.uint64(2**64 - 2 ** (52 - REPORTS[name]))
        records[name] = words.view(np.float64)


def make_ticks(layout: Layout, n: int, seed: int = 0) -> np.ndarray:
    ticks = np.zeros(n, layout.tick)
    fill_random(ticks, np.random.default_rng(seed))
    cut_reports(ticks, {"err_pos", "err_rot"})
    stamps = START_NS + PERIOD_NS * np.arange(n)
    ticks["stamp_ns"] = stamps
    ticks["k"] = np.arange(n)
    sample = ticks["sample"]
    sample["stamp_ns"] = stamps - 1_234_567
    sample["seq"] = np.arange(n) // 2
    sample["limb_ns"] = sample["stamp_ns"][:, None]
    ticks["has_sample"] = True
    if layout.leader.emits == "axes":
        sample["pose"] = np.nan
    if layout.leader.emits == "joints":
        for row, limb in enumerate(layout.leader.limbs):
            if limb not in layout.leader.arms:
                sample["pose"][:, row] = np.nan
        for row, limb in enumerate(layout.leader.limbs):
            sample["q"][:, row, len(layout.leader.joint_names[limb]) :] = np.nan
    return ticks


def make_gates(layout: Layout, n: int, seed: int = 1) -> np.ndarray:
    gates = np.zeros(n, layout.status)
    fill_random(gates, np.random.default_rng(seed))
    cut_reports(gates, {"q_des", "dq_cmd"})
    gates["stamp_ns"] = START_NS + PERIOD_NS * np.arange(n) + 1_000_000
    gates["meas_ns"] = gates["stamp_ns"] - 321_000
    gates["k"] = np.arange(n)
    gates["state"] = 2
    return gates


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Compare leaf by leaf, so that padding bytes do not matter but NaNs do."""
    if a.dtype.names:
        return all(same_bits(a[name], b[name]) for name in a.dtype.names)
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@pytest.fixture
def layout(robot, leader):
    return make_layout(robot, leader, OBJECTS)


@pytest.fixture
def header(robot, leader):
    return make_header(robot, leader) | {"objects": list(OBJECTS)}


def write_episode(path: Path, layout: Layout, header: dict, n: int, flush_every=4):
    """Write n ticks and n gate records; return (ticks, gates, manifest)."""
    ticks, gates, journal = write_journal(path, layout, header, n, flush_every)
    return ticks, gates, journal.close("leader_end", {})


def write_journal(path: Path, layout: Layout, header: dict, n: int, flush_every: int):
    """Write them to a recording that is under way; return (ticks, gates, journal)."""
    journal = Journal(path, layout, header)
    ticks, gates = make_ticks(layout, n), make_gates(layout, n)
    journal.write(Stream.EVENT, b'{"event": "hello", "t_ns": 5000000000}')
    for i in range(n):
        journal.write(Stream.TICK, ticks[i].tobytes())
        journal.write(Stream.GATE, gates[i].tobytes())
        if i % flush_every == flush_every - 1:
            journal.flush()
    return ticks, gates, journal


@pytest.fixture(scope="session")
def tools():
    """Return this module: with importlib mode tests cannot import it by name."""
    return sys.modules[__name__]


class FakeRing:
    """A ring without its bound; the real one is tested by its own tests."""

    def __init__(self):
        self.records = []
        self.dropped = {}

    def push(self, kind, payload):
        self.records.append((int(kind), payload))

    def push_event(self, **event):
        self.push(Stream.EVENT, json.dumps(event).encode())

    def drain(self):
        records, self.records = self.records, []
        return records


@pytest.fixture
def rings():
    return FakeRing(), FakeRing()


@pytest.fixture
def make(tmp_path, layout, header, rings):
    def make_recorder(folder=tmp_path):
        record = RecordSettings(dir=str(folder), task="pick")
        return Recorder(record, layout, header, rings, wall=lambda: WALL_NS)

    return make_recorder


@pytest.fixture
def run(tools, layout, rings):
    """Drive one episode of n ticks through a recorder, in steps of one period."""
    session, gate = rings

    def run_episode(recorder, n, begin=True, end="leader_end", n_around=3):
        ticks = tools.make_ticks(layout, n + 2 * n_around)
        gates = tools.make_gates(layout, n + 2 * n_around)
        now = tools.START_NS
        for i in range(n + 2 * n_around):
            now = int(ticks["stamp_ns"][i])
            if begin and i == n_around:
                session.push_event(event="episode_begin", episode=4, t_ns=now)
            session.push(Stream.TICK, ticks[i].tobytes())
            gate.push(Stream.GATE, gates[i].tobytes())
            if end and i == n_around + n - 1:
                t_ns = int(gates["stamp_ns"][i])
                session.push_event(event="episode_end", end_reason=end, t_ns=t_ns)
            recorder.step(now)
        recorder.step(now + 50_000_000)
        inside = slice(n_around, n_around + n)
        return ticks[inside], gates[inside], now

    return run_episode


@pytest.fixture
def succeed(run, rings):
    """Record an episode that ends as a success, and return when it ended."""

    def record_success(recorder):
        _, _, now = run(recorder, 4, end="")
        rings[0].push_event(
            event="episode_end", end_reason="success", kept=True, outcome="success",
            t_ns=now,
        )  # fmt: skip
        recorder.step(now + 100_000_000)
        return now

    return record_success
