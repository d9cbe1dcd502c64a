"""What the robot's camera sees, in a headset: from the robot's host to the display.

The display's pixels are compared with the homography K R K⁻¹ of a pure rotation (T15).
"""

from __future__ import annotations

import base64
import threading
import time

import numpy as np
import pinocchio as pin
import pytest
from iwer import load_runtime, open_phone
from phones import TLS_ADDRESS, wait_until
from sights import make_sight, write_key

from leaders.webxr.config import SightSettings, WebxrConfig
from leaders.webxr.leader import Webxr
from paprle.contracts.camera_settings import CameraSettings
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Frame

pytest.importorskip("cv2")

WIDTH, HEIGHT, FOCAL = 640, 480, (520.0, 500.0)
FRONT = CameraSettings(fps=20.0, focal=FOCAL, centre=(330.0, 235.0)).make_info(
    WIDTH, HEIGHT, "rgb8"
)
MARKS = np.array([(30, 25), (609, 25), (30, 450), (609, 450)])  # centres, [px]
HALF = 8  # [px] of a mark
DIM = 60  # of 255: darker than a mark that is dimmed, since it stands
FIELD = 24  # [px] around where a mark should be: a mark and what it is off by
PERIOD = 0.05  # [s]
STRAIGHT = (0.0, 0.0, 0.0)
TO_IMAGE = np.diag([1.0, -1.0, -1.0])  # from the axes of WebXR, and back
_LISTEN = """
const ask = XRSession.prototype.requestAnimationFrame;
XRSession.prototype.requestAnimationFrame = function (step) {
  return ask.call(this, (t, frame) => { step(t, frame); globalThis.look?.(frame); });
};
const find = XRSession.prototype.requestReferenceSpace;
XRSession.prototype.requestReferenceSpace = async function (kind) {
  return globalThis.space = await find.call(this, kind);
};
"""
_LOOK = """() => new Promise((done) => { globalThis.look = (frame) => {
  globalThis.look = null;
  const layer = frame.session.renderState.baseLayer;
  const gl = document.getElementById("canvas").getContext("webgl");
  const viewer = frame.getViewerPose(globalThis.space);
  const { x, y, width, height } = layer.getViewport(viewer.views[0]);
  const pixels = new Uint8Array(4 * width * height);
  gl.readPixels(x, y, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let red = "";
  for (let at = 0; at < pixels.length; at += 4) red += String.fromCharCode(pixels[at]);
  const projection = [...viewer.views[0].projectionMatrix];
  done({ width, height, projection, red: btoa(red) });
}; })"""


class Robot:
    """A robot's host, whose camera gives the same picture again and again."""

    def __init__(self, key):
        self.sight = make_sight(key, time.monotonic_ns, most=20.0)
        self.sight.open()
        pixels = np.full((HEIGHT, WIDTH, 3), 20, np.uint8)
        for x, y in MARKS:
            pixels[y - HALF : y + HALF + 1, x - HALF : x + HALF + 1] = 255
        self.data = pixels.tobytes()
        self.stamp_ns = None  # of what it shows, and a little more; None: now
        self.is_blind = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def is_fine(self):
        """Whether its pictures are sent as fine as they can be."""
        sender = self.sight._senders.get(("front", "colour"))
        return sender is not None and sender._level == 0

    def _run(self):
        n = 0  # of images: one that has the stamp of the last one is no new one
        while not self._stop.wait(PERIOD):
            if not self.is_blind:
                n += 1
                then_ns = None if self.stamp_ns is None else self.stamp_ns + n
                frame = Frame(then_ns or time.monotonic_ns(), self.data)
                self.sight.show({"front": frame}, {"front": FRONT})

    def close(self):
        self._stop.set()
        self._thread.join()
        self.sight.close()


def open_headset(folder, key, robot, **fields):
    sight = SightSettings(
        host="127.0.0.1", key=key, udp_port=robot.sight.config.udp_port, **fields
    )
    config = WebxrConfig(listen=TLS_ADDRESS, certificate=str(folder), sight=sight)
    leader = Webxr(config, time.monotonic_ns)
    leader.open()
    return leader


