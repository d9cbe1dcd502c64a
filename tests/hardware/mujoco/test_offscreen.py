"""Pictures without a screen: EGL, else OSMesa, else a message that says what to do."""

import os
import subprocess
import sys

import pytest

from paprle.ipc.process import WORKSPACE

pytest.importorskip("mujoco")
pytestmark = pytest.mark.sim

DRAW = """
import sys
import mujoco
from paprle.hardware.mujoco import offscreen

load = offscreen.import_module

def load_but_egl(name):
    module = load(name)
    if name == "mujoco.egl":
        raise ImportError("no EGL here")
    return module

offscreen.import_module = load_but_egl
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 3'/>"
    "<geom type='box' size='.1 .1 .1' rgba='1 0 0 1'/></worldbody></mujoco>"
)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
try:
    screen = offscreen.Offscreen(model, 64, 48)
except offscreen.NoRendererError as err:
    sys.exit(str(err))
camera = mujoco.MjvCamera()
camera.distance = 1.0
print(screen.way, *screen.draw(data, camera)[24, 32])
screen.close()
"""


def test_osmesa_draws_where_egl_does_not_or_both_are_named():
    """EGL fails after it has chosen PyOpenGL's platform, as without a driver."""
    names = {"PYOPENGL_PLATFORM", "MUJOCO_GL"}
    env = {k: v for k, v in os.environ.items() if k not in names}

    run = subprocess.run(
        [sys.executable, "-c", DRAW],
        cwd=WORKSPACE,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    if run.returncode == 0:
        way, red, green, blue = run.stdout.split()
        assert way == "osmesa"
        assert int(red) > 50 > max(int(green), int(blue))
    else:
        assert "expected EGL or OSMesa, got neither (egl: no EGL here" in run.stderr
        assert "apt-get install" in run.stderr
