"""The view gets the newest state, ends with the gate, and is never waited for."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from paprle.contracts.errors import DeviceError, MissingDependency  # noqa: E402
from paprle.followers.mujoco import viewer  # noqa: E402
from paprle.followers.mujoco.config import MujocoConfig  # noqa: E402
from paprle.followers.mujoco.follower import MujocoFollower  # noqa: E402
from paprle.followers.mujoco.picture import render_png  # noqa: E402
from paprle.followers.mujoco.view import View  # noqa: E402
from paprle.ipc.mailbox import Mailbox  # noqa: E402
from paprle.testing import ManualClock  # noqa: E402

pytestmark = pytest.mark.sim

MJCF = (
    "<mujoco><worldbody><body><joint type='slide'/>"
    "<geom size='0.1' rgba='1 0 0 1'/></body></worldbody></mujoco>"
)

CONSUMER = """
import sys
from pathlib import Path
import mujoco
from paprle.followers.mujoco.viewer import receive_states
model = mujoco.MjModel.from_xml_string(Path(sys.argv[1]).read_text())
for qpos in receive_states(model.nq, int(sys.argv[3]), sys.stdin.fileno()):
    if qpos is not None:
        print(qpos[0], flush=True)
        Path(OUT).write_text(str(qpos[0]))
"""


def _wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


@pytest.fixture
def view(tmp_path):
    """Return a view without a window, and the file where it writes what it saw."""
    out = tmp_path / "seen"
    code = CONSUMER.replace("OUT", repr(str(out)))
    view = View(MJCF, nq=1, command=(sys.executable, "-c", code))
    yield view, out
    view.close()


def test_the_newest_state_arrives(view):
    view, out = view
    for k in range(100):
        view.show(k * 0.02, np.array([k * 1.0]))

    _wait_for(lambda: out.exists() and out.read_text() == "99.0")


def test_the_view_ends_when_the_gate_lets_go(view):
    view, out = view
    view.show(0.0, np.array([1.0]))
    _wait_for(out.exists)  # it runs

    view.close()
    view.close()

    assert view._process.returncode == 0


def test_a_dead_view_is_not_noticed(view):
    view, _ = view
    view._process.kill()
    view._process.wait()

    begin = time.perf_counter()
    for k in range(1000):
        view.show(k * 0.02, np.array([0.0]))
    assert time.perf_counter() - begin < 0.5


def test_frames_of_a_dead_gate_end_at_once():
    read_end, write_end = os.pipe()
    os.close(write_end)
    mailbox = Mailbox(viewer.make_layout(1))

    assert not list(viewer.receive_states(1, mailbox.fd, read_end))
    os.close(read_end)


def test_no_screen_is_refused_before_anything_opens(load_robot, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    follower = MujocoFollower(
        MujocoConfig(viewer=True), load_robot("ur5e").info, ManualClock()
    )

    with pytest.raises(DeviceError, match=r"env\.viewer: expected a screen"):
        follower.open()
    follower.close("hold")


def test_headless_imports_no_renderer():
    code = (
        "import sys, paprle.followers.mujoco.follower\n"
        "bad = [m for m in sys.modules if m in ('mujoco.viewer', 'OpenGL.EGL',\n"
        "       'paprle.followers.mujoco.viewer', 'paprle.followers.mujoco.picture')]\n"
        "sys.exit(','.join(bad) or 0)"
    )
    root = Path(__file__).resolve().parents[3]

    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=root, capture_output=True
    )

    assert done.returncode == 0, done.stderr


def test_picture_is_a_png_that_shows_the_model(tmp_path):
    (tmp_path / "model.xml").write_text(MJCF)
    out = tmp_path / "out.png"
    try:
        viewer.main([str(tmp_path / "model.xml"), "--png", str(out)])
    except MissingDependency as err:
        pytest.skip(str(err))

    image = pytest.importorskip("matplotlib.image").imread(out)
    assert image.shape[:2] == (720, 960)
    middle = image[300:420, 400:560, :3].mean(axis=(0, 1))
    assert middle[0] > 2 * middle[1]
    assert render_png(MJCF, np.array([5.0])) != out.read_bytes()
