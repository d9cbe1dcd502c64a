"""A camera's picture of four marks, and where a headset's display shows them.

The display's pixels are compared with the homography K R K⁻¹ of a pure rotation (T15).
"""

from __future__ import annotations

import base64

import numpy as np
import pinocchio as pin
from phones import wait_until

from paprle.contracts.settings.camera import CameraSettings

WIDTH, HEIGHT, FOCAL = 640, 480, (520.0, 500.0)
FRONT = CameraSettings(fps=20.0, focal=FOCAL, centre=(330.0, 235.0)).make_info(
    WIDTH, HEIGHT, "rgb8"
)
MARKS = np.array([(30, 25), (609, 25), (30, 450), (609, 450)])  # centres, [px]
_HALF = 8  # [px] of a mark
_DIM = 60  # of 255: darker than a mark that is dimmed, since it stands
_FIELD = 24  # [px] around where a mark should be: a mark and what it is off by
_TO_IMAGE = np.diag([1.0, -1.0, -1.0])  # from the axes of WebXR, and back
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
_NO_PANEL = "export class Panel { draw() {} }"  # it hides a part of the picture
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


def draw_marks():
    """Return an image with the marks, shape (height, width, 3)."""
    pixels = np.full((HEIGHT, WIDTH, 3), 20, np.uint8)
    for x, y in MARKS:
        pixels[y - _HALF : y + _HALF + 1, x - _HALF : x + _HALF + 1] = 255
    return pixels


def enter(opened):
    """Start the headset's session, without its panel, and wait for the picture."""
    opened.page.route(
        "**/panel.js",
        lambda route: route.fulfill(content_type="text/javascript", body=_NO_PANEL),
    )
    start(opened)
    opened.page.get_by_text("ms late").wait_for()


def start(opened):
    """Start the headset's session."""
    opened.page.add_init_script(_LISTEN)
    opened.page.set_viewport_size({"width": 900, "height": 700})
    opened.page.reload()
    ready = "!document.getElementById('enter').disabled"
    wait_until(lambda: opened.page.evaluate(ready))
    opened.page.get_by_role("button", name="Start").click()


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
        window = image[y - _FIELD : y + _FIELD + 1, x - _FIELD : x + _FIELD + 1]
        most = window.max(initial=0.0)
        assert most > _DIM, "expected a mark, got none"
        light = np.maximum(window - 0.25 * most, 0.0)
        rows, columns = np.indices(light.shape)
        inside = np.array([(columns * light).sum(), (rows * light).sum()])
        found.append((x - _FIELD, y - _FIELD) + inside / light.sum())
    return np.array(found)


def project(K, R_eye_anchor):
    """Return where the marks should be, by K R K⁻¹, shape (4, 2), [px]."""
    R = _TO_IMAGE @ R_eye_anchor @ _TO_IMAGE
    H = K @ R @ np.linalg.inv(FRONT.K)
    seen = H @ np.vstack([MARKS.T, np.ones(len(MARKS))])
    return (seen[:2] / seen[2]).T


def measure(opened, R_eye_anchor):
    """Return how far each mark is from where it should be, [px]."""
    image, K = look(opened)
    expected = project(K, R_eye_anchor)
    return np.linalg.norm(find_marks(image, expected) - expected, axis=1)
