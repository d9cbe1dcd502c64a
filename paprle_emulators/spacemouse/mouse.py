"""An emulated six-axis mouse, whose reports the real hidapi reads.

It is a Unix socket on which one packet is one report, as on ``/dev/hidrawN``. hidapi
asks the kernel whether a path is a hidraw device; a library of 90 lines, compiled here
and preloaded, answers that for sockets (``hidraw_shim.c``). What it cannot show: how
hidapi finds devices (udev), permissions, the radio of a wireless model.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
from pathlib import Path

from paprle.hardware.spacemouse.errors import MouseError
from paprle.hardware.spacemouse.reports import (
    ROTATION,
    TRANSLATION,
    pack_buttons,
    pack_motion,
)

Three = tuple[float, float, float]

_SOURCE = Path(__file__).with_name("hidraw_shim.c")
_REST: Three = (0.0, 0.0, 0.0)


def build_shim(folder: Path) -> Path:
    """Compile what has to be preloaded (LD_PRELOAD) where the mouse is read.

    Args:
        folder: Where it is put.

    Returns:
        The library.

    Raises:
        MouseError: If there is no C compiler, or it fails.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise MouseError("emulated mouse: expected a C compiler 'cc', got none")
    library = folder / "hidraw_shim.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise MouseError(f"emulated mouse: the compiler failed: {done.stderr}")
    return library


class EmulatedMouse:
    """One mouse at a path; it is plugged in once it is made.

    Attributes:
        is_wireless: Translation and rotation come in one report.
    """

    def __init__(self, path: Path, *, is_wireless: bool = False) -> None:
        self._path, self.is_wireless = path, is_wireless
        self._listener: socket.socket | None = None
        self._readers: list[socket.socket] = []
        self.plug()

    def plug(self) -> None:
        """Plug it in."""
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self._listener.setblocking(False)

    def unplug(self) -> None:
        """Pull its plug, and close all readers. May be called twice."""
        for one in (*self._readers, *filter(None, [self._listener])):
            one.close()
        self._readers, self._listener = [], None
        self._path.unlink(missing_ok=True)

    def move(self, translation: Three = _REST, rotation: Three = _REST) -> None:
        """Send a deflection of the cap, in REP-103 axes, full is 1."""
        if self.is_wireless:
            self.send(pack_motion(TRANSLATION, translation, rotation))
        else:
            self.send(pack_motion(TRANSLATION, translation))
            self.send(pack_motion(ROTATION, rotation))

    def press(self, *buttons: int) -> None:
        """Send the buttons that are down, by number."""
        self.send(pack_buttons(sum(1 << button for button in buttons)))

    def send(self, report: bytes) -> None:
        """Send any bytes as one report to everybody who has opened it."""
        if self._listener is None:
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                self._readers.append(self._listener.accept()[0])
        for reader in self._readers:
            with contextlib.suppress(OSError):  # it has closed the device
                reader.send(report, socket.MSG_DONTWAIT)
