"""AdaptiX on a table of markers: camera, markers, suggestions and tick, live."""

import numpy as np
import pytest
from drawn_markers import CAMERA, FOCAL, PLACED, SIZE, project
from moved_pad import MovedPad
from running import RunningSession, judge

cv2 = pytest.importorskip("cv2")

pytestmark = [pytest.mark.process, pytest.mark.nightly]

WORDS = [
    "leader=gamepad",
    "follower=papras_7dof",
    "env=kinematic",
    "session.episodes=1",
    "session.duration=5",
    "leader.speed=0.05",
    "retarget.modes=helper",
    "advisors.helper={type: admc, forward: x, point: [-0.02, 0, 0], object: tags.3, "
    "target: tags.17}",
    f"advisors.tags={{type: markers, camera: top, size: {SIZE}}}",
]


def test_a_stick_is_given_what_a_camera_saw(tmp_path):
    folder = tmp_path / "taken"
    folder.mkdir()
    cv2.imwrite(str(folder / "1.png"), project(PLACED))
    xyz, rpy = list(CAMERA["xyz"]), list(CAMERA["rpy"])
    camera = (
        f"cameras.top={{type: pictures, folder: {folder}, fps: 10, video: none, "
        f"focal: {list(FOCAL)}, centre: [652.5, 470.0], "
        f"T_link_camera: {{xyz: {xyz}, rpy_xyz_extrinsic: {rpy}}}}}"
    )
    pad = MovedPad(tmp_path)
    device = f"leader.pads.pad.device={pad.device}"
    session = RunningSession([*WORDS, camera, device], tmp_path / "out")
    try:
        session.find_pids(("gate", "recorder", "advisor:helper", "advisor:tags"))
        session.wait_for("WAITING")
        pad.move(1.0, leftshoulder=0)
        pad.move(1.0, leftshoulder=1)
        pad.move(1.5, lefty=-1.0)
        pad.move(4.0, lefty=0.0)
        assert session.wait_gone(60.0) == 0
    finally:
        session.end()
        pad.close()

    episode = session.episode()
    assert not judge(episode).violations
    mappings = [e for e in episode.events if e["event"] == "mapping"]
    assert np.count_nonzero(mappings[-1]["D"]) > 3, "it was not a suggestion"
