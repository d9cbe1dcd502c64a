"""An emulated network camera: motion JPEG over HTTP, with a clock in the picture.

    python -m paprle_emulators.camera [key=value …]

Keys:
    port=N           TCP port on this machine; 0: any  (8090)
    width=PX  height=PX  fps=HZ                        (640, 480, 30)

It prints one JSON line with its address, takes JSON lines on standard input and answers
each with one:
    {"fault": "frozen"}     also stalled, gone, broken; "on": false ends one
    {"fault": "slow", "scale": 2.0}       periods so many times as long
    {"fault": "size", "size": [320, 240]} pictures of another size
It ends on SIGTERM and Ctrl-C. It needs opencv-python.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paprle_emulators.command_line import read_number, say, serve, take_settings

if TYPE_CHECKING:
    from paprle_emulators.camera.http_camera import CameraFaults

KEYS = ("port", "width", "height", "fps")
SWITCHES = ("frozen", "stalled", "gone", "broken")


def main(words: Sequence[str]) -> int:
    """Serve the camera."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        settings = take_settings(words, KEYS)
        port, width, height = (
            round(read_number(settings, key, default))
            for key, default in (("port", 8090), ("width", 640), ("height", 480))
        )
        fps = read_number(settings, "fps", 30.0)
        from paprle_emulators.camera.http_camera import (  # noqa: PLC0415 - needs cv2
            HttpCamera,
        )

        camera = HttpCamera(width, height, fps, port)
    except (ImportError, OSError, ValueError) as err:
        sys.stderr.write(f"camera emulator: {err}\n")
        return 2

    def cause(fault: str, **what: Any) -> None:
        change(camera.faults, fault, **what)

    with camera:
        serve({"ports": {"camera": camera.url}}, {"fault": cause})
    return 0


def change(
    faults: CameraFaults,
    fault: str,
    *,
    on: bool = True,
    scale: float = 1.0,
    size: Sequence[int] | None = None,
) -> None:
    """Begin or end a fault.

    Raises:
        ValueError: If unknown.
    """
    if fault in SWITCHES:
        setattr(faults, f"is_{fault}", bool(on))
    elif fault == "slow":
        faults.period_scale = float(scale) if on else 1.0
    elif fault == "size":
        faults.size = (int(size[0]), int(size[1])) if size and on else None
    else:
        known = ", ".join((*SWITCHES, "slow", "size"))
        raise ValueError(f"fault: expected one of {known}, got '{fault}'")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
