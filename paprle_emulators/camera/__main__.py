"""Serve an emulated network camera until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from paprle_emulators.camera.http_camera import HttpCamera


def main() -> None:
    """Serve the camera and print its address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=480)
    parser.add_argument("--fps", type=float, default=30.0)
    args = parser.parse_args()
    with HttpCamera(args.width, args.height, args.fps, args.port) as camera:
        sys.stdout.write(f"{camera.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