@pytest.fixture(params=[False, True], ids=["fixed", "turning"])
def headset(request, tmp_path):
    """A robot's host, a leader, and the page in a browser that plays a headset."""
    key = write_key(tmp_path)
    robot = Robot(key)
    leader = open_headset(tmp_path, key, robot, turns_with_head=request.param)
    address = leader.notes[0].removeprefix("open ")
    try:
        with open_phone(load_runtime(tmp_path), address, kind="headset") as opened:
            opened.page.add_init_script(_LISTEN)
            opened.page.set_viewport_size({"width": 900, "height": 700})
            opened.page.reload()
            ready = "!document.getElementById('enter').disabled"
            wait_until(lambda: opened.page.evaluate(ready))
            opened.page.get_by_role("button", name="Start").click()
            opened.page.get_by_text("ms late").wait_for()
            wait_until(lambda: robot.is_fine, 20.0)
            yield robot, opened
            assert opened.errors == []
    finally:
        leader.close()
        robot.close()


def make_rotation(rpy):
    return pin.rpy.rpyToMatrix(*rpy)


def turn_head(opened, rpy):
    """Turn the head, in the axes of WebXR."""
    x, y, z, w = pin.Quaternion(make_rotation(rpy)).coeffs()
    opened.page.evaluate(f"emulated.quaternion.set({x}, {y}, {z}, {w})")


def look(opened):
    """Return what the display shows, shape (height, width), and its K."""
    seen = opened.page.evaluate(_LOOK)
    width, height = seen["width"], seen["height"]
    red = np.frombuffer(base64.b64decode(seen["red"]), np.uint8)
    image = red.astype(float).reshape(height, width)[::-1]
    P = np.array(seen["projection"]).reshape(4, 4).T
    K = np.diag([P[0, 0] * width / 2.0, P[1, 1] * height / 2.0, 1.0])
    K[0, 2] = (1.0 - P[0, 2]) * width / 2.0 - 0.5
    K[1, 2] = (1.0 + P[1, 2]) * height / 2.0 - 0.5
    return image, K


def find_marks(image, expected):
    """Return the centre of what is bright around each place, [px]."""
    found = []
    for x, y in np.rint(expected).astype(int):
        window = image[y - FIELD : y + FIELD + 1, x - FIELD : x + FIELD + 1]
        most = window.max(initial=0.0)
        assert most > DIM, "expected a mark, got none"
        light = np.maximum(window - 0.25 * most, 0.0)
        rows, columns = np.indices(light.shape)
        inside = np.array([(columns * light).sum(), (rows * light).sum()])
        found.append((x - FIELD, y - FIELD) + inside / light.sum())
    return np.array(found)


def project(K, R_eye_anchor):
    """Return where the marks should be, by K R K⁻¹, shape (4, 2), [px]."""
    R = TO_IMAGE @ R_eye_anchor @ TO_IMAGE
    H = K @ R @ np.linalg.inv(FRONT.K)
    seen = H @ np.vstack([MARKS.T, np.ones(len(MARKS))])
    return (seen[:2] / seen[2]).T


def measure(opened, R_eye_anchor):
    """Return how far each mark is from where it should be, [px]."""
    image, K = look(opened)
    expected = project(K, R_eye_anchor)
    return np.linalg.norm(find_marks(image, expected) - expected, axis=1)


POSES = [STRAIGHT, (0.05, -0.1, 0.0), (-0.08, 0.12, 0.2)]


@pytest.mark.timed  # what is late, and what stands still, is by the clock
@pytest.mark.nightly
def test_a_picture_is_where_the_head_sees_it_by_now(headset, request):
    robot, opened = headset
    turns = "turning" in request.node.name
    before = (0.1, -0.15, 0.0) if turns else STRAIGHT
    R_anchor = make_rotation(before)
    for rpy in POSES:
        turn_head(opened, before)
        time.sleep(0.3)
        robot.stamp_ns = time.monotonic_ns()  # all that it shows is of this moment
        time.sleep(0.1)
        turn_head(opened, rpy)
        time.sleep(0.4)
        robot.is_blind = True
        errors = measure(opened, make_rotation(rpy).T @ R_anchor)
        robot.stamp_ns, robot.is_blind = None, False
        assert errors.max() < 1.0, f"{rpy}: {errors}"

    robot.is_blind = True
    opened.page.get_by_text("stands still").wait_for()
    assert look(opened)[0].max() < 0.5 * 255, "what stands is dimmed"


def test_a_camera_that_cannot_be_shown_is_told(tmp_path):
    with pytest.raises(ValueError, match="a headset"):
        WebxrConfig(device="phone", sight=SightSettings(host="127.0.0.1", key="k"))

    missing = SightSettings(host="127.0.0.1", key=str(tmp_path / "none"))
    with pytest.raises(DeviceError, match="leader.sight"):
        Webxr(WebxrConfig(sight=missing), time.monotonic_ns).open()
