"""Our own recordings come back as what the leader did."""

import numpy as np
import pytest

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import LimbInfo, RobotInfo, SessionState, readonly
from paprle.ipc.records import Stream, make_layout, pack_sample
from paprle.leaders.autopilot.config import AutopilotConfig
from paprle.leaders.autopilot.leader import Autopilot
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.recording.header import make_recording_header
from paprle.recording.mcap.journal import Journal
from paprle.testing import ManualClock, make_feedback

PERIOD_NS = 5_000_000


def make_robot(folder):
    urdf = folder / "toy.urdf"
    urdf.write_text("<robot name='toy'><link name='base'/></robot>\n")
    one = readonly([1.0])
    limb = LimbInfo(name="arm", base_link="base", eef_link="eef", joint_names=("j",))
    return RobotInfo(
        name="toy",
        urdf_path=urdf,
        joint_names=("j",),
        q_min=-one,
        q_max=one,
        dq_max=one,
        ddq_max=one,
        home=readonly([0.0]),
        limbs=(limb,),
    )


class Recording:
    """An episode of a leader, tick by tick."""

    def __init__(self, folder, leader_info):
        robot = make_robot(folder)
        self.path = folder / "episode_000000.mcap"
        self._layout = make_layout(robot, leader_info)
        header = make_recording_header(
            config={},
            names={"leader": "x", "follower": "toy", "env": "kinematic"},
            robot=robot,
            leader=leader_info,
            gate_period=0.005,
        )
        header = {**header, "wall_offset_ns": 0}
        self._journal = Journal(self.path, self._layout, header)
        self._n = 0

    def add(self, sample, state=SessionState.ENGAGED):
        tick = np.zeros((), dtype=self._layout.tick)
        tick["k"] = self._n
        tick["stamp_ns"] = sample.stamp_ns
        tick["state"] = state
        tick["has_sample"] = True
        tick["sample"] = pack_sample(self._layout, sample)
        self._journal.write(Stream.TICK, tick.tobytes())
        self._n += 1

    def close(self):
        self._journal.close("end signal", {})
        return str(self.path)


def drive(leader, recording, clock, states):
    """Let a leader run through these states of the session, one a tick."""
    for state in states:
        leader.apply(make_feedback(state))
        recording.add(leader.latest(), state)
        clock.now_ns += PERIOD_NS


def replay(path, **settings):
    clock = ManualClock()
    leader = Offline(OfflineConfig(path=path, **settings), clock)
    leader.open()
    leader.apply(make_feedback(SessionState.ENGAGED))
    samples = [leader.latest()]
    while not samples[-1].end:
        clock.now_ns += PERIOD_NS
        samples.append(leader.latest())
    return leader, samples


def poses(samples):
    return np.array(
        [s.limbs["hand"].T_leader_base_leader_eef.homogeneous for s in samples]
    )


WAITING, ENGAGED, CLUTCHED = (
    SessionState.WAITING,
    SessionState.ENGAGED,
    SessionState.CLUTCHED,
)


def make_autopilot(clock):
    leader = Autopilot(AutopilotConfig(speed=0.1, ramp=0.0, gripper=True), clock)
    leader.open()
    return leader


def test_engaged_motion_comes_back(tmp_path):
    clock = ManualClock()
    leader = make_autopilot(clock)
    recording = Recording(tmp_path, leader.info)
    drive(leader, recording, clock, [WAITING] * 50 + [ENGAGED] * 100)

    again, samples = replay(recording.close())

    assert again.notes == ("episode_000000.mcap: 100 rows",)
    assert again.info.limbs == ("hand",)
    assert not again.info.is_absolute
    t = PERIOD_NS * 1e-9 * np.arange(100)
    chords = np.linalg.norm(np.diff(poses(samples)[:, :3, 3], axis=0), axis=1)
    assert len(samples) == len(t)
    assert chords == pytest.approx(0.1 * 0.005, rel=1e-4)
    assert samples[-1].limbs["hand"].opening > samples[0].limbs["hand"].opening


def test_time_without_engagement_comes_back_as_a_gap(tmp_path):
    clock = ManualClock()
    leader = make_autopilot(clock)
    recording = Recording(tmp_path, leader.info)
    drive(leader, recording, clock, [ENGAGED] * 50 + [CLUTCHED] * 80 + [ENGAGED] * 50)

    again, samples = replay(recording.close())

    assert "1 gaps above 0.25 s" in again.notes[0]
    assert sum(not s.valid for s in samples) == pytest.approx(80, abs=2)


def test_joints_come_back_by_name(tmp_path):
    rows = "".join(f"{t:.2f},{t:.2f}\n" for t in np.arange(0, 1, 0.02))
    csv = tmp_path / "a.csv"
    csv.write_text("t,j\n" + rows)
    clock = ManualClock()
    leader = Offline(OfflineConfig(path=str(csv)), clock)
    leader.open()
    recording = Recording(tmp_path, leader.info)
    drive(leader, recording, clock, [ENGAGED] * 100)

    again, samples = replay(recording.close(), limb="arm")

    assert again.info.joint_names == {"arm": ("j",)}
    q = [s.limbs["arm"].q[0] for s in samples]
    assert q == pytest.approx(0.005 * np.arange(100), abs=1e-9)


def test_unfinished_recording_plays_and_says_so(tmp_path):
    clock = ManualClock()
    leader = make_autopilot(clock)
    recording = Recording(tmp_path, leader.info)
    drive(leader, recording, clock, [ENGAGED] * 100)
    path = recording.close()
    whole = recording.path.read_bytes()
    recording.path.write_bytes(whole[: int(len(whole) * 0.8)])

    again, samples = replay(path)

    assert "damage" in again.notes[0]
    assert 1 < len(samples) <= 100


@pytest.mark.parametrize("content", [b"", b"no recording"])
def test_no_recording_is_a_clear_error(tmp_path, content):
    path = tmp_path / "a.mcap"
    path.write_bytes(content)

    with pytest.raises(DeviceError, match=r"a\.mcap"):
        Offline(OfflineConfig(path=str(path)), ManualClock()).open()
