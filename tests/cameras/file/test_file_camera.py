"""Pictures of a recorded episode, played as its camera gave them."""

from pathlib import Path

import numpy as np
import pytest

from paprle.cameras.file.camera import FileCamera
from paprle.cameras.file.config import FileConfig
from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.camera import CameraSettings, PoseSettings
from paprle.contracts.types import LeaderInfo
from paprle.ipc.records import make_layout
from paprle.recording.header import make_recording_header
from paprle.recording.mcap.journal import Journal
from paprle.recording.tracks import camera_to_dict, list_tracks
from paprle.recording.video.codec import make_encoder
from paprle.testing import CameraContract, ManualClock

pytest.importorskip("av")

from lock_step import PIPER

WIDTH, HEIGHT, PERIOD_NS = 64, 48, 100_000_000
BEGIN_NS = 5_000_000_000
LEADER = LeaderInfo(limbs=("hand",))
MOUNT = PoseSettings(xyz=(0.1, 0.0, 0.0))
INFO = CameraSettings(fps=10.0, focal=(50.0, 50.0), T_link_camera=MOUNT).make_info(
    WIDTH, HEIGHT, "rgb8"
)


def draw(k):
    return np.full((HEIGHT, WIDTH, 3), 40 * (k + 1), np.uint8)


@pytest.fixture(scope="module")
def episode(tmp_path_factory):
    """Write an episode of two cameras, three pictures of each."""
    path = tmp_path_factory.mktemp("episode") / "episode_000000.mcap"
    cameras = {n: camera_to_dict(INFO, "toy", "jpeg") for n in ("door", "wrist")}
    header = make_recording_header(
        config={"session": {"rate": 200.0}},
        names={"leader": "toy", "follower": "piper", "env": "kinematic"},
        robot=PIPER.info,
        leader=LEADER,
        gate_period=0.005,
    )
    header |= {"wall_offset_ns": 0, "cameras": cameras}
    journal = Journal(path, make_layout(PIPER.info, LEADER), header)
    encoder = make_encoder(INFO, "jpeg")
    for k in range(3):
        for track in list_tracks(cameras):
            coded = encoder.encode(BEGIN_NS + k * PERIOD_NS, draw(k).tobytes())
            journal.write_picture(track, coded)
    journal.close("end", {})
    return path


def make(path: Path, clock=None, **fields):
    fields = {"camera": "wrist"} | fields
    return FileCamera(FileConfig(path=str(path), **fields), clock or ManualClock())


def play(camera, clock, n, step=0.05):
    frames = []
    camera.open()
    for _ in range(n):
        frames.append(camera.grab(0.0))
        clock.advance(step)
    camera.close()
    return frames


def test_pictures_come_at_the_pace_at_which_they_were_taken(episode):
    clock = ManualClock()
    begin_ns = clock()

    frames = play(make(episode, clock), clock, 9)

    given = [frame for frame in frames if frame]
    greys = [round(np.frombuffer(f.data, np.uint8).mean() / 40) for f in given]
    assert greys == [1, 2, 3, 1, 2], "the first follows the last"
    assert [(f.stamp_ns - begin_ns) // PERIOD_NS for f in given] == [0, 1, 2, 3, 4]


def test_calibration_and_mounting_come_from_the_recording(episode):
    info = make(episode).info

    assert info.K.tolist() == INFO.K.tolist()
    assert info.T_link_cam.isApprox(INFO.T_link_cam)
    assert (info.width, info.height, info.encoding) == (WIDTH, HEIGHT, "rgb8")


def test_an_episode_that_is_over_ends_the_images(episode):
    clock = ManualClock()
    camera = make(episode, clock, loop=False)

    with pytest.raises(DeviceError, match="is over"):
        play(camera, clock, 12)


def test_a_late_reader_continues_from_the_present(episode):
    clock = ManualClock()
    camera = make(episode, clock)
    camera.open()
    camera.grab(0.0)
    clock.advance(60.0)

    late, soon = camera.grab(0.0), camera.grab(0.0)
    camera.close()

    assert late.stamp_ns == clock()
    assert soon is None


@pytest.mark.parametrize("camera", ["", "desk"], ids=["which?", "unknown"])
def test_the_camera_has_to_be_named(episode, camera):
    with pytest.raises(DeviceError, match=r"\(door, wrist\), got '.*'; set camera"):
        _ = make(episode, camera=camera).info


def test_a_file_that_is_no_episode_is_refused(tmp_path):
    (tmp_path / "a.mcap").write_bytes(b"text")

    with pytest.raises(DeviceError, match="camera 'file': .* no MCAP file"):
        _ = make(tmp_path / "a.mcap").info


class TestFileCamera(CameraContract):
    @pytest.fixture(autouse=True)
    def take_episode(self, episode):
        self.episode = episode

    def make_camera(self, clock):
        return make(self.episode, clock)

    def unplug(self, camera):
        camera.config = FileConfig(path=str(self.episode), camera="wrist", loop=False)
        camera._next = None
