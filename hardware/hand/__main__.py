"""Tracker: images in, hands out, and recordings.

    python -m paprle.hardware.hand --kind=webcam --device=0 --save=hand.npz

A session starts it with ``--fd`` for frames, and closes its input to end it. ``--save``
writes a recording at the end of input (Ctrl-D), on Ctrl-C, or at a video's end. This
module needs no package of PAPRLE's.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

from paprle.hardware.hand.camera import HandCamera, Realsense, Webcam
from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import HandFrame, pack_frame
from paprle.hardware.hand.recording import write_recording
from paprle.hardware.hand.tracker import make_finder


def main() -> None:
    """Run until the input or the images end."""
    words = _read_words()
    end = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: end.set())
    threading.Thread(target=_wait_for_input, args=(end,), daemon=True).start()
    frames: list[HandFrame] = []
    try:
        _track(words, end, frames)
    except HandError as err:
        why = str(err)
    else:
        why = ""
    if words.save and frames:
        write_recording(Path(words.save), frames)
        sys.stdout.write(f"{words.save}: {len(frames)} images\n")
    sys.stdout.flush()
    if why:
        sys.stderr.write(f"\n{why}\n")
        sys.stderr.flush()
    os._exit(bool(why))  # a camera's driver may have threads that do not end


def _track(
    words: argparse.Namespace, end: threading.Event, frames: list[HandFrame]
) -> None:
    finder = make_finder(words.model)
    camera = _open(words)
    try:
        seq = 0
        while not end.is_set():
            seq += 1
            frame = finder.make_frame(camera.grab(), seq)
            if words.save:
                frames.append(frame)
            if words.fd is not None:
                _write(words.fd, pack_frame(frame))
    except BrokenPipeError:
        return  # nobody listens any more
    finally:
        camera.close()


def _open(words: argparse.Namespace) -> HandCamera:
    size = (words.width, words.height)
    if words.kind == "webcam":
        view, is_live = words.field_of_view, words.fd is not None
        return Webcam(words.device, size, words.rate, view, is_live=is_live)
    return Realsense(words.device, size, words.rate, words.domain)


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _wait_for_input(end: threading.Event) -> None:
    with contextlib.suppress(OSError, ValueError):
        while os.read(0, 4096):
            continue
    end.set()
    # an image that does not come must not hold it up
    threading.Timer(2.0, os._exit, (0,)).start()


def _read_words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m paprle.hardware.hand")
    parser.add_argument("--kind", choices=("realsense", "webcam"), default="realsense")
    parser.add_argument("--device", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=480)
    parser.add_argument("--rate", type=float, default=30.0)
    parser.add_argument("--field-of-view", type=float, default=1.1)
    parser.add_argument("--domain", type=int)
    parser.add_argument("--fd", type=int)
    parser.add_argument("--save", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
