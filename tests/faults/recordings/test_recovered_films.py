"""Two cameras in a live session, kill -9 of it all, recovered, and trained from."""

from __future__ import annotations

import json
import signal
import time

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from lerobot_env import ROOT, find_newest_lerobot
from lerobot_env import run as run_lerobot
from product import run_verb

from paprle.contracts.images import RobotPose
from paprle.contracts.settings.camera import PoseSettings
from paprle.recording.reader import Episode
from paprle.recording.video.pictures import Footage
from paprle.testing import ManualClock

pytest.importorskip("cv2")
pytest.importorskip("mujoco")

from paprle.cameras.mujoco.camera import MujocoCamera
from paprle.cameras.mujoco.config import MujocoCameraConfig
from paprle_emulators.camera.clock_picture import read_clock
from paprle_emulators.camera.http_camera import HttpCamera

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.nightly,
    pytest.mark.timeout(600),
]

WIDTH, HEIGHT, FPS = 160, 120, 30.0
PERIOD_NS = round(1e9 / FPS)
ABOVE = PoseSettings(xyz=(0.35, 0.0, 1.0), rpy_xyz_extrinsic=(np.pi, 0.0, -np.pi / 2))
LOST_NS = 1_000_000_000  # spec: of pictures, by kill -9 of anything
FILMED = 5.0  # [s]
CLEAR = 40  # of 255: an edge of the arm, which no codec makes


@pytest.fixture
def saved(start, fast_motion, tmp_path):
    """What ``paprle recover`` makes of a session whose processes are all killed."""
    rpy = list(ABOVE.rpy_xyz_extrinsic)
    place = f"{{xyz: {list(ABOVE.xyz)}, rpy_xyz_extrinsic: {rpy}}}"
    size = (f"width={WIDTH}", f"height={HEIGHT}")
    with HttpCamera(WIDTH, HEIGHT, FPS) as network:
        net = ("type=opencv", f"device={network.url}", *size)
        top = ("type=mujoco", f"T_link_camera={place}", *size)
        words = [f"cameras.net.{word}" for word in net]
        words += [f"cameras.top.{word}" for word in top]
        session = start(
            *fast_motion, "retarget.mode=joints", "record.task=sweep", *words
        )
        session.wait_for("ENGAGED", 90.0)
        session.find_pids(("gate", "leader", "recorder", "camera:net", "camera:top"))
        time.sleep(FILMED)
        at_ns = session.kill_group(signal.SIGKILL)
        session.wait_gone()
    path = tmp_path / "saved" / "episode_000000.mcap"
    path.parent.mkdir()
    run_verb("recover", session.out / "episode_000000.mcap", "--out", path)
    return path, at_ns


def test_two_cameras_are_recovered_made_a_data_set_and_read_back(saved, tmp_path):
    path, at_ns = saved
    stamps = {
        name: [one.stamp_ns for one in Footage(path).read_coded(name)]
        for name in ("net", "top")
    }
    for name, mine in stamps.items():
        assert at_ns - max(mine) <= LOST_NS, name
    run_verb("dataset", "create", path, "--out", tmp_path / "set")

    made = json.loads((tmp_path / "set/meta/info.json").read_text())
    rows = pq.read_table(tmp_path / "set/data").to_pandas()
    assert made["total_episodes"] == 1
    assert {"observation.images.net", "observation.images.top"} <= set(made["features"])
    assert len(rows) == made["total_frames"] > FPS * (FILMED - 2.0)
    for camera in ("net", "top"):
        (video,) = (tmp_path / "set/videos").glob(f"*{camera}/**/*.mp4")
        with av.open(str(video)) as file:
            assert sum(1 for _ in file.decode(video=0)) == made["total_frames"]


@pytest.mark.timeout(3600)
def test_lerobot_itself_reads_what_was_recovered(saved, tmp_path):
    lerobot, out = find_newest_lerobot(), tmp_path / "rows.npz"
    run_verb("dataset", "create", saved[0], "--out", tmp_path / "set")

    judge = ROOT / "tests/support/recordings/lerobot_judge.py"
    done = run_lerobot(lerobot, str(judge), str(tmp_path / "set"), str(out))

    assert done.returncode == 0, done.stderr[-3000:]
    read = dict(np.load(out))
    n = len(read["index"])
    assert read["index"].ravel().tolist() == list(range(n))
    assert set(read["tasks"]) == {"sweep"}
    clocks = [read_clock(one) for one in read["observation.images.net"]]
    shown = np.array([clock for clock in clocks if clock is not None])
    assert len(shown) > 0.9 * n
    assert (np.diff(shown) >= 0).all(), "pictures in order"


class Arm:
    """The arm of a recording, drawn again as it stood at a time."""

    def __init__(self, episode):
        gate, self.clock = episode.gate, ManualClock()
        self._t = gate["meas_ns"].astype(np.int64)
        self._q = gate["q_meas"]
        self._at = 0
        config = MujocoCameraConfig(width=WIDTH, height=HEIGHT, T_link_camera=ABOVE)
        self.camera = MujocoCamera(config, self.clock)
        self.camera.watch(episode.robot_info, {}, self.look)
        self.camera.open()

    def look(self):
        q = [np.interp(self._at, self._t, column) for column in self._q.T]
        return RobotPose(self.clock() - 1_000_000, np.array(q), {})

    def draw(self, at_ns):
        self._at = at_ns
        self.clock.advance(0.1)
        data = self.camera.grab(0.5).data
        return np.frombuffer(data, np.uint8).reshape(HEIGHT, WIDTH, 3).astype(int)

    def find_lag(self, picture):
        """How much later than its stamp what it shows is, [ns]; None: it turns round.

        Only what the arm covers or leaves meanwhile is looked at.
        """
        lags = PERIOD_NS // 4 * np.arange(-8, 9)
        drawn = [self.draw(picture.stamp_ns + lag) for lag in lags]
        moves = np.abs(drawn[-1] - drawn[0]).max(axis=2) > CLEAR
        if moves.sum() < 50:
            return None
        image = picture.image.astype(int)[moves]
        off = [np.abs(one[moves] - image).mean() for one in drawn]
        return int(lags[int(np.argmin(off))])


def test_the_arm_in_mujocos_picture_stands_where_it_was_at_its_stamp(saved):
    """The arm sweeps 75 mrad between two pictures: it is the hand of a clock."""
    path, _ = saved
    arm = Arm(Episode.open(path))
    pictures = list(Footage(path).read("top"))[5::5]
    found = [arm.find_lag(picture) for picture in pictures]
    arm.camera.close()
    lags = [lag for lag in found if lag is not None]

    assert len(lags) > 5
    assert np.abs(lags).max() <= PERIOD_NS, lags
