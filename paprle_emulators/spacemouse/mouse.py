"""An emulated six-axis mouse for the real hidapi."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
from pathlib import Path

from paprle_emulators.spacemouse.reports import (
    ROTATION,
    TRANSLATION,
    Three,
    pack_buttons,
    pack_motion,
)

_SOURCE = Path(__file__).with_name("hidraw_shim.c")
_REST: Three = (0.0, 0.0, 0.0)


class ShimError(OSError):
    """The library cannot be built."""


def build_shim(folder: Path) -> Path:
    """Return the compiled library for LD_PRELOAD.

    Raises:
        ShimError: If the C compiler is missing or fails.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise ShimError("emulated mouse: expected a C compiler 'cc', got none")
    library = folder / "hidraw_shim.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ShimError(f"emulated mouse: the compiler failed: {done.stderr}")
    return library


class EmulatedMouse:
    """One mouse."""

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
        """Unplug it and close readers."""
        for one in (*self._readers, *filter(None, [self._listener])):
            one.close()
        self._readers, self._listener = [], None
        self._path.unlink(missing_ok=True)

    def replug(self) -> None:
        """Plug it in again."""
        self.unplug()
        self.plug()

    def move(self, translation: Three = _REST, rotation: Three = _REST) -> None:
        """Send a cap deflection, REP-103 axes, full scale 1."""
        if self.is_wireless:
            self.send(pack_motion(TRANSLATION, translation, rotation))
        else:
            self.send(pack_motion(TRANSLATION, translation))
            self.send(pack_motion(ROTATION, rotation))

    def press(self, *buttons: int) -> None:
        """Send the pressed buttons by number."""
        self.send(pack_buttons(sum(1 << button for button in buttons)))

    def send(self, report: bytes) -> None:
        """Send one report to all readers."""
        if self._listener is None:
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                self._readers.append(self._listener.accept()[0])
        for reader in self._readers:
            with contextlib.suppress(OSError):  # it has closed the device
                reader.send(report, socket.MSG_DONTWAIT)
