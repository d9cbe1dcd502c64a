"""A phone, or a headset, in a headless browser: Meta's WebXR runtime in JavaScript.

It comes from npm by npm's own client, and is used only if it is the very file that the
tests were written with.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from contextlib import contextmanager

import pytest
from browser import find_browser, open_browser

_PACKAGE = "iwer@2.5.0"
_FILE = "package/build/iwer.min.js"
_SHA256 = "23d8640949f19db4b1e70398b30e084e4aa555f3a81e4329da3fac1a70b39542"
_NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH")
_PHONE = """
const device = new IWER.XRDevice({
  name: "phone", controllerConfig: undefined,
  supportedSessionModes: ["inline", "immersive-ar"],
  supportedFeatures: ["viewer", "local", "local-floor", "dom-overlay"],
  supportedFrameRates: [60], isSystemKeyboardSupported: false,
  internalNominalFrameRate: 60,
  environmentBlendModes: {"immersive-ar": "alpha-blend"},
  interactionMode: "screen-space",
  userAgent: navigator.userAgent,
});
"""
_HEADSET = "const device = new IWER.XRDevice(IWER.metaQuest3);"
_SEEN = """
// this runtime says of every controller that its place is a guess
Object.defineProperty(XRPose.prototype, "emulatedPosition", {get: () => false});
"""
_INSTALL = """
device.installRuntime({forceInstall: true});
device.stereoEnabled = false;
device.position.set(0, 1.4, 0);
device.canvasContainer.style.zIndex = -1;  // as an overlay of the page has it
device.canvasContainer.style.pointerEvents = "none";
globalThis.emulated = device;
"""


def load_runtime(folder):
    """Return the runtime's source; skips only where npm or a network is missing."""
    if shutil.which("npm") is None:
        assert not os.environ.get("REQUIRE_NPM"), "npm is missing"
        pytest.skip("no npm: it has the emulated phone")
    done = subprocess.run(
        ["npm", "pack", _PACKAGE, "--prefer-offline", "--pack-destination", folder],
        cwd=folder, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    if done.returncode != 0 and any(word in done.stderr for word in _NO_NETWORK):
        pytest.skip("no network: npm has the emulated phone")
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        source = packed.extractfile(_FILE).read()
    assert hashlib.sha256(source).hexdigest() == _SHA256, "another file than it was"
    return source.decode()


@contextmanager
def open_phone(runtime, address, *, kind="phone", path=None):
    """Yield the browser's page of a phone that has opened an address.

    Args:
        runtime: Source of the runtime.
        address: What the operator is shown.
        kind: ``phone`` or ``headset``.
        path: A picture of the page is written there at the end.
    """
    find_browser()
    device, more = (_PHONE, "") if kind == "phone" else (_HEADSET, _SEEN)
    with open_browser(412, 860, ignore_https_errors=True) as page:
        page.page.add_init_script(f"{runtime}\n(() => {{{device}{_INSTALL}{more}}})();")
        page.open(address)
        yield page
        if path is not None:
            page.shoot(path)


def show_bare_hands(do):
    """Hold both open hands before the headset, in place of its controllers.

    Args:
        do: Evaluates JavaScript in the page.
    """
    do("""() => {
      emulated.primaryInputMode = "hand";
      for (const hand of ["left", "right"]) {
        emulated.hands[hand].position.set(hand === "left" ? -0.2 : 0.2, 1.1, -0.4);
        emulated.hands[hand].poseId = "default";
      }
    }""")
