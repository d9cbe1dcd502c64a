"""Looks at clouds and colour of a robot's host; prints clouds, their points, pictures.

python cloud_eye.py HOST KEY WIDTH HEIGHT SECONDS
"""

import sys
import time
from pathlib import Path

import numpy as np

from paprle.cameras.sight.camera import SightCamera
from paprle.cameras.sight.config import SightCameraConfig
from paprle.hardware.media.colour import ColourReceiver
from paprle.hardware.media.eye import Eye

host, key, width, height, seconds = sys.argv[1:]
config = SightCameraConfig(host=host, key=key, width=int(width), height=int(height))
camera = SightCamera(config, time.monotonic_ns)
camera.open()
colour = ColourReceiver(Path(key).read_bytes().strip(), 0)
eye = Eye(host, config.udp_port, colour, time.monotonic_ns)
end, n, n_points = time.monotonic() + float(seconds), 0, 0
while time.monotonic() < end:
    frame = camera.grab(0.2)
    if frame is not None:
        n += 1
        n_points += int(np.count_nonzero(np.frombuffer(frame.data, "<u2")))
eye.close()
camera.close()
sys.stdout.write(f"{n} {n_points} {colour.counts['pictures']}\n")
sys.stderr.write(f"{camera.closing_notes} {eye.closing_notes}\n")
