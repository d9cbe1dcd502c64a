"""Mouse read through hidapi without waiting."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from paprle.hardware.spacemouse.errors import MouseError
from paprle.hardware.spacemouse.reports import MODELS, Mouse

_LARGEST = 64  # [bytes] spec: a full-speed USB interrupt report
_AT_ONCE = 32  # chosen: a quarter of a second of a mouse at 125 Hz
_SEARCH_NS = 200_000_000  # chosen: a mouse that is plugged in again is there at once
_RULE = (
    'SUBSYSTEM=="hidraw", ATTRS{idVendor}=="256f", MODE="0660", TAG+="uaccess" in '
    "/etc/udev/rules.d/70-spacemouse.rules (046d for Logitech's)"
)


class MouseDevice:
    """Mouse that may be replugged; all calls from one thread.

    Attributes:
        mouse: Newest state; at rest while missing.
        heard_ns: Last motion, monotonic, [ns].
    """

    def __init__(self, path: str = "", serial: str = "") -> None:
        """Choose a device (``/dev/hidraw3``) or serial number; empty: any."""
        self._path, self._serial = path, serial
        self._hid: Any = None
        self._device: Any = None
        self._searched_ns = 0
        self.mouse = Mouse()
        self.heard_ns = 0

    @property
    def is_there(self) -> bool:
        """Whether it is plugged in."""
        return self._device is not None

    def open(self) -> None:
        """Open it.

        Raises:
            MouseError: Missing or forbidden.
            ImportError: Missing hidapi.
        """
        # on Linux the module `hid` would take the mouse from the kernel's driver
        self._hid = importlib.import_module(
            "hidraw" if sys.platform == "linux" else "hid"
        )
        self.mouse, self.heard_ns = Mouse(), 0
        self._connect()

    def read(self, now_ns: int) -> None:
        """Read reports; a missing mouse is sought five times a second."""
        if self._hid is None:
            return
        if self._device is None and now_ns - self._searched_ns >= _SEARCH_NS:
            self._searched_ns = now_ns
            try:
                self._connect()
            except OSError:
                return
        before = self.mouse.n_motions
        for _ in range(_AT_ONCE if self._device is not None else 0):
            try:
                report = self._device.read(_LARGEST)
            except (OSError, ValueError):
                self._let_go()
                return
            if not report:
                break
            self.mouse.update(bytes(report))
        if self.mouse.n_motions != before:
            self.heard_ns = now_ns

    def close(self) -> None:
        """Close it."""
        self._let_go()
        self._hid = None

    def _connect(self) -> None:
        path = self._path or choose(self._hid.enumerate(), self._serial)
        device = self._hid.device()
        try:
            device.open_path(path.encode())
            device.set_nonblocking(True)
        except OSError as err:
            raise MouseError(
                f"'{path}': expected a mouse that this user may open, got {err}; "
                f"plug it in, or allow it: {_RULE}"
            ) from err
        self._device = device

    def _let_go(self) -> None:
        if self._device is not None:
            self._device.close()
        self._device = None
        self.mouse.rest()
        self.mouse.buttons = 0


def choose(found: Iterable[Mapping[str, Any]], serial: str = "") -> str:
    """Return the path of the first matching mouse.

    Raises:
        MouseError: No mouse.
    """
    mice = [one for one in found if (one["vendor_id"], one["product_id"]) in MODELS]
    meant = [one for one in mice if not serial or one["serial_number"] == serial]
    if not meant:
        listed = [
            f"'{one['product_string']}' ({one['serial_number'] or 'no serial number'})"
            for one in mice
        ]
        wanted = f" with serial number '{serial}'" if serial else ""
        raise MouseError(
            f"expected a 3Dconnexion mouse{wanted}, got {', '.join(listed) or 'none'}; "
            "plug it in, or name its device (leader.path=/dev/hidraw3)"
        )
    path = meant[0]["path"]
    return path.decode() if isinstance(path, bytes) else str(path)
